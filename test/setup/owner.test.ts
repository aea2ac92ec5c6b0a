// A hub without an owner is never finished: what the ladder does by (state, event, what is known).
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { stageOf } from '../../firmware/setup/access.ts';
import { setup1 } from '../../firmware/setup/contract.ts';
import { type LadderEvent, type LadderState, ladder } from '../../firmware/setup/ladder.ts';
import { afterAudio, afterIdle, afterRetest, atStart, whenOnline } from '../../firmware/setup/owner.ts';
import { sharedPairing } from '../../firmware/setup/pairing.ts';
import type { SetupState } from '../../firmware/setup/state.ts';
import { connect } from '../../firmware/system/bus.ts';
import { peekStore } from '../../firmware/system/store.ts';
import { until } from '../lab/wait.ts';
import { fakeHub } from './fake-hub.ts';
import { house, patient } from './world.ts';

const bool = [false, true];
const open: LadderState[] = ['CHANNELS', 'CONSOLE', 'HINT'];

test('where the ladder goes, by what happened and by who there is', () => {
  type Row = [from: LadderState, what: string, online: boolean, owned: boolean, to: LadderState];
  const rows: Row[] = [
    ['AUDIO', 'heard', false, false, 'CHANNELS'],
    ['AUDIO', 'heard', false, true, 'CHANNELS'],
    ['AUDIO', 'heard', true, false, 'CHANNELS'],
    ['AUDIO', 'heard', true, true, 'READY'],
    ['AUDIO', 'not heard', true, true, 'CHANNELS'],
    ['CHANNELS', 'idle', false, false, 'HINT'],
    ['CHANNELS', 'idle', false, true, 'HINT'],
    // The cable was enough for idle_online to end setup for good.
    ['CHANNELS', 'idle', true, false, 'HINT'],
    ['CHANNELS', 'idle', true, true, 'READY_WITH_LIMITS'],
    ['CONSOLE', 'idle', true, false, 'CONSOLE'],
    ['CONSOLE', 'idle', true, true, 'READY_WITH_LIMITS'],
    ['CONSOLE', 'idle', false, false, 'CONSOLE'],
    ...open.flatMap((s): Row[] => [
      [s, 'a network', true, false, s],
      [s, 'a network', true, true, 'RETEST'],
    ]),
    ['RETEST', 'heard', true, false, 'CHANNELS'],
    ['RETEST', 'not heard', true, false, 'CHANNELS'],
    ['RETEST', 'heard', true, true, 'READY'],
    ['RETEST', 'not heard', true, true, 'READY_WITH_LIMITS'],
  ];
  for (const [from, what, online, owned, to] of rows) {
    const known = { online, owned };
    const heard = what === 'heard';
    let event: LadderEvent | undefined;
    if (what === 'idle') event = afterIdle(known);
    else if (what === 'a network') event = whenOnline(known);
    else event = from === 'AUDIO' ? afterAudio(heard, known) : afterRetest(heard, { owned, byHand: false });
    assert.is((event && ladder[from][event]) ?? from, to, `${from}: ${what}, ${JSON.stringify(known)}`);
  }
  // Whoever has just given a network goes on by the link, though the hub has no owner yet.
  assert.is(ladder.RETEST[afterRetest(true, { owned: false, byHand: true })], 'READY');
  assert.is(ladder.RETEST[afterRetest(false, { owned: false, byHand: true })], 'READY_WITH_LIMITS');
});

test('a hand-over whose answer does not come is done all the same', async () => {
  const place = { owner_id: 'own_b', subnet_id: 'n', hub_id: 'h', app_url: 'https://a' };
  const h = await house(patient({ online: true, owned: true, offers: true, silent: true }));
  await h.setup.begin();
  await h.setup.adopt(place);
  assert.is.not(stageOf(h.setup.status()), 'owned');
  await h.setup.stop();
});

test('a hub that was handed over is finished when the new owner has paired; a code of the old one is not shown again', async () => {
  const h = await house(patient({ online: true, owned: true, offers: true }));
  await h.setup.begin();
  await h.setup.paired();
  await h.setup.pairing();
  await h.setup.pairing();
  assert.is(h.calls.filter((c) => c === 'code').length, 1, 'one code for all channels');
  await h.setup.recovery();
  await h.setup.pairing();
  assert.is(h.calls.filter((c) => c === 'code').length, 2, 'a code for a new passkey has ended that one');
  assert.is(stageOf(h.setup.status()), 'owned');
  const place = { owner_id: 'own_b', subnet_id: 'n', hub_id: 'h', app_url: 'https://a' };
  await h.setup.adopt(place);
  assert.ok(h.calls.includes('adopt own_b'));
  assert.is.not(stageOf(h.setup.status()), 'owned');
  await h.setup.pairing();
  assert.is(h.calls.filter((c) => c === 'code').length, 3);
  assert.is(
    h.calls.filter((c) => c === 'code for a new passkey').length,
    1,
    'and that one is given to nobody else',
  );
  // Somebody at another console confirms what has been done, while the new owner types the code.
  await h.setup.adopt(place);
  await h.setup.pairing();
  assert.equal(
    h.calls.filter((c) => c === 'code' || c.startsWith('adopt')),
    ['code', 'code', 'adopt own_b', 'code'],
  );
  await h.setup.paired();
  assert.is(stageOf(h.setup.status()), 'owned');
  h.setup.codeSpent();
  assert.ok(h.progress.includes('pairing failed code_spent'));
  await h.setup.stop();
});

test('what a start makes of the kept state, after a power cut or not', () => {
  const rows: Record<LadderState, [unowned: LadderState, owned: LadderState]> = {
    BOOT: ['AUDIO', 'AUDIO'],
    AUDIO: ['AUDIO', 'AUDIO'],
    CHANNELS: ['CHANNELS', 'CHANNELS'],
    CONSOLE: ['CHANNELS', 'CHANNELS'],
    CONNECTING: ['CHANNELS', 'CHANNELS'],
    HINT: ['CHANNELS', 'CHANNELS'],
    RETEST: ['RETEST', 'RETEST'],
    READY: ['CHANNELS', 'READY'],
    READY_WITH_LIMITS: ['CHANNELS', 'READY_WITH_LIMITS'],
  };
  for (const [state, to] of Object.entries(rows) as [LadderState, LadderState[]][])
    for (const owned of [false, true, null])
      for (const again of bool) {
        const event = atStart({ state, owned } satisfies Pick<SetupState, 'state' | 'owned'>, again);
        // A look at a finished hub starts the service, and opens nothing.
        const asOwned = owned !== false || (again && state.startsWith('READY'));
        assert.is(ladder.BOOT[event], to[asOwned ? 1 : 0], `${state}, owned: ${owned}, again: ${again}`);
      }
});

test('whoever asks while the service starts is told how far the hub is, never that it begins', async () => {
  const hub = await fakeHub();
  const asker = await connect(hub.address);
  const asked = asker.client(setup1).Status({});
  await asker.listNames();
  await hub.setup.begin();
  assert.is.not((await asked).state, 'BOOT');
  asker.close();
  await hub.stop();
});

test('a finished hub nobody has paired with opens its ways in at its next start, and not when somebody asks', async () => {
  // A busy computer is slower than the pause after which others are left to themselves.
  const world = wired({ idle: 30_000 });
  const first = await house(world, undefined, 'start 1');
  await first.setup.begin();
  await first.reach('CHANNELS');
  await until(() => first.setup.status().channels.length === 2);
  await first.setup.finish('serial');
  await first.reach('READY_WITH_LIMITS');
  await first.setup.stop();
  const asked = await house(world, first.file, 'start 1');
  await asked.setup.begin();
  await asked.setup.begun;
  assert.is(asked.setup.state, 'READY_WITH_LIMITS');
  await new Promise((done) => setTimeout(done, 300));
  assert.is(asked.setup.state, 'READY_WITH_LIMITS');
  assert.equal(asked.setup.status().channels, []);
  await asked.setup.stop();
  const next = await house(world, first.file, 'start 2');
  await next.setup.begin();
  await next.reach('CHANNELS');
  await until(() => next.setup.status().channels.length === 2);
  await next.setup.stop();
});

test('no event but one of a person or an owner makes a hub without an owner ready', () => {
  for (const online of bool)
    for (const heard of bool) {
      const known = { online, owned: false };
      for (const state of Object.keys(ladder) as LadderState[])
        for (const event of [
          afterAudio(heard, known),
          afterIdle(known),
          whenOnline(known),
          afterRetest(heard, { owned: false, byHand: false }),
        ])
          if (event && event !== 'audio_failed')
            assert.not.match(ladder[state][event] ?? '', /READY/, `${state} ${event}`);
    }
});

const wired = (more = {}) => patient({ online: true, owned: false, idle: 60, ...more });

test('a wired hub nobody came to offers its ways in again at each start, and by the button', async () => {
  const world = wired({ idle: 1000 });
  let file: string | undefined;
  for (let start = 1; start <= 3; start++) {
    const h = await house(world, file);
    file = h.file;
    await h.setup.begin();
    await h.reach('CHANNELS');
    await until(() => h.setup.status().channels.length === 2);
    await until(() => h.progress.includes('pairing ok pairing_open'));
    await h.reach('HINT');
    await until(() => h.setup.status().channels.length === 0);
    assert.ok(h.progress.includes('softap failed hint_restart'));
    assert.is(h.setup.status().done, false);
    h.setup.restart('button');
    await h.reach('CHANNELS');
    await until(() => h.setup.status().channels.length === 2);
    await h.setup.stop();
  }
});

test('with sound and a network a new hub opens its ways in and says the code, until a browser is paired', async () => {
  const world = wired({ audio: { ok: true, reason: '' }, idle: 60_000 });
  const h = await house(world);
  await h.setup.begin();
  await h.reach('CHANNELS');
  assert.equal(h.states, ['AUDIO', 'CHANNELS']);
  await until(() => h.said.length === 2);
  assert.match(h.said[0]!, /password/);
  assert.match(h.said[1]!, /I am ready.*enter the code: d/);
  await until(() => h.setup.status().channels.length === 2);
  h.setup.paired();
  await h.reach('READY');
  await until(() => h.setup.status().channels.length === 0);
  assert.is(h.setup.status().owned, true);
  await h.setup.stop();
  // From now on a start is a start, whatever the link's service says so far, and idle_online is one.
  const again = await house({ ...world, owned: undefined }, h.file);
  await again.setup.begin();
  await again.reach('READY');
  assert.equal(again.states, ['READY']);
  await again.setup.stop();
});

test('an owner who starts setup again by a cable, and goes, finds the hub ready: idle_online', async () => {
  const world = wired({ owned: true });
  const h = await house(world);
  await h.setup.begin();
  h.setup.paired();
  await h.reach('READY_WITH_LIMITS');
  assert.ok(h.states.includes('CHANNELS'));
  h.setup.restart('app');
  await h.reach('CHANNELS');
  await h.reach('READY_WITH_LIMITS');
  await h.setup.stop();
});

test('a cable plugged in while the ways in are open leaves them open, and the code is said once', async () => {
  const world = wired({ online: false, idle: 60_000 });
  const h = await house(world);
  await h.setup.begin();
  await until(() => h.setup.status().channels.length === 2);
  assert.not.ok(h.progress.includes('pairing ok pairing_open'));
  world.online = true;
  await until(() => h.progress.includes('pairing ok pairing_open'));
  world.online = false;
  await new Promise((resolve) => setTimeout(resolve, 30));
  world.online = true;
  await new Promise((resolve) => setTimeout(resolve, 60));
  assert.is(h.setup.state, 'CHANNELS');
  assert.is(h.setup.status().channels.length, 2);
  assert.is(h.progress.filter((p) => p.startsWith('pairing')).length, 1);
  assert.is(h.calls.filter((c) => c === 'code').length, 1);
  await h.setup.stop();
});

test('who was joined and never paired with is offered again at the next start, without losing its network', async () => {
  const world = patient({ owned: false });
  const first = await house(world);
  await first.setup.begin();
  await until(() => first.setup.status().channels.length === 2);
  await first.setup.connect('ble', { ssid: 'home', psk: 'goodgoodgood', hidden: false });
  await first.reach('READY_WITH_LIMITS');
  await until(() => first.progress.includes('pairing ok pairing_open'));
  await first.setup.stop();
  // Its only radio is in the network now.
  Object.assign(world, { online: true, holds: true });
  const second = await house(world, first.file);
  await second.setup.begin();
  await until(() => second.setup.status().channels.includes('ble'));
  await until(() => second.progress.includes('pairing ok pairing_open'));
  assert.equal(second.setup.status().channels, ['ble'], 'no access point takes the radio');
  // Somebody presses the button: then the person wants the access point.
  second.setup.restart('button');
  await until(() => second.setup.status().channels.includes('softap'));
  await second.setup.stop();
  // The network is gone.
  Object.assign(world, { online: false, holds: false });
  const third = await house(world, first.file);
  await third.setup.begin();
  await until(() => third.setup.status().channels.includes('softap'));
  await third.setup.stop();
});

test('a browser that was paired unheard is found, and forgotten ones open the ways in at the next start', async () => {
  const world = wired({ idle: 60_000 });
  const first = await house(world);
  await first.setup.begin();
  await first.reach('CHANNELS');
  world.owned = true;
  await first.reach('READY_WITH_LIMITS');
  world.owned = false;
  await new Promise((resolve) => setTimeout(resolve, 40));
  assert.is(first.setup.state, 'READY_WITH_LIMITS', 'not before a start');
  await first.setup.stop();
  const second = await house(world, first.file);
  await second.setup.begin();
  await until(() => second.setup.state === 'CHANNELS');
  assert.equal(second.states, ['READY_WITH_LIMITS', 'CHANNELS']);
  await second.setup.stop();
});

test('a power cut in the retest of a hub without an owner leads to its open ways in', async () => {
  const world = wired({ idle: 60_000, retest: 60_000 });
  const first = await house(world);
  await first.setup.begin();
  await first.reach('CHANNELS');
  world.audio = 'hangs';
  await first.setup.finish('cli');
  await first.reach('RETEST');
  for (let kept = ''; kept !== 'RETEST'; ) {
    kept = (await peekStore<{ state: string }>(first.file, 'SELECT state FROM ladder'))[0]?.state ?? '';
  }
  // No stop: the process just goes away.
  world.audio = { ok: true, reason: '' };
  const second = await house(world, first.file);
  await second.setup.begin();
  await second.reach('CHANNELS');
  assert.equal(second.states, ['RETEST', 'CHANNELS']);
  await until(() => second.setup.status().channels.length === 2);
  await second.setup.stop();
  await first.setup.stop();
});

test('who ends setup from the setup page keeps it until the link is handed over', async () => {
  const world = wired({ idle: 60_000 });
  const h = await house(world);
  await h.setup.begin();
  await until(() => h.setup.status().channels.length === 2);
  await h.setup.finish('softap');
  await h.reach('READY_WITH_LIMITS');
  await until(() => h.calls.includes('ble stop'));
  assert.equal(h.setup.status().channels, ['softap']);
  h.setup.paired();
  await until(() => h.setup.status().channels.length === 0);
  await h.setup.stop();
});

test('all channels show the same code for a minute, or until it is used or burned', async () => {
  let issued = 0;
  let now = 0;
  let broken = false;
  const shared = sharedPairing(
    async () => {
      if (broken) throw new Error('no root');
      return { link: `l${++issued}`, device_code: 'd', secret: 's', expires_at: 0n };
    },
    () => now,
  );
  const links = await Promise.all([shared.get(), shared.get()]);
  now = 59_999;
  assert.equal(
    [...links, await shared.get()].map((p) => p.link),
    ['l1', 'l1', 'l1'],
  );
  now = 60_000;
  assert.is((await shared.get()).link, 'l2');
  shared.drop();
  broken = true;
  assert.match(String(await shared.get().catch((e) => e)), /no root/);
  broken = false;
  assert.is((await shared.get()).link, 'l3');
});

test.run();
