// ingle-update: io.ingle.Update1. Started at boot to see what came of a restart, then activated by D-Bus; gone when idle.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import type { Served } from '../../firmware/system/bus.ts';
import { dataOf, imageVersion, readConfig, version } from '../../firmware/system/config.ts';
import { idleTime, startService } from '../../firmware/system/service.ts';
import { openStore } from '../../firmware/system/store.ts';
import { pickLanguage } from '../../firmware/text/i18n.ts';
import { update1 } from '../../firmware/update/contract.ts';
import { downloads, fetchIndex } from '../../firmware/update/download.ts';
import { rauc } from '../../firmware/update/rauc.ts';
import { updateSchema } from '../../firmware/update/record.ts';
import { askForSticks, findBundles } from '../../firmware/update/sticks.ts';
import { createUpdate } from '../../firmware/update/update.ts';

const env = process.env;
/** The service ends after this time without a call and without work, milliseconds. */
const IDLE_MS = 60_000;
/** A boot that nobody ended for so long stays: an unproved one is ended after seven minutes. */
const PROVED_S = Number(env['INGLE_PROVED_S'] ?? 600);
/** Between checks nobody asked for, seconds. */
const CHECK_S = 20 * 3600;

const life = await startService('update');
const { bus, log } = life;
const config = readConfig();
const data = dataOf(config, 'update');
const runtime = join(config.runtime, 'update');
mkdirSync(runtime, { recursive: true, mode: 0o755 });
const store = await openStore(join(data, 'update.db'), updateSchema);
life.onStop(store.close);
const sticks = env['INGLE_STICKS'] ?? '/run/media';
let served: Served<typeof update1> | undefined;

/** What the health check of a version left behind (services/cli/hub/health.ts), for a person. */
function health(of: string): string {
  try {
    const said = JSON.parse(readFileSync(join(config.data, 'health', 'last.json'), 'utf8')) as {
      version?: unknown;
      failures?: unknown;
    };
    // A version that never came so far left nothing; what is there is then about another one.
    if (said.version !== of || !Array.isArray(said.failures)) return '';
    return said.failures.map(String).join('; ').slice(0, 500);
  } catch {
    return '';
  }
}

const update = await createUpdate({
  rauc: rauc(bus, env['INGLE_RAUC']),
  store,
  downloads: downloads(join(data, 'bundles'), { log }),
  index: (url) => fetchIndex(url),
  async sticks() {
    await askForSticks(join(runtime, 'stick'), Number(env['INGLE_STICK_MS'] ?? 10_000));
    return findBundles(sticks);
  },
  boot: {
    id: env['INGLE_BOOT_ID'] ?? readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
    version: imageVersion(),
    built: version,
    committed: () => existsSync(join(config.runtime, 'committed')) || uptime() > PROVED_S,
    health,
  },
  askRestart: () => writeFileSync(join(runtime, 'restart'), '', { flush: true }),
  settings: {
    url: config.update.url,
    channel: config.update.channel,
    min_version: config.update.min_version,
    language: pickLanguage([config.language]),
  },
  events: {
    state(state, old, reason) {
      served?.emit('StateChanged', { state, old, reason });
      bus.publish('update.state', { state, old, reason });
    },
    progress(step, percent, bytes, total) {
      served?.emit('Progress', { step, percent, bytes: BigInt(bytes), total: BigInt(total) });
      bus.publish('update.progress', { step, percent, bytes, total });
    },
    result(r) {
      served?.emit('Result', { ok: r.ok, kind: r.kind, from: r.from, to: r.to, reason: r.reason });
      bus.publish('update.result', { ...r });
    },
  },
  log,
  drainMs: Number(env['INGLE_DRAIN_MS'] ?? 5000),
  stuckMs: Number(env['INGLE_STUCK_MS'] ?? 120_000),
  pollMs: Number(env['INGLE_POLL_MS'] ?? 5000),
});

/** Calls wait until the first look at RAUC is over. */
let looked: () => void = () => {};
const first = new Promise<void>((resolve) => (looked = resolve));
const done = async (work: () => Promise<unknown>): Promise<Record<string, never>> => {
  await first;
  await work();
  return {};
};
served = await bus.serve(
  update1,
  {
    async Status() {
      await first;
      return update.status();
    },
    Check: ({ channel }) => first.then(() => update.check(channel)),
    Download: () => done(() => update.download()),
    Verify: ({ source }) => first.then(() => update.verify(source)),
    Install: ({ source, restart }) => done(() => update.install(source, restart)),
    Restart: ({ when }) => done(() => update.restart(when)),
    Cancel: () => done(() => update.cancel()),
    Rollback: () => first.then(() => update.rollback()),
    Sticks: async () => ({
      bundles: (await update.sticks()).map((s) => ({ path: s.path, size: BigInt(s.size) })),
    }),
  },
  { onCall: life.touch },
);

/** RAUC may still be on its way at boot. */
async function begin(): Promise<void> {
  try {
    await update.begin();
    life.touch();
  } catch (cause) {
    log.warn('RAUC does not answer yet', { cause: cause as Error });
    setTimeout(begin, Number(env['INGLE_POLL_MS'] ?? 5000));
  }
}
life.onStop(update.stop);
await begin();
looked();
life.ready();
log.info('serving');

/** Once a day, and after the network had a minute to come up. */
async function checkByItself(): Promise<void> {
  const { detail } = await update.status();
  const due = Date.now() / 1000 - detail.checked_at > CHECK_S;
  if (!due || !detail.can.includes('check')) return;
  const found = await update.check('', false).catch((cause: Error) => {
    log.info('no check today', { cause });
  });
  if (found) log.info('checked for updates', { available: found.available, version: found.version });
}
const soon = setTimeout(() => void checkByItself(), Math.min(idleTime(IDLE_MS), 60_000) * 0.9);
life.onStop(() => clearTimeout(soon));
life.leaveWhenIdle(IDLE_MS, () => !update.restful());
