// gate: out, 12 s
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { concat, utf8 } from '../../firmware/protocol/bytes.ts';
import type { Access } from '../../firmware/protocol/noise/channel.ts';
import { initiator } from '../../firmware/protocol/noise/initiator.ts';
import { responder } from '../../firmware/protocol/noise/responder.ts';
import { generate } from '../../firmware/protocol/noise/x25519.ts';
import { pairingWindow } from '../../firmware/protocol/pairing/pairing.ts';
import { frameKind } from '../../firmware/protocol/wire.ts';
import {
  bothOpen,
  counters,
  type Frame,
  known,
  link,
  listen,
  psk,
  quick,
  typed,
  until,
  type World,
  world,
} from './root.ts';

const test = suite('hostile root');
let w: World;
test.after.each(() => w?.close());
const text = (m: Uint8Array) => new TextDecoder().decode(m);
const agree = () => w.hub.current && w.browser.current?.hash.join() === w.hub.current.hash.join();
const flip = (f: Frame, at: number): Frame => {
  const frame = f.frame.slice();
  frame[at % frame.length]! ^= 1;
  return { ...f, frame };
};
/** Alters every frame of one kind at the byte `at`. */
const altering = (kind: number, at: number) => (f: Frame) => [f.frame[0] === kind ? flip(f, at) : f];
const either = () => [...w.atBrowser.alarms, ...w.atHub.alarms];

const places: [string, (hub: Uint8Array) => Access, number, number[]][] = [
  ['link, message 1', link, frameKind.ikpsk1, [1, 33, 80, 100]],
  ['link, message 2', link, frameKind.ikpsk2, [1, 20, 33, 48]],
  ['typed, browser’s share', typed(), frameKind.cpace1, [1, 17, 49]],
  ['typed, hub’s share', typed(), frameKind.cpace2, [17, 49]],
  ['typed, browser’s proof', typed(), frameKind.cpace3, [17, 80]],
  ['typed, hub’s proof', typed(), frameKind.cpace4, [1, 64]],
  ['typed, message 1', typed(), frameKind.ikpsk1, [1, 33, 80, 100]],
  ['typed, message 2', typed(), frameKind.ikpsk2, [1, 33, 48]],
];
for (const [name, access, kind, bytes] of places)
  test(`a root that alters ${name} pairs nobody, and it is noticed`, async () => {
    for (const at of bytes) {
      w = await world(access, { root: altering(kind, at), paired: false, timing: { handshake: 1000 } });
      await until(() => either().length || w.atBrowser.failed.length, `noticed at ${at}`);
      assert.not(agree(), `byte ${at}`);
      assert.is(w.atHub.opened.length, 0);
      for (const e of w.atBrowser.failed) assert.is(e.code, 'pairing_failed');
      w.close();
    }
  });

test('a root that alters the first sealed message is noticed by the hub, which lets nobody in', async () => {
  for (const access of [link, typed()]) {
    w = await world(access, {
      root: (f) => [f.to === 'hub' && f.frame[0] === frameKind.transport ? flip(f, 5) : f],
      timing: { handshake: 1000 },
    });
    await until(() => w.atHub.alarms.length);
    assert.is(w.atHub.opened.length, 0);
    w.close();
  }
});

/** A root with two ends of its own: one plays the hub to the browser, one plays a browser to the hub. */
async function middle(
  access: (hub: Uint8Array) => Access,
  guess: (hub: Uint8Array) => Access,
  hubGuess: { psk: Uint8Array; secret: string },
  paired = false,
) {
  const evil = await generate();
  w = await world(access, { paired });
  w.browser.close();
  const timing = quick;
  const ids = { sid: 'sid-1', hubId: 'hub-1' };
  const fakeHub = responder({
    ...ids,
    timing,
    counters: counters(),
    keys: () => [evil],
    policy: { knows: () => true, window: () => pairingWindow({ ...hubGuess, expiresAt: Infinity }) },
    send: (frame, ctr) => void setImmediate(() => w.browser.receive(frame, ctr)),
  });
  const fakeBrowser = initiator({
    ...ids,
    timing,
    counters: counters(),
    key: evil,
    access: guess(w.hubKeys[0]!.publicKey),
    send: (frame, ctr) => void setImmediate(() => w.hub.receive(frame, ctr)),
  });
  w.root = (f) => {
    if (f.to === 'hub') fakeHub.receive(f.frame, f.ctr);
    else fakeBrowser.receive(f.frame, f.ctr);
    return [];
  };
  w.restartBrowser();
  return { fakeHub, fakeBrowser, hubSide: listen(fakeHub), browserSide: listen(fakeBrowser) };
}

test('a root that swaps keys in typed pairing is noticed by both sides, and pairing fails plainly', async () => {
  const m = await middle(typed(), typed('111111'), { psk, secret: '222222' });
  await until(() => w.atBrowser.failed.length && w.atHub.alarms.length);
  assert.is(w.atBrowser.failed[0]!.code, 'pairing_failed');
  assert.equal(w.atBrowser.alarms, ['wrong_code']);
  assert.ok(w.atHub.alarms.includes('wrong_code'));
  assert.is(w.atHub.opened.length + w.atBrowser.opened.length, 0);
  assert.is(m.hubSide.opened.length + m.browserSide.opened.length, 0);
  m.fakeHub.close();
  m.fakeBrowser.close();
});

test('a root that knows all public keys but not the link’s secret gets in on neither side', async () => {
  const none = new Uint8Array(32);
  const m = await middle(link, (hub) => ({ ...link(hub), psk: none }), { psk: none, secret: '0' });
  await until(() => m.hubSide.alarms.length, 'the browser’s first message is not for root');
  await until(() => m.browserSide.failed.length, 'the hub lets nobody in without the secret');
  assert.is(m.hubSide.opened.length + m.browserSide.opened.length, 0);
  assert.is(w.atHub.opened.length + w.atBrowser.opened.length, 0);
  m.fakeHub.close();
  m.fakeBrowser.close();
});

test('a root with a static key of its own is not a paired browser, and cannot be the pinned hub', async () => {
  const m = await middle(known, known, { psk, secret: '0' }, true);
  await until(() => m.hubSide.alarms.includes('altered'));
  await until(() => w.atHub.alarms.includes('unknown_browser'));
  assert.is(w.atBrowser.opened.length + m.hubSide.opened.length, 0);
  assert.is(m.browserSide.opened.length, 0);
  m.fakeHub.close();
  m.fakeBrowser.close();
});

test('a hostile hub end learns at most one guess of the code for each time a person types it', async () => {
  w = await world(typed('999999'));
  await until(() => w.atBrowser.failed.length);
  const proofs = w.seen.filter((f) => f.frame[0] === frameKind.cpace3).length;
  assert.is(proofs, 1);
  assert.is(w.window!.left, 2);
});

test('every frame replayed, as it was or renumbered, changes nothing and is noticed', async () => {
  w = await world(link);
  await bothOpen(w);
  await w.browser.send(utf8('open the door'));
  await w.hub.send(utf8('opened'));
  await until(() => w.atHub.messages.length === 1 && w.atBrowser.messages.length === 1);
  const old = [...w.seen];
  w.browser.restart();
  await until(() => w.atHub.opened.length === 2 && agree());
  // Until each end has heard the other under the new keys, old frames may still be innocently under way.
  await w.hub.send(utf8('again'));
  await until(() => w.atBrowser.messages.length === 2);
  for (const f of old) {
    w.inject(f);
    if (f.frame[0] !== frameKind.transport) w.inject({ ...f, ctr: f.ctr + 1_000_000 });
  }
  await until(() => w.atHub.alarms.includes('replayed'));
  await until(() => w.atBrowser.alarms.includes('replayed'));
  // Frames are judged in order, so whatever the old ones did, they did it before these.
  await Promise.all([w.browser.send(utf8('still here')), w.hub.send(utf8('here too'))]);
  await until(() => text(w.atHub.messages.at(-1)!) === 'still here');
  await until(() => text(w.atBrowser.messages.at(-1)!) === 'here too');
  assert.equal(w.atHub.messages.map(text), ['open the door', 'still here']);
  assert.equal(w.atBrowser.messages.map(text), ['opened', 'again', 'here too']);
  assert.is(w.atHub.opened.length, 2);
});

test('a renumbered sealed frame is noticed, not delivered, and both ends come back', async () => {
  w = await world(known, { paired: true });
  await bothOpen(w);
  await w.browser.send(utf8('one'));
  await until(() => w.atHub.messages.length === 1);
  const f = w.seen.filter((x) => x.to === 'hub').at(-1)!;
  w.inject({ ...f, ctr: f.ctr + 1 });
  await until(() => w.atHub.alarms.includes('altered'));
  await until(() => w.atHub.opened.length === 2 && agree());
  assert.equal(w.atHub.messages.map(text), ['one']);
});

test('forged resets cost a handshake each at most, and are answered no faster than the pause allows', async () => {
  const [backoff, backoffMax] = [50, 1000];
  w = await world(known, { paired: true, timing: { backoff, backoffMax } });
  await bothOpen(w);
  const began = Date.now();
  for (let i = 0; i < 200; i++) {
    w.inject({ to: 'browser', frame: Uint8Array.of(frameKind.reset, 1), ctr: 1_000_000 + i });
    await new Promise((r) => setImmediate(r));
  }
  await until(() => agree());
  const shakes = w.seen.filter((f) => f.frame[0] === frameKind.ik1).length;
  // The first, one at once, and then one after each pause, which is at least three quarters of its length.
  const took = Date.now() - began;
  let most = 1;
  for (let at = 0, pause = backoff; at <= took; pause = Math.min(backoffMax, 2 * pause)) {
    most++;
    at += 0.75 * pause;
  }
  assert.ok(shakes <= most, `${shakes} handshakes in ${took} ms`);
});

test('a flood of handshakes is answered no faster than the limit', async () => {
  w = await world(known, { paired: true, timing: { refill: 60_000 } });
  await bothOpen(w);
  const m1 = w.seen.find((f) => f.frame[0] === frameKind.ik1)!;
  for (let i = 0; i < 500; i++) w.inject({ ...m1, ctr: 1_000_000 + i });
  await w.browser.send(utf8('still here'));
  await until(() => w.atHub.messages.length === 1);
  assert.is(w.seen.filter((f) => f.frame[0] === frameKind.ik2).length, 1);
});

test('whatever root loses, doubles, delays, cuts or alters: what arrives is a part of what was sent, in order, once', async () => {
  const act = fc.constantFrom(
    'pass',
    'pass',
    'pass',
    'pass',
    'drop',
    'double',
    'hold',
    'alter',
    'cut',
    'replay',
    'forge',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 60 }), fc.nat(), async (acts, seed) => {
      let n = 0;
      let held: Frame[] = [];
      w = await world(known, {
        paired: true,
        timing: { handshake: 150, backoffMax: 5 },
        root(f) {
          const a = acts[n++];
          const late = held;
          held = [];
          if (a === 'drop') return late;
          if (a === 'double') return [f, f, ...late];
          if (a === 'hold') held = [f];
          if (a === 'hold') return late;
          if (a === 'alter') return [flip(f, seed + n), ...late];
          if (a === 'cut')
            return [{ ...f, frame: f.frame.subarray(0, (seed + n) % f.frame.length) }, ...late];
          if (a === 'replay') return [f, ...w.seen.slice(-4), ...late];
          if (a === 'forge')
            return [
              f,
              { ...f, frame: concat(f.frame.subarray(0, 2), new Uint8Array(40)), ctr: f.ctr + 1 },
              ...late,
            ];
          return [f, ...late];
        },
      });
      const sent = { hub: [] as string[], browser: [] as string[] };
      for (let i = 0; i < 40; i++) {
        for (const end of ['hub', 'browser'] as const) {
          if (w[end].state !== 'open') continue;
          sent[end].push(String(i));
          w[end].send(utf8(String(i))).catch(() => {});
        }
        await new Promise((r) => setTimeout(r, 1));
      }
      // With an honest root again, the two find each other without a person.
      n = acts.length;
      await until(() => agree() && w.browser.state === 'open');
      await w.browser.send(utf8('end')).catch(() => {});
      for (const [from, heard] of [
        ['browser', w.atHub],
        ['hub', w.atBrowser],
      ] as const) {
        const got = heard.messages.map(text).filter((m) => m !== 'end');
        let at = -1;
        for (const m of got) {
          const next = sent[from].indexOf(m, at + 1);
          assert.ok(next > at, `${from}: ${m} twice, out of order or never sent`);
          at = next;
        }
      }
      w.close();
    }),
    { numRuns: 30 },
  );
});

test.run();
