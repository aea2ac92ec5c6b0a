// ingle-update: io.ingle.Update1. Started at boot to see what came of a restart, then activated by D-Bus; gone when idle.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { failuresOf } from '../../firmware/health/last.ts';
import { dataOf, imageVersion, readConfig, version } from '../../firmware/system/config.ts';
import { idleTime, startService } from '../../firmware/system/service.ts';
import { openStore } from '../../firmware/system/store.ts';
import { pickLanguage } from '../../firmware/text/i18n.ts';
import { downloads, fetchIndex } from '../../firmware/update/download.ts';
import { rauc } from '../../firmware/update/rauc.ts';
import { updateSchema } from '../../firmware/update/record.ts';
import { checkDaily, serveUpdate } from '../../firmware/update/serve.ts';
import { askForSticks, findBundles } from '../../firmware/update/sticks.ts';

const env = process.env;
/** The service ends after this time without a call and without work, milliseconds. */
const IDLE_MS = 60_000;
/** A boot that nobody ended for so long stays: an unproved one is ended after seven minutes. */
const PROVED_S = Number(env['INGLE_PROVED_S'] ?? 600);

const life = await startService('update');
const { bus, log } = life;
const config = readConfig();
const data = dataOf(config, 'update');
const runtime = join(config.runtime, 'update');
mkdirSync(runtime, { recursive: true, mode: 0o755 });
const store = await openStore(join(data, 'update.db'), updateSchema);
life.onStop(store.close);
const pollMs = Number(env['INGLE_POLL_MS'] ?? 5000);

const { update, begin } = await serveUpdate(bus, {
  rauc: rauc(bus, env['INGLE_RAUC']),
  store,
  downloads: downloads(join(data, 'bundles'), { log }),
  index: (url) => fetchIndex(url),
  async sticks() {
    await askForSticks(join(runtime, 'stick'), Number(env['INGLE_STICK_MS'] ?? 10_000));
    return findBundles(env['INGLE_STICKS'] ?? '/run/media');
  },
  boot: {
    id: env['INGLE_BOOT_ID'] ?? readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
    version: imageVersion(),
    built: version,
    committed: () => existsSync(join(config.runtime, 'committed')) || uptime() > PROVED_S,
    health: (of) => failuresOf(config.data, of),
  },
  askRestart: () => writeFileSync(join(runtime, 'restart'), '', { flush: true }),
  settings: {
    url: config.update.url,
    channel: config.update.channel,
    min_version: config.update.min_version,
    language: pickLanguage([config.language]),
  },
  log,
  drainMs: Number(env['INGLE_DRAIN_MS'] ?? 5000),
  stuckMs: Number(env['INGLE_STUCK_MS'] ?? 120_000),
  pollMs,
  retryMs: pollMs,
  onCall: life.touch,
});
life.onStop(update.stop);
await begin();
life.ready();
log.info('serving');

// After the network had a minute to come up.
const soon = setTimeout(() => void checkDaily(update, log), Math.min(idleTime(IDLE_MS), 60_000) * 0.9);
life.onStop(() => clearTimeout(soon));
life.leaveWhenIdle(IDLE_MS, () => !update.restful());
