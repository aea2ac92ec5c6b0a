// A phone at the hub's BLE setup service, by noble on a controller of its own. Bundled by the tests and run in the
// lab's machine:  node central.cjs <setup|improv> '<json>'   prints one JSON line an event.
import noble from '@abandonware/noble';
import { assembler, toPieces } from '../../../../firmware/ble/chunk.ts';
import { centralSession, type Sealer } from '../../../../firmware/ble/secured.ts';
import { setupUuid } from '../../../../firmware/ble/service.ts';
import { concat, utf8 } from '../../../../firmware/protocol/bytes.ts';
import type { IngleError } from '../../../../firmware/protocol/errors.ts';
import { improvUuid } from '../../../../firmware/setup/improv.ts';

type Json = Record<string, unknown>;
const [mode, given] = process.argv.slice(2);
const o = JSON.parse(given ?? '{}') as { wrong: string; pin: string; ssid: string; psk: string };
const say = (event: string, more: Json = {}) =>
  console.log(JSON.stringify({ ...more, event, s: Math.round(process.uptime()) }));
const plain = (uuid: string) => uuid.replaceAll('-', '');

interface Controller {
  readLeBufferSize(): void;
}

interface Talks {
  read(uuid: string): Promise<Buffer>;
  write(uuid: string, data: Uint8Array): Promise<void>;
  hear(uuid: string, f: (data: Buffer) => void): Promise<void>;
  mtu: number;
  leave(): Promise<void>;
}

/** Finds the hub by the service it advertises, and connects. */
async function find(service: string): Promise<Talks> {
  const found = new Promise<noble.Peripheral>((resolve) => noble.once('discover', resolve));
  await noble.startScanningAsync([plain(improvUuid.service)], false);
  // On a channel of its own noble does not ask for the controller's buffers, and then never sends.
  (noble as unknown as { _bindings: { _hci: Controller } })._bindings._hci.readLeBufferSize();
  const hub = await found;
  await noble.stopScanningAsync();
  const { localName, serviceData } = hub.advertisement;
  say('found', {
    name: localName,
    improv: serviceData?.find((s) => s.uuid === improvUuid.data)?.data.toString('hex'),
  });
  await hub.connectAsync();
  const { characteristics } = await hub.discoverSomeServicesAndCharacteristicsAsync([plain(service)], []);
  say('connected', { mtu: hub.mtu, characteristics: characteristics.length });
  const of = (uuid: string) => {
    const c = characteristics.find((x) => x.uuid === plain(uuid));
    if (!c) throw new Error(`no characteristic ${uuid}`);
    return c;
  };
  return {
    read: (uuid) => of(uuid).readAsync(),
    write: (uuid, data) => of(uuid).writeAsync(Buffer.from(data), false),
    async hear(uuid, f) {
      of(uuid).on('data', f);
      await of(uuid).subscribeAsync();
    },
    mtu: hub.mtu ?? 23,
    leave: () => hub.disconnectAsync(),
  };
}

async function setup(): Promise<void> {
  const hub = await find(setupUuid.service);
  say('device', JSON.parse((await hub.read(setupUuid.deviceInfo)).toString()));
  const whole = assembler();
  let audio: Json | undefined;
  for (let pieces = 1; !audio; pieces++) {
    audio = whole(await hub.read(setupUuid.audioList));
    if (audio) say('audio', { pieces, ...audio });
  }
  const window = (await hub.read(setupUuid.oneTimePin)).toString();
  say('window', { window });

  const heard: Json[] = [];
  let wake = () => {};
  const put = assembler();
  await hub.hear(setupUuid.result, (piece) => {
    const message = put(piece);
    if (!message) return;
    heard.push(message);
    wake();
  });
  let at = 0;
  const next = async (fits: (m: Json) => boolean): Promise<Json> => {
    for (;;) {
      while (at < heard.length) {
        const m = heard[at++]!;
        if (fits(m)) return m;
      }
      await new Promise<void>((resolve) => (wake = resolve));
    }
  };
  // noble never settles a write that the hub refuses, so what comes back is told by the hub's messages.
  const send = (message: Json) => {
    for (const piece of toPieces(message, hub.mtu - 3)) void hub.write(setupUuid.wifiCreds, piece);
  };
  const prove = (pin: string): Promise<Sealer> =>
    centralSession(
      window,
      pin,
      async (m) => send(m),
      () => next(() => true),
    );
  const sealed = (m: Json) => m['t'] === 'sealed';
  await prove(o.wrong).catch((e: IngleError) => say('refused', { error: e.code, told: heard.some(sealed) }));
  const sealer = await prove(o.pin);
  say('softap', await sealer.open(await next(sealed)));
  send({ t: 'plain', ssid: o.ssid, psk: o.psk });
  say('unsealed_refused', await next((m) => m['event'] === 'error'));
  send(await sealer.seal({ ssid: o.ssid, psk: o.psk }));
  const outcome = await next((m) => m['event'] === 'connected' || m['error'] === 'wifi');
  say('outcome', outcome);
  if (outcome['event'] === 'connected') say('pairing', await sealer.open(await next(sealed)));
  await hub.leave();
}

const sum = (bytes: Uint8Array) => bytes.reduce((a, b) => (a + b) & 0xff, 0);
const string = (s: string) => concat(new Uint8Array([utf8(s).length]), utf8(s));

/** An Improv application as the specification has it: RPC with a checksum, state and error by notification. */
async function improv(): Promise<void> {
  const hub = await find(improvUuid.service);
  const rpc = async (command: number, data: Uint8Array, bad = false) => {
    const body = concat(new Uint8Array([command, data.length]), data);
    await hub.write(improvUuid.command, concat(body, new Uint8Array([(sum(body) + (bad ? 1 : 0)) & 0xff])));
  };
  let wake = () => {};
  const states: number[] = [];
  const errors: number[] = [];
  const results: string[] = [];
  const hears = (list: unknown[], read: (d: Buffer) => unknown) => (d: Buffer) => {
    list.push(read(d));
    wake();
  };
  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise<void>((resolve) => (wake = resolve));
  };
  const first = (await hub.read(improvUuid.state))[0];
  say('state', {
    state: first,
    capabilities: (await hub.read(improvUuid.capabilities))[0],
  });
  await hub.hear(
    improvUuid.state,
    hears(states, (d) => d[0]),
  );
  await hub.hear(
    improvUuid.error,
    hears(errors, (d) => d[0]),
  );
  await hub.hear(
    improvUuid.result,
    hears(results, (d) => d.toString('latin1')),
  );
  await rpc(1, concat(string(o.ssid), string(o.psk)), true);
  await until(() => errors.includes(1));
  say('bad_checksum_refused');
  await rpc(0x77, new Uint8Array(0));
  await until(() => errors.includes(2));
  say('unknown_command_refused');
  const credentials = concat(string(o.ssid), string(o.psk));
  if (first !== 2) {
    await rpc(1, credentials);
    await until(() => errors.includes(4));
    say('not_authorized_refused');
    await until(() => states.includes(2));
    say('approved', { state: states.at(-1) });
    errors.length = 0;
  }
  await rpc(1, credentials);
  await until(() => states.includes(4) || errors.includes(3) || errors.includes(4));
  if (states.includes(4)) await until(() => results.length > 0);
  say('outcome', { states, errors, results });
  await hub.leave();
}

(mode === 'improv' ? improv() : setup()).then(
  () => process.exit(0),
  (e) => {
    say('failed', { error: String(e) });
    process.exit(1);
  },
);
