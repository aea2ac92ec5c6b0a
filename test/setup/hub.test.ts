// What ingle-setup keeps, and how it takes the answers and the news of the hub's other services; these are on a bus.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { audio1 } from '../../firmware/audio/contract.ts';
import { bleChannel } from '../../firmware/ble/channel.ts';
import { ble1 } from '../../firmware/ble/contract.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { Press } from '../../firmware/setup/button.ts';
import { hasCable, hasSoundCard, machineId } from '../../firmware/setup/hardware.ts';
import { accessPoint, audioPort, hubPorts } from '../../firmware/setup/hub.ts';
import { times } from '../../firmware/setup/ladder.ts';
import { followHub, pressed } from '../../firmware/setup/reactions.ts';
import { type Signs, signs } from '../../firmware/setup/signs.ts';
import { type Bus, connect } from '../../firmware/system/bus.ts';
import { logger } from '../../firmware/system/log.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import { wifi1 } from '../../firmware/wifi/contract.ts';
import { privateBus } from '../lab/bus.ts';
import { until } from '../lab/wait.ts';

const log = logger('hub test');
const test = suite<{ dir: string; bus: Bus; address: string; stop: () => Promise<void> }>('setup’s hub');
test.before(async (c) => {
  const daemon = await privateBus({ quiet: true });
  c.address = daemon.address;
  c.bus = await connect(daemon.address);
  c.stop = daemon.stop;
});
test.before.each((c) => {
  c.dir = mkdtempSync(join(tmpdir(), 'ingle-hub-'));
});
test.after.each((c) => rmSync(c.dir, { recursive: true, force: true }));
test.after(async (c) => {
  c.bus.close();
  await c.stop();
});

const put = (file: string, text = '') => {
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text);
};
const noSigns: Signs = { accessPoint() {}, noAccessPoint() {}, open() {}, erase() {} };

test('signs: each file comes whole and goes; an access point of an earlier run is taken back', ({ dir }) => {
  const runtime = join(dir, 'run');
  put(join(runtime, 'access-point.json'), '{}');
  const umask = process.umask(0o077);
  const s = signs({ runtime, data: dir });
  assert.not.ok(existsSync(join(runtime, 'access-point.json')));
  s.accessPoint('10.4.0.1/24');
  process.umask(umask);
  const file = join(runtime, 'access-point.json');
  assert.equal(JSON.parse(readFileSync(file, 'utf8')), { address: '10.4.0.1' });
  assert.is(statSync(file).mode & 0o777, 0o644, 'another user reads it');
  s.noAccessPoint();
  s.noAccessPoint();
  assert.not.ok(existsSync(file));
  s.open(true);
  assert.ok(existsSync(join(runtime, 'open')));
  s.open(false);
  s.open(false);
  assert.not.ok(existsSync(join(runtime, 'open')));
  s.erase();
  assert.ok(existsSync(join(dir, 'factory-reset')));
});

test('hardware: a card, a cable that is in, the machine’s id', ({ dir }) => {
  assert.not.ok(hasSoundCard(dir), 'no folder of sound');
  put(join(dir, 'class/sound/timer'));
  assert.not.ok(hasSoundCard(dir), 'a timer is no card');
  put(join(dir, 'class/sound/card0'));
  assert.ok(hasSoundCard(dir));

  const net = join(dir, 'class/net');
  assert.not.ok(hasCable(dir));
  put(join(net, 'lo/carrier'), '1\n');
  assert.not.ok(hasCable(dir), 'the loopback is no device');
  put(join(net, 'wlan0/carrier'), '1\n');
  mkdirSync(join(net, 'wlan0/device'));
  mkdirSync(join(net, 'wlan0/phy80211'));
  assert.not.ok(hasCable(dir), 'a radio is no cable');
  mkdirSync(join(net, 'eth0/device'), { recursive: true });
  assert.not.ok(hasCable(dir), 'an interface that is down tells nothing');
  put(join(net, 'eth0/carrier'), '0\n');
  assert.not.ok(hasCable(dir));
  put(join(net, 'eth0/carrier'), '1\n');
  assert.ok(hasCable(dir));

  put(join(dir, 'id'), 'abcdef\n');
  assert.is(machineId(join(dir, 'id')), 'abcdef');
  assert.is(machineId(join(dir, 'none')), '0000');
});

test('a hub without a card does not wait for the sound server at boot, and asks it ever after', async ({
  bus,
}) => {
  let probes = 0;
  let cancelled = 0;
  const give: { done?: () => void } = {};
  await bus.serve(audio1, {
    Probe: async ({ quick }: { quick: boolean }) => {
      probes++;
      if (quick) await new Promise<void>((resolve) => (give.done = resolve));
      return {
        state: quick ? 'READY' : 'FAILED',
        reason: quick ? '' : 'quiet',
        sink_id: 's',
        source_id: 'm',
        confirmed: quick,
      };
    },
    Cancel: () => {
      cancelled++;
      give.done?.();
      return {};
    },
  } as never);
  const never = new AbortController().signal;
  const silent = audioPort(bus.client(audio1), { language: 'en', silent: () => true });
  assert.equal(await silent.probe(never), { ok: false, reason: 'no_devices' });
  assert.is(probes, 0);
  const second = await silent.probe(never);
  assert.is(probes, 1);
  assert.equal(second, { ok: false, reason: 'quiet', sink_id: 's', source_id: 'm' });

  const heard = audioPort(bus.client(audio1), { language: 'en', silent: () => false });
  assert.is((await heard.probe(never)).reason, 'quiet', 'with a card the first look asks');
  const abort = new AbortController();
  const retest = heard.retest(abort.signal);
  await until(() => give.done, 'the retest');
  abort.abort();
  assert.is((await retest).ok, true);
  assert.is(cancelled, 1, 'an abort cancels the job');
});

test('the only radio is held by a network, or by one it is about to join', async ({ bus }) => {
  const now = { radios: 1, softap: 'off', station: 'off', known: 0, ms: 0 };
  const asked: string[] = [];
  await bus.serve(wifi1, {
    Status: () => ({ ...now, country: '00', detail: { known: now.known } }),
    SoftapStart: () => ({ psk: 'y', address: '10.4.0.1/24', interface: 'wlan0', security: 'wpa2' }),
    SoftapStop: () => {
      asked.push('stop');
      return {};
    },
    Forget: ({ ssid }: { ssid: string }) => {
      asked.push(`forget ${ssid}`);
      throw new IngleError('unavailable', 'No radio.');
    },
  } as never);
  const wifi = bus.client(wifi1);
  const told: string[] = [];
  const sign = {
    ...noSigns,
    accessPoint: (cidr: string) => void told.push(cidr),
    noAccessPoint: () => void told.push('none'),
    erase: () => void told.push('erase'),
  };
  const port = accessPoint(wifi, sign, () => now.ms);
  // radios, softap, station, known networks, milliseconds since the start; held
  const rows: [number, string, string, number, number, boolean][] = [
    [1, 'off', 'off', 0, 0, false],
    [1, 'off', 'off', 2, times.settle - 1, true],
    [1, 'off', 'off', 2, times.settle, false],
    [1, 'off', 'lost', 2, times.settle, false],
    [1, 'off', 'joined', 0, times.settle, true],
    [2, 'off', 'joined', 2, 0, false],
    [1, 'serving', 'joined', 2, 0, false],
  ];
  for (const [radios, softap, station, known, ms, held] of rows) {
    Object.assign(now, { radios, softap, station, known, ms });
    const where = JSON.stringify([radios, softap, station, known, ms]);
    assert.is((await port.device(false)) === '', held, where);
    assert.is(await port.device(true), `radios ${radios}`, where);
  }
  await port.start({ ssid: 'x', psk: 'y', idle_s: 600 });
  await port.stop();
  now.radios = 0;
  assert.is(await port.device(true), '', 'no radio');
  assert.equal(told.splice(0), ['10.4.0.1/24', 'none']);

  let cable = false;
  const ports = hubPorts({
    audio: undefined as never,
    wifi,
    uplink: bus.client(uplink1),
    signs: sign,
    channels: [],
    cable: () => cable,
    rootUrl: 'http://127.0.0.1:9',
    log,
  });
  now.known = 0;
  assert.is(await ports.hasNetwork(), false);
  now.known = 1;
  assert.is(await ports.hasNetwork(), true);
  now.known = 0;
  cable = true;
  assert.is(await ports.hasNetwork(), true);
  assert.is(await ports.online(), false, 'nobody listens there');
  await ports.erase();
  assert.equal(
    [asked.at(-1), ...told],
    ['forget ', 'erase'],
    'all is erased though no network could be forgotten',
  );
});

test('a code is asked for again while the link comes up; what asking does not mend is told at once', async ({
  bus,
  address,
}) => {
  const asked: string[] = [];
  const failing: IngleError[] = [];
  const place = { owner_id: 'o', subnet_id: 'n', hub_id: 'h', app_url: 'https://a.example' };
  const code = { device_code: '1', secret: '2', link: 'l', verify_uri: 'v', expires_at: 5n, taken: false };
  const link = await connect(address);
  await link.serve(uplink1, {
    IssueCode({ new_passkey }: { new_passkey: boolean }) {
      asked.push(`code ${new_passkey}`);
      const e = failing.shift();
      if (e) throw e;
      return code;
    },
    Offered: () => ({ ...place, changes: [{ field: 'owner_id', was: 'p', now: 'o' }] }),
    Adopt(confirmed: typeof place) {
      asked.push(`adopt ${Object.values(confirmed)}`);
      return { owner_id: 'o', subnet_id: 'n', hub_id: 'h', keys: 'k', expires_at: 1n };
    },
  } as never);
  const root = createServer((_, answer) => answer.end());
  await new Promise<void>((resolve) => root.listen(0, '127.0.0.1', resolve));
  const ports = hubPorts({
    ...{ audio: undefined as never, wifi: undefined as never, signs: noSigns, channels: [], log },
    ...{ uplink: bus.client(uplink1), cable: () => true },
    rootUrl: `http://127.0.0.1:${(root.address() as AddressInfo).port}`,
  });
  failing.push(new IngleError('unavailable', 'The link comes up.'));
  assert.is((await ports.pairing(true)).link, 'l');
  assert.equal(asked.splice(0), ['code true', 'code true']);
  for (const why of ['conflict', 'rate_limited'] as const) {
    failing.push(new IngleError(why, 'Do this next.'));
    const e = await ports.pairing(false).catch((x) => x);
    assert.equal([e.code, e.message, asked.splice(0)], [why, 'Do this next.', ['code false']]);
  }
  const { changes, ...offered } = await ports.offered();
  assert.equal(changes, [{ field: 'owner_id', was: 'p', now: 'o' }]);
  await ports.adopt(offered);
  assert.equal(asked, ['adopt o,n,h,https://a.example']);
  root.close();
  link.close();
});

test('the link to root and the end of a channel reach the ladder', async ({ bus, address }) => {
  const other = await connect(address);
  const served = await other.serve(uplink1, {} as never);
  const radio = await connect(address);
  const ble = await radio.serve(ble1, {} as never);
  const heard: string[] = [];
  await followHub(bus, [bleChannel(bus, { unlabelled: true })], {
    paired: async () => void heard.push('paired'),
    codeSpent: () => void heard.push('spent'),
    ended: async (name, again) => void heard.push(`${name} ${again}`),
  });
  assert.equal(heard, []);
  served.emit('PairingFailed', { sid: 's', reason: 'pairing_failed', left: 1 });
  served.emit('PairingFailed', { sid: 's', reason: 'pairing_failed', left: 0 });
  served.emit('Paired', { sid: 's', browser: 'b', label: 'x' });
  await until(() => heard.includes('paired'), 'the pairing');
  assert.equal(heard.splice(0), ['spent', 'paired']);
  ble.emit('Ended', { reason: 'stopped' });
  ble.emit('Ended', { reason: 'idle' });
  await until(() => heard.length > 0, 'the end of BLE');
  assert.equal(heard.splice(0), ['ble false'], 'a stop is no news');
  radio.close();
  await until(() => heard.length > 0, 'BLE to be gone');
  assert.equal(heard.splice(0), ['ble true']);
  other.close();
});

test('a press does what it is long enough for, and one that cannot be done harms nothing', async () => {
  const did: string[] = [];
  const act = (name: string) => (given: string) => {
    did.push(`${name} ${given}`);
    throw new IngleError('conflict', 'Not now.');
  };
  const setup = {
    reset: async (c: string) => act('reset')(c),
    approve: async (c: string) => act('approve')(c),
    restart: async (c: string) => act('restart')(c),
  };
  const talk = async () => act('talk')('');
  for (const press of ['none', 'approve', 'restart', 'reset', 'talk'] as Press[])
    await pressed(press, setup, talk, log);
  assert.equal(did, ['approve button', 'restart button', 'reset erase', 'talk ']);
});

test.run();
