// ingle-wizard: the setup pages and their API on the access point's address.
import { existsSync, readFileSync, watch } from 'node:fs';
import { dirname, join } from 'node:path';
import { encode } from 'uqr';
import { audio1 } from '../../firmware/audio/contract.ts';
import { setup1 } from '../../firmware/setup/contract.ts';
import { progressOf } from '../../firmware/setup/progress.ts';
import { wizardApi } from '../../firmware/setup/wizard-api.ts';
import { readConfig } from '../../firmware/system/config.ts';
import { startService } from '../../firmware/system/service.ts';
import { listen, readPages, wizardListener } from './server.ts';

const life = await startService('wizard');
const { bus, log } = life;
const config = readConfig();
const env = process.env;
// ingle-setup writes where the access point is and takes the file away with it; tests pass an address.
const accessPointFile = join(config.runtime, 'setup', 'access-point.json');
const host = env['INGLE_WIZARD_HOST'] ?? (await accessPoint());

async function accessPoint(): Promise<string> {
  // The access point may have gone while this program was starting.
  if (!existsSync(accessPointFile)) {
    life.stop();
    await new Promise(() => {});
  }
  return (JSON.parse(readFileSync(accessPointFile, 'utf8')) as { address: string }).address;
}
const ports = {
  http: Number(env['INGLE_WIZARD_PORT'] ?? 80),
  https: Number(env['INGLE_WIZARD_TLS_PORT'] ?? 443),
};
const pages = env['INGLE_WIZARD_PAGES'] ?? '/usr/lib/ingle/web-wizard';

const setup = bus.client(setup1);
const progress = new Map<string, Record<string, unknown>>();
progressOf(bus)((step, state, text, detail) => {
  progress.set(step, { step, state, text, detail });
});
let level: { value: number; at: number } | null = null;
await bus.onSignal(audio1, 'Level', ({ rms_db }) => {
  // -60 dB of full scale is a silent room; the meter shows what is above it.
  level = { value: Math.min(1, Math.max(0, (rms_db + 60) / 60)), at: performance.now() };
});

const find = wizardApi({
  setup,
  level: () => (level && performance.now() - level.at < 2000 ? level.value : null),
  progress: () => [...progress.values()],
  qr(text) {
    const { size, data } = encode(text, { border: 2 });
    let path = '';
    for (let y = 0; y < size; y++)
      for (let x = 0; x < size; x++) if (data[y]?.[x]) path += `M${x} ${y}h1v1h-1z`;
    return { size, path };
  },
});

const serve = wizardListener({
  find,
  files: readPages(pages, config.brand),
  own: [host, 'ingle.setup', 'localhost'],
  log,
});
await listen(serve, { host, ports, dir: join(config.runtime, 'wizard'), log });
// Gone with the access point, or begun anew where it has moved to.
if (!env['INGLE_WIZARD_HOST']) {
  const look = () => existsSync(accessPointFile) || life.stop();
  watch(dirname(accessPointFile), look);
  // It may have gone before anybody watched.
  look();
}
life.ready();
log.info('the setup pages are open', { host, port: ports.http });
