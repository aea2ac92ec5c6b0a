// ingle-setup: the ladder, over the hub's real audio, radios and link. Stays until READY, then goes when idle.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { audio1 } from '../../firmware/audio/contract.ts';
import { ble1 } from '../../firmware/ble/contract.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { pickLanguage } from '../../firmware/protocol/text/i18n.ts';
import { bot1 } from '../../firmware/setup/bot-contract.ts';
import { enabled } from '../../firmware/setup/enabled.ts';
import { times } from '../../firmware/setup/ladder.ts';
import type { AudioOutcome, ChannelPort, Ports } from '../../firmware/setup/ports.ts';
import { serveSetup } from '../../firmware/setup/serve.ts';
import { openState } from '../../firmware/setup/state.ts';
import { connect } from '../../firmware/system/bus.ts';
import { dataOf, imageVersion, readConfig, version } from '../../firmware/system/config.ts';
import { fromVariant } from '../../firmware/system/contract.ts';
import { logger } from '../../firmware/system/log.ts';
import { ready, status, stopping } from '../../firmware/system/notify.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import { wifi1 } from '../../firmware/wifi/contract.ts';
import { watchButton } from './button.ts';

const log = logger('setup');
const config = readConfig();
const data = dataOf(config, 'setup');
mkdirSync(data, { recursive: true, mode: 0o700 });
const bus = await connect();
const audio = bus.client(audio1);
const wifi = bus.client(wifi1);
const uplink = bus.client(uplink1);
const language = pickLanguage([config.language]);

/** ingle-wizard runs while this file is there, and reads from it where to listen. */
const accessPointFile = join(config.runtime, 'setup', 'access-point.json');
/** Consoles sleep while this file is not there (image/overlay/usr/lib/ingle/console). */
const openFile = join(config.runtime, 'setup', 'open');
/** A factory reset is done by root at the sight of this file, also after a power cut. */
const resetFile = join(data, 'factory-reset');

/** Whether a hub has a sound card; a house of `npm start` hears through its computer's sound server. */
function hasSound(): boolean {
  if (imageVersion() === '') return true;
  try {
    return readdirSync('/sys/class/sound').some((name) => /^card\d+$/.test(name));
  } catch {
    return false;
  }
}

let probed = false;

async function probe(quick: boolean, signal: AbortSignal): Promise<AudioOutcome> {
  // At boot, a hub without a card has its access point the sooner; the sound server says the same half a minute later.
  const first = !probed && !quick;
  probed = true;
  if (first && !hasSound()) return { ok: false, reason: 'no_devices' };
  const cancel = () => void audio.Cancel({}).catch(() => {});
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const r = await audio.Probe({ lang: language, quick }, 130_000);
    return { ok: r.state === 'READY', reason: r.reason, sink_id: r.sink_id, source_id: r.source_id };
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

const short = (d: [string, string, string, boolean, number, boolean, number, boolean][]) =>
  d.map(([id, name, type, , , , score, usable]): [string, string, string, number, boolean] => [
    id,
    name,
    type,
    score,
    usable,
  ]);

/** Bluetooth adapters, as the kernel lists them; the folder is there once one was. */
const adapters = '/sys/class/bluetooth';

const channels: ChannelPort[] = [
  {
    name: 'ble',
    present: async () => readdirSync(adapters).some((name) => /^hci\d+$/.test(name)),
    async start() {
      await bus.client(ble1).Start({ idle_timeout: 600, unlabelled: !config.label }, 30_000);
    },
    approve: async () => void (await bus.client(ble1).Approve({})),
    stop: async () => void (await bus.client(ble1).Stop({})),
  },
];
if (config.bot.token)
  channels.push({
    name: 'bot',
    start: async () => void (await bus.client(bot1).Start({}, 30_000)),
    stop: async () => void (await bus.client(bot1).Stop({})),
  });

const ports: Ports = {
  audio: {
    probe: (signal) => probe(false, signal),
    retest: (signal) => probe(true, signal),
    async devices() {
      const { sinks, sources } = await audio.Enumerate({});
      return { sinks: short(sinks as never), sources: short(sources as never) };
    },
    test: (sink_id, source_id) => audio.Test({ sink_id, source_id }, 40_000),
    select: async (sink_id, source_id) => void (await audio.SaveProfile({ sink_id, source_id })),
    async say(texts) {
      for (const { text, language } of texts)
        await audio.Say({ text, lang: language, slow: true, sink_id: '*' }, 180_000);
    },
  },
  wifi: {
    radios: async () => (await wifi.Status({})).radios,
    scan: (fresh) => wifi.Scan({ fresh }, 40_000),
    connect: (n) => wifi.Connect({ ...n, security: '' }, 130_000),
    async holds() {
      const { radios, softap, station, detail } = await wifi.Status({});
      const { known } = fromVariant(detail) as { known: number };
      const joining = known > 0 && performance.now() < times.settle;
      return radios === 1 && softap === 'off' && (joining || !['off', 'lost'].includes(station));
    },
    serving: async () => (await wifi.Status({})).softap !== 'off',
    async startAccessPoint(ssid, psk, idleSeconds) {
      const ap = await wifi.SoftapStart({ ssid, psk, cidr: '', idle_timeout: idleSeconds }, 60_000);
      // Another user reads it, at its sight: never half of it, and readable whatever the umask.
      writeFileSync(`${accessPointFile}.new`, JSON.stringify({ address: ap.address.replace(/\/\d+$/, '') }));
      chmodSync(`${accessPointFile}.new`, 0o644);
      renameSync(`${accessPointFile}.new`, accessPointFile);
    },
    async stopAccessPoint() {
      rmSync(accessPointFile, { force: true });
      await wifi.SoftapStop({});
    },
  },
  channels,
  async hasNetwork() {
    if (hasCable()) return true;
    const { known } = fromVariant((await wifi.Status({})).detail) as { known: number };
    return known > 0;
  },
  online: () =>
    fetch(`${config.root_url}/health/live`, { signal: AbortSignal.timeout(4000), redirect: 'error' }).then(
      (r) => r.ok,
      () => false,
    ),
  owned: async () => (await uplink.Status({}, 5000)).browsers > 0,
  async pairing() {
    // Just after joining, the link to root is still coming up; who asks for the code waits those seconds.
    for (const end = Date.now() + 20_000; ; ) {
      try {
        return await uplink.IssueCode({ new_passkey: false }, 30_000);
      } catch (e) {
        if (Date.now() > end || !(await ports.online())) throw e;
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
    }
  },
  async erase() {
    await wifi
      .Forget({ ssid: '' })
      .catch((e) => log.warn('networks are not forgotten yet', { error: e as Error }));
    writeFileSync(resetFile, '');
    log.notice('factory reset: everything kept is being erased');
  },
};

/** Whether a wired network is plugged in, as the kernel lists it: a real device, with a carrier, that is no radio. */
function hasCable(): boolean {
  const net = '/sys/class/net';
  return readdirSync(net).some((name) => {
    if (!existsSync(join(net, name, 'device')) || existsSync(join(net, name, 'phy80211'))) return false;
    try {
      return readFileSync(join(net, name, 'carrier'), 'utf8').trim() === '1';
    } catch {
      // An interface that is down does not tell.
      return false;
    }
  });
}

/** Serial number of the device: what the maker wrote, else the machine's own id. */
function serial(): string {
  if (config.serial) return config.serial;
  try {
    return readFileSync('/etc/machine-id', 'utf8').trim();
  } catch {
    return '0000';
  }
}

rmSync(accessPointFile, { force: true });
mkdirSync(join(config.runtime, 'setup'), { recursive: true, mode: 0o755 });
const isDone = (state: string) => state === 'READY' || state === 'READY_WITH_LIMITS';
let lastCall = Date.now();
const setup = await serveSetup(bus, {
  ports: enabled(ports, config.channels),
  version,
  model: config.model,
  file: await openState(join(data, 'setup.db')),
  log,
  device: {
    name: config.name,
    serial: serial(),
    language,
    ...(config.label ? { label: config.label } : {}),
  },
  onState(state) {
    if (!isDone(state)) writeFileSync(openFile, '');
    else rmSync(openFile, { force: true });
  },
  onCall: () => {
    lastCall = Date.now();
  },
});
await bus.onSignal(uplink1, 'Paired', () => setup.paired());
await bus.onSignal(uplink1, 'PairingFailed', ({ left }) => left === 0 && setup.codeSpent());
await bus.onSignal(ble1, 'Ended', ({ reason }) => {
  if (reason === 'idle') setup.ended('ble', false);
});
// Ended for any other cause: its adapter went, it died, or another service took its place.
await bus.watchName(ble1.bus, (owner) => owner === '' && setup.ended('ble', true));
const hasButton = watchButton(log, (press) => {
  lastCall = Date.now();
  if (press === 'none') return;
  log.notice('the button was pressed', { press });
  if (press === 'reset')
    void setup.reset('erase').catch((e) => log.error('no factory reset', { error: e as Error }));
  else if (press === 'approve')
    void setup.approve('button').catch((e) => log.info('nothing to approve', { error: e as Error }));
  else
    try {
      setup.restart('button');
    } catch (e) {
      log.info('the button comes too early', { error: e as Error });
    }
});
ready();
await setup.begin();

// Once set up there is nothing to do until somebody calls; activation brings the service back. A button cannot.
const idleMs = 5 * 60_000;
setInterval(() => {
  status(setup.state);
  if (
    isDone(setup.state) &&
    !hasButton() &&
    setup.status().channels.length === 0 &&
    Date.now() - lastCall > idleMs
  )
    void leave(0);
}, 30_000).unref();

async function leave(code: number): Promise<void> {
  stopping();
  await setup.stop().catch((e) => log.warn('setup did not stop cleanly', { error: e as Error }));
  process.exit(code);
}
bus.closed.then(() => process.exit(1));
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void leave(0));
process.on('unhandledRejection', (e) => {
  log.error('unexpected', { error: e instanceof IngleError ? e : (e as Error) });
  process.exit(1);
});
