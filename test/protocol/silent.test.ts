// gate: out, 9 s
// The typed code when an answer does not come: what is sent again by itself, what stops, and what is counted.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { PROOF_SENDS } from '../../firmware/protocol/limits.ts';
import { responder } from '../../firmware/protocol/noise/responder.ts';
import { generate } from '../../firmware/protocol/noise/x25519.ts';
import { pairingWindow } from '../../firmware/protocol/pairing/pairing.ts';
import { frameKind, resetReason } from '../../firmware/protocol/wire.ts';
import { bothOpen, counters, type Frame, type Root, typed, until, type World, world } from './root.ts';

const test = suite('silence in typed pairing');
let w: World;
test.after.each(() => w?.close());

/** A lost answer is asked for again soon; a busy machine still answers in that time. */
const impatient = { handshake: 500 };
const frames = (kind: number) => w.seen.filter((f) => f.frame[0] === kind).map((f) => f.frame);
const different = (kind: number) => new Set(frames(kind).map((f) => f.join())).size;
/** Loses the first `n` frames of a kind. */
const losing = (kind: number, n: number): Root => {
  let left = n;
  return (f: Frame) => (f.frame[0] === kind && left-- > 0 ? [] : [f]);
};

/** What a bad connection loses, how often, and how many tries of the code that costs. */
const lossy: [what: string, kind: number, times: number][] = [
  ["the browser's share", frameKind.cpace1, 3],
  ["the hub's share", frameKind.cpace2, 3],
  ["the browser's proof", frameKind.cpace3, PROOF_SENDS - 1],
  ["the hub's proof", frameKind.cpace4, PROOF_SENDS - 1],
];
for (const [what, kind, times] of lossy)
  test(`a connection that loses ${what} ${times} times pairs by itself, by one run of the code`, async () => {
    w = await world(typed(), { root: losing(kind, times), timing: impatient });
    await bothOpen(w);
    for (const k of [frameKind.cpace1, frameKind.cpace2, frameKind.cpace3, frameKind.cpace4])
      assert.is(different(k), 1, `kind ${k} was made anew`);
    assert.equal(w.windowFailures, []);
    assert.is(w.window!.left, 3);
    assert.equal([w.atBrowser.alarms, w.atBrowser.failed, w.atHub.alarms], [[], [], []]);
  });

test('a route that is bound anew while the proof is on its way sends the same proof again', async () => {
  w = await world(typed());
  w.root = (f) => {
    if (f.frame[0] !== frameKind.cpace3 || frames(frameKind.cpace3).length > 1) return [f];
    setImmediate(() => w.browser.restart());
    return [];
  };
  await bothOpen(w);
  assert.is(frames(frameKind.cpace3).length, 2);
  assert.is(different(frameKind.cpace3), 1);
  assert.equal([w.windowFailures, w.atBrowser.failed], [[], []]);
});

test('a hub’s end that is closed while it makes its share takes no try, and waits for no proof', async () => {
  w = await world(typed(), { timing: { proof: 20, handshake: 60_000 } });
  const { secret } = w.window!;
  const asked = new Promise<void>((ok) =>
    Object.defineProperty(w.window, 'secret', {
      get() {
        w.hub.close();
        ok();
        return secret;
      },
    }),
  );
  await asked;
  await new Promise((r) => setTimeout(r, 200));
  assert.is(w.window!.left, 3);
  assert.equal([w.windowFailures, w.atHub.alarms, frames(frameKind.cpace2)], [[], [], []]);
});

/** A root that plays the hub with a guess, and says nothing once it has looked at the proof. */
async function silentRoot(after: 'silence' | 'reset') {
  const evil = await generate();
  w = await world(typed(), { timing: { handshake: 150 } });
  let fake = make();
  let share = '';
  function make() {
    const guess = pairingWindow({ psk: new Uint8Array(32), secret: '111111', expiresAt: Infinity });
    return responder({
      ...{ sid: 'sid-1', hubId: 'hub-1', counters: counters(), keys: () => [evil] },
      policy: { knows: () => true, window: () => guess },
      send: (frame, ctr) => void setImmediate(() => w.browser.receive(frame, ctr)),
    });
  }
  w.root = (f) => {
    if (f.to === 'browser') return [];
    if (f.frame[0] !== frameKind.cpace3) {
      // With each new run it makes itself a new guess.
      if (f.frame[0] === frameKind.cpace1 && f.frame.join() !== share) {
        share = f.frame.join();
        fake.close();
        fake = make();
      }
      fake.receive(f.frame, f.ctr);
    } else if (after === 'reset')
      w.inject({ to: 'browser', frame: Uint8Array.of(frameKind.reset, resetReason.noPairing), ctr: 1 });
    return [];
  };
  await until(() => w.atBrowser.failed.length, 'the browser to stop');
  fake.close();
}
for (const after of ['silence', 'reset'] as const)
  test(`a root that plays the hub gets one guess of a typed code, and its ${after} is told`, async () => {
    await silentRoot(after);
    assert.is(different(frameKind.cpace3), 1);
    assert.ok(frames(frameKind.cpace3).length <= PROOF_SENDS);
    assert.equal(w.atBrowser.alarms, ['no_answer']);
    assert.is(w.atBrowser.failed[0]!.code, 'pairing_failed');
    assert.match(w.atBrowser.failed[0]!.message, /did not answer.*new code/);
    w.browser.restart();
    assert.is(w.browser.state, 'failed', 'it tries again by itself');
  });

test('the browser says that its proof goes out, before it does', async () => {
  let atProof = -1;
  w = await world(typed());
  w.browser.on('proving', () => (atProof = frames(frameKind.cpace3).length));
  await bothOpen(w);
  assert.is(atProof, 0);
});

test('a share that the hub gave out and nobody proved is a used try: three burn the code', async () => {
  w = await world(typed(), { root: losing(frameKind.cpace3, 1000), timing: { proof: 50 } });
  for (const left of [2, 1, 0]) {
    await until(() => w.windowFailures.at(-1) === left, `${left} left`);
    w.restartBrowser();
  }
  assert.equal(w.windowFailures, [2, 1, 0]);
  assert.not(w.window!.open);
  assert.ok(w.atHub.alarms.includes('no_answer'));
  w.root = (f) => [f];
  w.restartBrowser();
  await until(() => w.atBrowser.failed.length, 'the right code comes too late');
});

test('a share asked for anew, and one whose session ends, are used tries at once', async () => {
  w = await world(typed(), { root: losing(frameKind.cpace3, 1000) });
  await until(() => frames(frameKind.cpace3).length);
  assert.is(w.window!.left, 2, 'the try is taken with the share');
  w.restartBrowser();
  await until(() => w.windowFailures.length === 1);
  await until(() => w.window!.left === 1);
  w.restartHub();
  assert.equal(w.windowFailures, [2, 1]);
});

test('while the third share waits for its proof no fourth is given out, and the right proof gives its try back', async () => {
  w = await world(typed(), { root: losing(frameKind.cpace3, 2) });
  w.window!.spend();
  w.window!.spend();
  await until(() => frames(frameKind.cpace3).length);
  assert.not(w.window!.open);
  w.browser.restart();
  await until(() => frames(frameKind.cpace3).length === 2);
  w.browser.restart();
  await bothOpen(w);
  assert.is(w.window!.left, 1);
});

test.run();
