import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type LadderEvent, type LadderState, ladder } from '../../firmware/setup/ladder.ts';
import type { WifiOutcome } from '../../firmware/setup/ports.ts';
import { makePin, makePsk, spell } from '../../firmware/setup/secrets.ts';
import { until } from '../lab/wait.ts';
import { assertCode, house, patient, type World } from './world.ts';

test('the ladder moves as is written here, and in no other way', () => {
  const rows: [LadderState, LadderEvent, LadderState | undefined][] = [
    ['BOOT', 'fresh', 'AUDIO'],
    ['BOOT', 'resume', 'CHANNELS'],
    ['AUDIO', 'audio_ok', 'READY'],
    ['AUDIO', 'audio_late', 'CHANNELS'],
    ['AUDIO', 'audio_failed', 'CHANNELS'],
    ['AUDIO', 'audio_ok_offline', 'CHANNELS'],
    ['CHANNELS', 'no_radio', 'CONSOLE'],
    ['CHANNELS', 'connect', 'CONNECTING'],
    ['CHANNELS', 'idle', 'HINT'],
    ['CHANNELS', 'audio_late', undefined],
    ['CONNECTING', 'connected', 'RETEST'],
    ['CONNECTING', 'connect_failed', 'CHANNELS'],
    ['CONNECTING', 'connect', undefined],
    ['RETEST', 'audio_ok', 'READY'],
    ['RETEST', 'audio_failed', 'READY_WITH_LIMITS'],
    ['RETEST', 'unowned', 'CHANNELS'],
    ['AUDIO', 'audio_ok_unowned', 'CHANNELS'],
    ['CHANNELS', 'idle_online', 'READY_WITH_LIMITS'],
    ['CONSOLE', 'idle_online', 'READY_WITH_LIMITS'],
    ['CONSOLE', 'idle', undefined],
    ['CHANNELS', 'online', 'RETEST'],
    ['CHANNELS', 'paired', 'RETEST'],
    ['CONSOLE', 'paired', 'RETEST'],
    ['HINT', 'paired', 'RETEST'],
    ['READY', 'paired', undefined],
    ['READY', 'unowned', 'CHANNELS'],
    ['READY_WITH_LIMITS', 'unowned', 'CHANNELS'],
    ['HINT', 'restart', 'AUDIO'],
    ['READY', 'connect', undefined],
    ['READY', 'restart', 'AUDIO'],
    ['READY', 'no_network', 'CHANNELS'],
    ['READY_WITH_LIMITS', 'no_network', 'CHANNELS'],
    ['AUDIO', 'no_network', undefined],
  ];
  for (const [state, event, next] of rows) assert.is(ladder[state][event], next, `${state} ${event}`);
});

test('no state is a dead end: a restart or a reset leads out of each', () => {
  for (const [state, moves] of Object.entries(ladder))
    assert.ok('restart' in moves || state === 'BOOT', `${state} has no way out`);
});

test('a PSK has 12 characters nobody mishears, and a PIN six digits', () => {
  const seen = new Set<string>();
  for (let i = 0; i < 200; i++) {
    const psk = makePsk();
    assert.match(psk, /^[2-9acefhjkmrwxy]{12}$/);
    seen.add(psk);
    assert.match(makePin(), /^\d{6}$/);
  }
  assert.is(seen.size, 200);
  assert.is(spell('abcde2'), 'a b c d, e 2');
});

test('a hub that speaks, hears, and has a network and an owner is ready at once', async () => {
  const h = await house({
    audio: { ok: true, reason: '', sink_id: 'a', source_id: 'b' },
    wifi: { ok: true, reason: '' },
    radios: 1,
    online: true,
    owned: true,
  });
  await h.setup.begin();
  await h.reach('READY');
  assert.equal(h.states, ['AUDIO', 'READY']);
  assert.equal(h.setup.status().verified_profile, { sink_id: 'a', source_id: 'b' });
  await h.setup.stop();
});

test('an audio test that never ends gives way to the access point, and its late answer does nothing', async () => {
  const h = await house({ audio: 'hangs', wifi: { ok: true, reason: '' }, radios: 1, online: false });
  await h.setup.begin();
  await h.reach('CHANNELS');
  await h.reach('HINT');
  assert.equal(h.states, ['AUDIO', 'CHANNELS', 'HINT']);
  await h.setup.stop();
  assert.match(h.calls.join('\n'), /^secrets\nap Ingle-1234 \S{12}\nble\nsay true\nap stop\nble stop$/);
});

test('a wrong password leads back to the same access point with its reason, a right one to ready', async () => {
  let end = () => {};
  const world: World = {
    audio: { ok: false, reason: 'noisy' },
    wifi: { ok: false, reason: 'wrong_password' },
    wifiWaits: new Promise((ok) => (end = ok)),
    radios: 1,
    online: false,
    idle: 60_000,
  };
  const h = await house(world);
  await h.setup.begin();
  await h.reach('CHANNELS');
  const psk = h.setup.secrets().psk;
  assert.equal(await h.setup.connect('softap', { ssid: 'home', psk: 'badbadbad', hidden: false }), {
    interrupts: true,
  });
  await assertCode(h.setup.connect('ble', { ssid: 'home', psk: 'badbadbad', hidden: false }), 'conflict');
  end();
  await until(() => h.progress.includes('wifi failed wifi_failed'));
  // Whoever hears of it may try again at once.
  assert.is(h.toldIn.get('wifi_failed'), 'CHANNELS');
  assert.is(h.setup.status().reason, 'wrong_password');
  assert.is(h.setup.secrets().psk, psk);
  world.wifi = { ok: true, reason: '' };
  await h.setup.connect('softap', { ssid: 'home', psk: 'goodgoodgood', hidden: false });
  await h.reach('READY_WITH_LIMITS');
  assert.is(h.setup.status().ssid, 'home');
  await h.setup.stop();
  assert.ok(h.calls.includes('ap stop'));
});

test('without a radio the console stays the way in, and a cable ends the wait of an owner', async () => {
  const world: World = {
    audio: { ok: false, reason: 'no_estimate' },
    wifi: { ok: true, reason: '' },
    radios: 0,
    online: false,
  };
  const h = await house(world);
  h.setup.begin();
  h.setup.paired();
  // BLE still starts in this house, so the ladder stays at CHANNELS; take it away.
  await h.reach('CHANNELS');
  world.online = true;
  await h.reach('READY_WITH_LIMITS');
  await h.setup.stop();
});

test('a radio plugged in opens the access point, and one pulled out leaves the console', async () => {
  const world = patient({ radios: 0, noBle: true });
  const h = await house(world);
  await h.setup.begin();
  await h.reach('CONSOLE');
  world.radios = 1;
  await h.reach('CHANNELS');
  await until(() => h.setup.status().channels.includes('softap'));
  world.radios = 0;
  await h.reach('CONSOLE');
  assert.equal(h.setup.status().channels, []);
  assert.is(h.setup.status().softap, null);
  assert.ok(h.progress.includes('softap failed channel_failed'));
  await h.setup.stop();
});

test('a Bluetooth adapter plugged in later opens BLE, also one that answers only after a while', async () => {
  const world = patient({ radios: 0, noAdapter: true, noBle: true });
  const h = await house(world);
  await h.setup.begin();
  await h.reach('CONSOLE');
  world.radios = 1;
  await until(() => h.setup.status().channels.includes('softap'));
  const { psk } = h.setup.secrets();
  world.noAdapter = false;
  // It is listed before it is up: the first tries fail.
  await until(() => h.progress.filter((p) => p === 'ble failed channel_failed').length >= 2);
  world.noBle = false;
  await until(() => h.setup.status().channels.includes('ble'));
  assert.is(h.setup.secrets().psk, psk, 'the phone in the access point is not thrown out');
  assert.is(h.calls.filter((c) => c.startsWith('ap Ingle')).length, 1);
  world.noAdapter = true;
  await until(() => !h.setup.status().channels.includes('ble'));
  assert.is(h.setup.status().ble, null);
  assert.ok(h.setup.status().channels.includes('softap'));
  await h.setup.stop();
});

test('an access point at work is the mode while BLE is still starting, and as long as it works', async () => {
  let start = () => {};
  const world = patient({ bleWaits: new Promise((ok) => (start = ok)) });
  const h = await house(world);
  await h.setup.begin();
  await until(() => h.setup.status().channels.includes('softap'));
  assert.equal([h.setup.status().mode, h.setup.status().channels], ['softap', ['softap']]);
  start();
  await until(() => h.setup.status().channels.includes('ble'));
  assert.is(h.setup.status().mode, 'softap');
  world.radios = 0;
  await until(() => !h.setup.status().channels.includes('softap'));
  assert.equal([h.setup.status().mode, h.setup.status().channels], ['ble', ['ble']]);
  await h.setup.stop();
});

test('an access point that fell for good is started anew, with the same key', async () => {
  const world = patient();
  const h = await house(world);
  await h.setup.begin();
  await until(() => h.setup.status().channels.includes('softap'));
  world.fallen = true;
  const starts = () => h.calls.filter((c) => c.startsWith('ap Ingle'));
  await until(() => starts().length === 2);
  assert.is(new Set(starts()).size, 1);
  await h.setup.stop();
});

test('BLE that lost its adapter for a moment is opened again', async () => {
  const world = patient();
  const h = await house(world);
  await h.setup.begin();
  await until(() => h.setup.status().channels.includes('ble'));
  await h.setup.ended('ble', true);
  await until(() => h.setup.status().channels.includes('ble'));
  assert.is(h.calls.filter((c) => c === 'ble').length, 2);
  await h.setup.stop();
});

test('an access point that came back by itself after a failed join is not started again', async () => {
  const world = patient({ audio: { ok: false, reason: 'noisy' }, wifi: { ok: false, reason: 'no_address' } });
  const h = await house(world);
  await h.setup.begin();
  await until(() => h.setup.status().channels.includes('softap'));
  const starts = () => h.calls.filter((c) => c.startsWith('ap Ingle')).length;
  await h.setup.connect('softap', { ssid: 'home', psk: 'goodgoodgood', hidden: false });
  await until(() => h.setup.state === 'CHANNELS' && h.setup.status().reason === 'no_address');
  await h.setup.stop();
  assert.is(starts(), 1);
});

test('BLE that brought the hub into its network stays for the pairing link, until a browser is paired', async () => {
  const world = patient();
  const h = await house(world);
  await h.setup.begin();
  await until(() => h.setup.status().channels.includes('ble'));
  await h.setup.connect('ble', { ssid: 'home', psk: 'goodgoodgood', hidden: false });
  await h.reach('READY_WITH_LIMITS');
  await until(() => h.calls.includes('ap stop'));
  assert.equal(h.setup.status().channels, ['ble']);
  h.setup.paired();
  await until(() => h.calls.includes('ble stop'));
  assert.equal(h.setup.status().channels, []);
  await h.setup.stop();
});

test('a bad network name or password is refused with a pointer and moves nothing', async () => {
  const wifi = { ok: true, reason: '' } as const;
  const h = await house({ audio: 'hangs', wifi, radios: 2, online: false, idle: 60_000 });
  await h.setup.begin();
  await h.reach('CHANNELS');
  await assertCode(h.setup.connect('serial', { ssid: '', psk: '', hidden: false }), 'invalid_request');
  await assertCode(
    h.setup.connect('serial', { ssid: 'x'.repeat(33), psk: '', hidden: false }),
    'invalid_request',
  );
  await assertCode(h.setup.connect('serial', { ssid: 'x', psk: 'short', hidden: false }), 'invalid_request');
  assert.is(h.setup.state, 'CHANNELS');
  await h.setup.stop();
});

test('a cut in the middle resumes where a person was, with new secrets', async () => {
  const wifi: WifiOutcome = { ok: true, reason: '' };
  const world: World = { audio: 'hangs', wifi, radios: 1, online: false, idle: 60_000 };
  const h = await house(world);
  await h.setup.begin();
  await h.reach('CHANNELS');
  const psk = h.setup.secrets().psk;
  // No stop: the process just goes away. Its file is read by the next one.
  await new Promise((resolve) => setTimeout(resolve, 50));
  const again = await house(world, h.file);
  await again.setup.begin();
  await again.reach('CHANNELS');
  assert.equal(again.states, ['CHANNELS']);
  assert.is.not(again.setup.secrets().psk, psk);
  await again.setup.stop();
  await h.setup.stop();
});

test('a hub that was ready and has no network left opens setup when it starts; one with a network does not', async () => {
  const world = patient({ audio: { ok: true, reason: '' }, online: true, owned: true });
  const first = await house(world);
  await first.setup.begin();
  await first.reach('READY');
  await first.setup.stop();
  world.online = false;
  const second = await house(world, first.file);
  await second.setup.begin();
  await new Promise((resolve) => setTimeout(resolve, 60));
  assert.equal(second.states, ['READY']);
  await second.setup.stop();
  world.noNetwork = true;
  const third = await house(world, first.file);
  await third.setup.begin();
  await until(() => third.setup.state === 'CHANNELS');
  assert.equal(third.states, ['READY', 'CHANNELS']);
  world.online = true;
  await until(() => third.setup.state === 'READY');
  await third.setup.stop();
});

test('a factory reset erases and starts as new', async () => {
  const h = await house({
    audio: { ok: true, reason: '' },
    wifi: { ok: true, reason: '' },
    radios: 1,
    online: true,
    owned: true,
  });
  await h.setup.begin();
  await h.reach('READY');
  await assertCode(h.setup.reset('yes'), 'invalid_request');
  await h.setup.reset('erase');
  assert.ok(h.calls.includes('erase'));
  await h.reach('READY');
  assert.equal(h.states, ['AUDIO', 'READY', 'BOOT', 'AUDIO', 'READY']);
  await h.setup.stop();
});

test.run();
