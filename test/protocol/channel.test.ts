import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_MESSAGE } from '../../firmware/protocol/limits.ts';
import { generate } from '../../firmware/protocol/noise/x25519.ts';
import { frameKind } from '../../firmware/protocol/wire.ts';
import { bothOpen, type Frame, known, link, typed, until, type World, world } from './root.ts';

const test = suite('channel');
const text = (list: Uint8Array[]) => list.map((m) => new TextDecoder().decode(m));
const bytes = (s: string) => new TextEncoder().encode(s);
let w: World;
test.after.each(() => w?.close());

test('a paired browser and its hub open a channel and hear each other in order', async () => {
  w = await world(known, { paired: true });
  await bothOpen(w);
  const [b, h] = [w.atBrowser.opened[0]!, w.atHub.opened[0]!];
  assert.equal(b.hash, h.hash);
  assert.equal(b.remoteStatic, w.hubKeys[0]!.publicKey);
  assert.equal(h.remoteStatic, w.browserKey.publicKey);
  assert.is(b.mode, 'known');
  assert.ok(b.first && h.first);
  const words = Array.from({ length: 300 }, (_, i) => `word ${i}`);
  await Promise.all(words.flatMap((x) => [w.browser.send(bytes(x)), w.hub.send(bytes(x))]));
  await until(() => w.atHub.messages.length === 300 && w.atBrowser.messages.length === 300);
  assert.equal(text(w.atHub.messages), words);
  assert.equal(text(w.atBrowser.messages), words);
  assert.not(w.seen.some((f) => new TextDecoder().decode(f.frame).includes('word')));
  const big = new Uint8Array(MAX_MESSAGE).fill(1);
  await w.browser.send(big);
  await until(() => w.atHub.messages.length === 301);
  assert.is(w.atHub.messages[300]!.length, MAX_MESSAGE);
  assert.is(await w.browser.send(new Uint8Array(MAX_MESSAGE + 1)).catch((e) => e.code), 'too_large');
});

test('a link pairs once, and its code is then spent', async () => {
  w = await world(link);
  await bothOpen(w);
  assert.is(w.atHub.opened[0]!.mode, 'link');
  assert.is(w.window!.open, false);
  const other = await generate();
  w.browserKey = other;
  w.restartBrowser();
  await until(() => w.atBrowser.failed.length);
  assert.is(w.atBrowser.failed[0]!.code, 'pairing_failed');
});

test('a typed code pairs, teaches the browser the hub’s key, and the hub’s key is the true one', async () => {
  w = await world(typed());
  await bothOpen(w);
  assert.is(w.atBrowser.opened[0]!.mode, 'typed');
  assert.equal(w.atBrowser.opened[0]!.remoteStatic, w.hubKeys[0]!.publicKey);
  assert.equal(w.atHub.opened[0]!.remoteStatic, w.browserKey.publicKey);
  assert.equal(w.atBrowser.opened[0]!.hash, w.atHub.opened[0]!.hash);
  assert.not(w.seen.some((f) => new TextDecoder().decode(f.frame).includes('507226')));
});

test('a mistyped code fails plainly, and the third mistake burns the code', async () => {
  w = await world(typed('507227'));
  for (let i = 1; i <= 3; i++) {
    await until(() => w.atBrowser.failed.length);
    assert.is(w.atBrowser.failed[0]!.code, 'pairing_failed');
    assert.equal(w.atBrowser.alarms, ['wrong_code']);
    assert.is(w.window!.left, 3 - i);
    w.restartBrowser();
  }
  assert.equal(w.windowFailures, [2, 1, 0]);
  w.restartBrowser({ mode: 'typed', secret: '507226' });
  await until(() => w.atBrowser.failed.length, 'the right code comes too late');
  assert.is(w.hub.state, 'shaking');
});

test('two mistakes leave one try, and the right code then pairs', async () => {
  w = await world(typed('507227'));
  for (let i = 0; i < 2; i++) {
    await until(() => w.atBrowser.failed.length);
    w.restartBrowser(i ? { mode: 'typed', secret: '507226' } : undefined);
  }
  await bothOpen(w);
  assert.is(w.atHub.opened[0]!.mode, 'typed');
});

test('pairing survives a hub or a page that is killed in the middle', async () => {
  async function killedAt(access: typeof link, end: 'hub' | 'browser', at: number): Promise<void> {
    let n = 0;
    const w = await world(access, { timing: { handshake: 3000 } });
    const agreed = () => w.hub.current && w.browser.current?.hash.join() === w.hub.current.hash.join();
    w.root = (f) => {
      if (++n === at) setImmediate(() => (end === 'hub' ? w.restartHub() : w.restartBrowser()));
      return n === at ? [] : [f];
    };
    await until(() => (n >= at && agreed()) || w.atBrowser.failed.length, `${end} killed at ${at}`).finally(
      w.close,
    );
    // Two moments of a typed code need a person: a page killed after its last proof and before it kept the hub's key,
    // and a hub killed with the proof on its way or just looked at, as the same code is never proved twice.
    if (w.atBrowser.failed.length)
      assert.ok(
        access !== link && (end === 'browser' ? !w.window!.open : at === 3 || at === 4),
        `${end} killed at ${at}`,
      );
  }
  // Each waits for an answer that does not come, so they wait together.
  const moments = (access: typeof link) => Array.from({ length: access === link ? 3 : 7 }, (_, i) => i + 1);
  await Promise.all(
    [link, typed() as typeof link].flatMap((access) =>
      (['hub', 'browser'] as const).flatMap((end) => moments(access).map((at) => killedAt(access, end, at))),
    ),
  );
});

/** Loses the first sealed frame to one end. */
const losing = (to: 'hub' | 'browser') => {
  let lost = false;
  return (f: Frame) => {
    const loses = !lost && f.to === to && f.frame[0] === frameKind.transport;
    lost ||= loses;
    return loses ? [] : [f];
  };
};
for (const [name, access] of [
  ['known', known],
  ['link', link],
  ['typed', typed()],
] as const)
  test(`a relay that loses the first sealed frame is not taken for a hostile one (${name})`, async () => {
    for (const to of ['browser', 'hub'] as const) {
      w = await world(access, { paired: access === known, root: losing(to), timing: { handshake: 3000 } });
      const agreed = () => w.hub.current && w.browser.current?.hash.join() === w.hub.current.hash.join();
      // More than one frame, so that the end sees the second without the first.
      const talk = () => {
        for (const end of [w.hub, w.browser]) if (end.current) end.send(bytes('x')).catch(() => {});
      };
      const timer = setInterval(talk, 5);
      await until(
        () => (to === 'hub' ? w.atHub : w.atBrowser).messages.length > 0 && agreed(),
        `open past a loss to the ${to}`,
      );
      clearInterval(timer);
      assert.ok(w.seen.filter((f) => f.frame[0] === frameKind.transport).length > 2);
      assert.equal(w.atBrowser.alarms, [], to);
      assert.not(w.atHub.alarms.includes('altered') || w.atHub.alarms.includes('wrong_code'), to);
      assert.equal(w.windowFailures, []);
      w.close();
    }
  });

test('answers to what an earlier page of the session began come late and innocently', async () => {
  for (const access of [link, typed()]) {
    const held: Frame[] = [];
    w = await world(access, {
      root: (f) => {
        if (f.to === 'hub') return [f];
        held.push(f);
        return [];
      },
    });
    await until(() => held.length, 'the hub answered');
    w.restartBrowser();
    w.root = (f) => (f.to === 'browser' ? [...held.splice(0), f] : [f]);
    await bothOpen(w);
    assert.equal(w.atBrowser.alarms, []);
    assert.equal(w.atBrowser.lost, []);
    w.close();
  }
});

test('new keys come while messages flow, and none is lost', async () => {
  w = await world(known, { paired: true });
  await bothOpen(w);
  let sent = 0;
  const stop = Date.now() + 10_000;
  while (w.atHub.opened.length < 6 && Date.now() < stop) {
    w.browser.rekey();
    for (let i = 0; i < 20; i++) {
      const x = bytes(String(sent++));
      await Promise.all([w.browser.send(x), w.hub.send(x)]);
    }
  }
  await until(() => w.atHub.messages.length === sent && w.atBrowser.messages.length === sent);
  assert.equal(
    text(w.atHub.messages),
    Array.from({ length: sent }, (_, i) => String(i)),
  );
  assert.equal(
    text(w.atBrowser.messages),
    Array.from({ length: sent }, (_, i) => String(i)),
  );
  assert.equal(w.atBrowser.lost, []);
  assert.equal(w.atHub.lost, []);
  assert.ok(w.atHub.opened.slice(1).every((o) => !o.first));
  assert.is(new Set(w.atHub.opened.map((o) => o.hash.join())).size, w.atHub.opened.length);
});

test('keys change by themselves when their time is up', async () => {
  w = await world(known, { paired: true, timing: { rekey: 30 } });
  await until(() => w.atHub.opened.length > 3 && w.atBrowser.opened.length > 3);
  assert.equal(w.atHub.lost, []);
});

test('a rotated hub key is followed without losing the channel', async () => {
  w = await world(known, { paired: true });
  await bothOpen(w);
  const next = await generate();
  w.hubKeys.unshift(next);
  w.browser.rekey(next.publicKey);
  await until(() => w.atHub.opened.length === 2 && w.atBrowser.opened.length === 2);
  assert.equal(w.atBrowser.opened[1]!.remoteStatic, next.publicKey);
  w.hubKeys = [next];
  w.browser.restart();
  await until(() => w.atHub.opened.length === 3);
  assert.equal(w.atBrowser.lost, ['restarted']);
});

test('either end may be killed at any moment: both are open again by themselves and know it is a new channel', async () => {
  w = await world(known, { paired: true });
  await bothOpen(w);
  for (let i = 0; i < 6; i++) {
    const hash = w.browser.current!.hash;
    if (i % 2) w.restartHub();
    else w.restartBrowser();
    w.browser.send(bytes('x')).catch(() => {});
    await until(
      () =>
        w.browser.current &&
        w.hub.current &&
        w.browser.current.hash.join() === w.hub.current.hash.join() &&
        w.browser.current.hash.join() !== hash.join(),
    );
    assert.ok(w.browser.current!.first && w.hub.current!.first);
  }
});

test('a browser restart while the hub is sending does not confuse the new channel with the old', async () => {
  w = await world(known, { paired: true });
  await bothOpen(w);
  for (let round = 2; round < 8; round++) {
    w.restartBrowser();
    const timer = setInterval(() => w.hub.send(bytes(`old ${round}`)).catch(() => {}), 0);
    await until(() => w.atHub.opened.length === round);
    clearInterval(timer);
    await w.hub.send(bytes(`new ${round}`)).catch(() => {});
    await until(() => text(w.atBrowser.messages).includes(`new ${round}`));
    assert.equal(w.atBrowser.lost, []);
    assert.equal(w.atBrowser.alarms, []);
  }
});

test('a browser the hub does not know is told so, and the hub is warned', async () => {
  w = await world(known, { noWindow: true });
  await until(() => w.atBrowser.lost.includes('unknown_browser'));
  assert.equal(w.atHub.alarms, ['unknown_browser']);
  assert.is(w.hub.state, 'shaking');
});

test('numbers never repeat over restarts of either end', async () => {
  w = await world(known, { paired: true });
  await bothOpen(w);
  for (let i = 0; i < 4; i++) {
    w.restartHub();
    w.restartBrowser();
    await bothOpen(w);
  }
  for (const to of ['hub', 'browser']) {
    const all = w.seen.filter((f) => f.to === to).map((f) => f.ctr);
    assert.ok(all.every((n, i) => i === 0 || n > all[i - 1]!));
  }
});

test('sending on a channel that is not open is refused at once', async () => {
  w = await world(known, { noWindow: true });
  assert.is(await w.browser.send(bytes('x')).catch((e) => e.code), 'unavailable');
  assert.is(await w.hub.send(bytes('x')).catch((e) => e.code), 'unavailable');
});

test('new keys that are asked for before the first ones are confirmed are asked for again when their answer is lost', async () => {
  let answers = 0;
  w = await world(known, {
    paired: true,
    // Long enough for a busy machine: an answer that comes late is asked for once more.
    timing: { handshake: 1500 },
    root: (f) => (f.frame[0] === frameKind.ik2 && ++answers === 2 ? [] : [f]),
  });
  w.browser.on('open', (o) => o.first && answers === 1 && w.browser.rekey());
  await until(() => w.atBrowser.opened.length === 2, 'a channel again');
  assert.equal(w.atBrowser.lost, ['timeout']);
  assert.is(answers, 3);
});

test.run();
