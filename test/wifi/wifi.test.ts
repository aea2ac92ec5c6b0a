import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { logger } from '../../firmware/system/log.ts';
import { openStore } from '../../firmware/system/store.ts';
import type { WifiReason } from '../../firmware/wifi/contract.ts';
import { type Known, migrations, networks } from '../../firmware/wifi/networks.ts';
import type { SoftapOptions } from '../../firmware/wifi/softap.ts';
import { createWifi } from '../../firmware/wifi/wifi.ts';
import { until as eventually } from '../lab/wait.ts';

const test = suite('Wi-Fi orders');

/** Radios and programs that do what a test says; the real ones are in the virtual machine's suite. */
/** @param address how long an address is waited for, milliseconds: for a test that hangs, unless it waits in vain on purpose */
async function rig(radios: string[] = ['wlan0'], address = 10_000) {
  const world = {
    radios,
    verdict: async (_n: Known, _signal: AbortSignal): Promise<'associated' | WifiReason> => 'associated',
    addresses: ['192.168.50.7'],
    online: true,
    aps: [] as SoftapOptions[],
    up: 0,
    looks: 0,
    looked: [] as string[],
    refuse: false,
    roaming: [] as string[],
    /** What wpa_supplicant has joined already. */
    there: '',
    released: 0,
    said: [] as string[],
  };
  const store = await openStore(':memory:', migrations);
  const kept = networks(store);
  const wifi = createWifi({
    radios: {
      list: () => world.radios,
      abilities: async () => ({ ap: true, sae: true }),
      async scan(radio, frequencies) {
        world.looks++;
        world.looked.push(`${radio} ${frequencies?.join(' ') ?? 'all'}`);
        const near = (ssid: string) => ({ ssid, signal: 80, security: 'wpa2', frequency: 2412 }) as const;
        return [near('Home'), ...world.aps.map(({ ap }) => near(Buffer.from(ap.ssid).toString()))];
      },
      addresses: async () => world.addresses,
      setCountry: async () => {},
      online: async () => world.online,
      async openSoftap(o) {
        if (world.refuse) throw new Error('the driver says no');
        world.aps.push(o);
        world.up++;
        return {
          async stop() {
            world.up--;
          },
        };
      },
    },
    supplicant: {
      join: (_radio, n, signal) => world.verdict(n, signal),
      async roam(_radio, known) {
        world.roaming = known.map((n) => n.ssid);
      },
      resume: async () => world.there,
      async release() {
        world.released++;
      },
      current: async () => world.roaming[0] ?? '',
    },
    networks: kept,
    runtime: '/nowhere',
    log: logger('wifi'),
    country: '00',
    times: {
      ...{ grace: 0, associate: 200, address, internet: 50, comeback: 40 },
      ...{ poll: 5, retry: 5, fresh: 0 },
    },
    events: {
      state: (part, state, _old, reason) => world.said.push(`${part} ${state}${reason && ` ${reason}`}`),
      scanDone: () => {},
      client: (mac, here) => world.said.push(`${mac} ${here}`),
      result: (ssid, ok, reason) => world.said.push(`result ${ssid} ${ok} ${reason}`),
      radios: (n) => world.said.push(`radios ${n}`),
    },
  });
  const status = async () => {
    const s = await wifi.status();
    return { ...s, detail: s.detail as unknown as Record<string, Record<string, unknown>> };
  };
  const until = async (holds: () => boolean | Promise<boolean>) => {
    await eventually(holds).catch((e) => assert.unreachable(`${e.message}\n${world.said.join('\n')}`));
  };
  return { world, wifi, kept, status, until };
}
type World = Awaited<ReturnType<typeof rig>>['world'];
const start = { ssid: 'Ingle', psk: '', cidr: '', idle_timeout: 0 };
const home: Known = { ssid: 'Home', psk: 'correct horse', hidden: false, security: '' };

test('with one radio the access point makes way, and comes back with the reason', async () => {
  const { world, wifi, status } = await rig();
  const { psk } = await wifi.softapStart(start);
  world.verdict = async () => {
    assert.is(world.up, 0);
    // The look it chose its channel by is an old one when it comes back.
    await new Promise((r) => setTimeout(r, 5));
    return 'wrong_password';
  };
  assert.equal(await wifi.connect(home), { ok: false, reason: 'wrong_password' });
  assert.is(world.up, 1);
  assert.is(world.aps.at(-1)?.ap.psk, psk);
  // The phone waits for it where it was.
  assert.equal([world.looks, world.aps.at(-1)?.ap.channel], [1, world.aps[0]?.ap.channel]);
  assert.is((await status()).detail['last']?.['reason'], 'wrong_password');
  assert.equal(world.said, [
    'softap starting',
    'softap on',
    'station associating',
    'softap paused',
    'station off wrong_password',
    'softap starting',
    'softap on',
    'result Home false wrong_password',
  ]);
  await wifi.stop();
});

test('with one radio that joined, the access point is over', async () => {
  const { world, wifi, status, kept } = await rig();
  await wifi.softapStart(start);
  assert.equal(await wifi.connect(home), { ok: true, reason: '' });
  const s = await status();
  assert.equal([s.softap, s.station, world.up], ['off', 'connected', 0]);
  assert.equal(await kept.all(), [home]);
  await wifi.stop();
});

test('with two radios the access point stays on the second', async () => {
  const { world, wifi, status } = await rig(['wlan0', 'wlan1']);
  assert.is((await wifi.softapStart(start)).interface, 'wlan1');
  assert.equal(
    (await wifi.scan(true)).networks.map((n) => n.ssid),
    ['Home'],
    'its own access point is no network to join',
  );
  await wifi.connect(home);
  assert.equal([world.up, (await status()).softap, (await status()).station], [1, 'on', 'connected']);
  await wifi.stop();
});

for (const [title, change, reason] of [
  ['no address', (w: World) => void Object.assign(w, { addresses: [] }), 'no_address'],
  ['no internet', (w: World) => void Object.assign(w, { online: false }), 'no_internet'],
] as const)
  test(`${title} is told apart, and nothing is kept`, async () => {
    const { world, wifi, kept } = await rig(undefined, 200);
    change(world);
    assert.equal(await wifi.connect(home), { ok: false, reason });
    assert.equal(await kept.all(), []);
    await wifi.stop();
  });

test('a network that never answers is not found', async () => {
  const { world, wifi } = await rig();
  world.verdict = (_n, signal) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason as WifiReason)));
  assert.equal(await wifi.connect(home), { ok: false, reason: 'not_found' });
  await wifi.stop();
});

test('a second order while one is under way is refused, and disturbs nothing', async () => {
  const { wifi } = await rig();
  const first = wifi.connect(home);
  const e = await wifi.connect({ ...home, ssid: 'Other' }).catch((x) => x);
  assert.is(e.code, 'conflict');
  assert.is((await first).ok, true);
  await wifi.stop();
});

test('an access point that was closed while joining does not come back', async () => {
  const { world, wifi, status } = await rig();
  await wifi.softapStart(start);
  let closing: Promise<void> | undefined;
  world.verdict = async () => {
    closing = wifi.softapStop();
    return 'not_found';
  };
  await wifi.connect(home);
  await closing;
  assert.equal([world.up, (await status()).softap], [0, 'off']);
  await wifi.stop();
});

test('a fallen access point is started again with its key, three times, then told', async () => {
  const { world, wifi, status, until } = await rig();
  const { psk } = await wifi.softapStart(start);
  for (let n = 2; n <= 4; n++) {
    world.aps.at(-1)!.onFell('hostapd');
    await until(async () => world.aps.length === n && (await status()).softap === 'on');
    assert.is(world.aps.at(-1)!.ap.psk, psk);
  }
  world.aps.at(-1)!.onFell('dnsmasq');
  await until(async () => (await status()).softap === 'off');
  assert.is(world.up, 0);
  assert.is(world.said.at(-1), 'softap off crashed');
  await wifi.stop();
});

test('a fall told twice counts once', async () => {
  const { world, wifi, status, until } = await rig();
  await wifi.softapStart(start);
  const ap = world.aps[0]!;
  ap.onFell('hostapd');
  ap.onFell('hostapd');
  await until(async () => world.aps.length === 2 && (await status()).softap === 'on');
  assert.is(world.said.filter((s) => s.includes('crashed')).length, 1);
  await wifi.stop();
});

test('without clients the access point ends by itself; with one it stays', async () => {
  const { world, wifi, status, until } = await rig();
  await wifi.softapStart({ ...start, idle_timeout: 1 });
  const ap = world.aps[0]!;
  ap.onClient('02:00:00:00:00:01', true);
  ap.onClient('02:00:00:00:00:01', true);
  await new Promise((r) => setTimeout(r, 1300));
  assert.is((await status()).softap, 'on');
  ap.onClient('02:00:00:00:00:01', false);
  await until(async () => (await status()).softap === 'off');
  assert.is(world.said.at(-1), 'softap off idle');
  assert.is(world.said.filter((s) => s === '02:00:00:00:00:01 true').length, 1);
  await wifi.stop();
});

test('a radio pulled out while serving ends the access point and says why', async () => {
  const { world, wifi, status, until } = await rig();
  await wifi.softapStart(start);
  world.radios = [];
  await until(async () => (await status()).softap === 'off');
  assert.is(world.up, 0);
  assert.ok(world.said.includes('softap off no_radio'));
  assert.ok(world.said.includes('radios 0'));
  for (const order of [wifi.softapStart(start), wifi.connect(home)]) {
    const e = await order.catch((x) => x);
    assert.equal([e.code, e.details.reason], ['unavailable', 'no_radio']);
  }
  await wifi.stop();
});

test('a radio pulled out while joining ends it at once', async () => {
  const { world, wifi } = await rig();
  world.verdict = (_n, signal) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(signal.reason as WifiReason));
      world.radios = [];
    });
  const r = await wifi.connect(home);
  assert.is(r.ok, false);
  assert.is(r.reason === 'no_radio', true, r.reason);
  await wifi.stop();
});

test('a radio that refuses is told, and the next order may work', async () => {
  const { world, wifi, status } = await rig();
  world.refuse = true;
  await wifi.softapStart(start).then(
    () => assert.unreachable(),
    () => {},
  );
  assert.is((await status()).softap, 'off');
  world.refuse = false;
  await wifi.softapStart(start);
  assert.is((await status()).softap, 'on');
  await wifi.stop();
});

test('a network lost for a moment while it is joined is waited for; one that stays away has vanished', async () => {
  const { world, wifi, status, until } = await rig();
  world.addresses = [];
  const first = wifi.connect(home);
  await until(async () => (await status()).station === 'addressing');
  await wifi.supplicantState('disconnected');
  await new Promise((r) => setTimeout(r, 5));
  await wifi.supplicantState('completed');
  await new Promise((r) => setTimeout(r, 60));
  world.addresses = ['192.168.1.2'];
  assert.equal(await first, { ok: true, reason: '' });
  world.addresses = [];
  const second = wifi.connect({ ...home, ssid: 'Far' });
  await until(async () => (await status()).station === 'addressing');
  await wifi.supplicantState('disconnected');
  assert.equal(await second, { ok: false, reason: 'vanished' });
  await wifi.stop();
});

test('a network that sent the hub away and is just being joined again has not vanished', async () => {
  const { world, wifi, status, until } = await rig();
  world.addresses = [];
  const joins = wifi.connect(home);
  await until(async () => (await status()).station === 'addressing');
  for (const state of ['associated', '4way_handshake', 'disconnected', 'scanning', 'authenticating'])
    await wifi.supplicantState(state);
  // As long as a network may stay away.
  await new Promise((r) => setTimeout(r, 60));
  for (const state of ['associating', '4way_handshake', 'completed']) await wifi.supplicantState(state);
  world.addresses = ['192.168.1.2'];
  assert.equal(await joins, { ok: true, reason: '' });
  await wifi.stop();
});

test('known networks are looked for after a restart, and forgotten ones are not', async () => {
  const { world, wifi, kept, status } = await rig();
  await kept.keep(home);
  await wifi.begin();
  assert.equal([world.roaming, (await status()).station], [['Home'], 'lost']);
  assert.equal((await status()).detail['known'], 1);
  await wifi.supplicantState('completed');
  assert.equal(
    [(await status()).station, (await status()).detail['station']?.['ssid']],
    ['connected', 'Home'],
  );
  await wifi.supplicantState('disconnected');
  assert.is((await status()).station, 'lost');
  await wifi.forget('');
  assert.equal([await kept.all(), (await status()).station], [[], 'off']);
  assert.equal((await status()).detail['known'], 0);
  const e = await wifi.forget('Home').catch((x) => x);
  assert.is(e.code, 'not_found');
  await wifi.stop();
});

test('a wpa_supplicant that died is told again what to look for', async () => {
  const { world, wifi, status } = await rig();
  await wifi.connect(home);
  world.roaming = [];
  await wifi.supplicantGone();
  assert.equal([world.roaming, (await status()).station], [['Home'], 'lost']);
  await wifi.supplicantState('completed');
  assert.is((await status()).station, 'connected');
  await wifi.stop();
});

test('a process takes up the known network that is joined, and leaves it joined', async () => {
  const { world, wifi, kept, status } = await rig();
  await kept.keep(home);
  world.there = 'Home';
  void wifi.begin();
  // Who asks before the radio was looked at waits for the truth: an access point might be opened otherwise.
  const s = await status();
  assert.equal([s.station, s.detail['station']?.['ssid']], ['connected', 'Home']);
  assert.equal(world.roaming, [], 'nothing is joined anew');
  await wifi.stop();
  assert.is(world.released, 0);
});

test('a joined network that is not known is none of the hub’s', async () => {
  const { world, wifi, kept, status } = await rig();
  await kept.keep(home);
  world.there = 'Other';
  await wifi.begin();
  assert.equal([world.roaming, (await status()).station], [['Home'], 'lost']);
  await wifi.stop();
});

test('the process is needed for an access point and while a network is joined, and else not', async () => {
  const { world, wifi } = await rig();
  assert.is(wifi.isNeeded(), false, 'nothing to do');
  let go = (_: 'associated') => {};
  world.verdict = () => new Promise((resolve) => (go = resolve));
  const joined = wifi.connect(home);
  await eventually(() => world.said.includes('station associating'));
  assert.is(wifi.isNeeded(), true, 'joining');
  go('associated');
  await joined;
  assert.is(wifi.isNeeded(), false, 'joined');
  await wifi.supplicantState('disconnected');
  assert.is(wifi.isNeeded(), false, 'wpa_supplicant looks for it alone');
  await wifi.softapStart(start);
  assert.is(wifi.isNeeded(), true, 'access point');
  world.verdict = async () => 'wrong_password';
  const lent = wifi.connect({ ...home, ssid: 'Other' });
  await eventually(() => world.said.includes('softap paused'));
  assert.is(wifi.isNeeded(), true, 'access point that comes back');
  await lent;
  await wifi.softapStop();
  assert.is(wifi.isNeeded(), false, 'closed');
  await wifi.stop();
});

test('with two radios the access point is up before all bands are looked at', async () => {
  const { world, wifi, until } = await rig(['wlan0', 'wlan1']);
  await wifi.softapStart(start);
  assert.equal([world.up, world.looked[0]], [1, 'wlan1 2412 2437 2462']);
  await until(() => world.looks === 2);
  assert.equal(world.looked, ['wlan1 2412 2437 2462', 'wlan0 all']);
  await wifi.stop();
});

test('with one radio all bands are looked at before there are phones to lose', async () => {
  const { world, wifi } = await rig();
  await wifi.softapStart(start);
  assert.equal([world.up, world.looked], [1, ['wlan0 all']]);
  await wifi.stop();
});

test('a failed try goes back to the network that is known', async () => {
  const { world, wifi, kept, status } = await rig();
  await kept.keep(home);
  world.verdict = async () => 'wrong_password';
  await wifi.connect({ ...home, ssid: 'Other' });
  assert.equal([world.roaming, (await status()).station], [['Home'], 'lost']);
  await wifi.stop();
});

test('a protected network without a password is refused at once', async () => {
  const { wifi } = await rig();
  await wifi.scan(true);
  const e = await wifi.connect({ ...home, psk: '' }).catch((x) => x);
  assert.equal([e.code, e.details.field], ['invalid_request', 'psk']);
  await wifi.stop();
});

test('the country is kept, and nonsense is refused', async () => {
  const { wifi, kept } = await rig();
  assert.is(await wifi.country('DE'), 'DE');
  assert.is(await kept.country(), 'DE');
  for (const bad of ['de', 'DEU', '0', 'D\n'])
    assert.is((await wifi.country(bad).catch((x) => x)).code, 'invalid_request');
  assert.is(await wifi.country(''), 'DE');
  await wifi.stop();
});

test.run();
