// The relay without sockets: what it does where its process may no longer act for its hubs, and where a hub leaves it.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openBacklog } from '../../root/backlog.ts';
import type { End } from '../../root/ends.ts';
import { openRelay } from '../../root/relay.ts';

const test = suite('relay');
const names = { owner_id: 'own', subnet_id: 'net', hub_id: 'hub' };

/** An end that keeps what it is given. */
function end() {
  const got = { frames: [] as number[], events: [] as string[], cut: 0 };
  const made: End = {
    emit: (event) => got.events.push(event),
    disconnect() {},
    conn: { close: () => got.cut++ },
    frame: (ctr) => got.frames.push(ctr) > 0,
  };
  return { ...made, got };
}

async function bound() {
  const state = { holds: true };
  const kept: string[][] = [];
  const records = {
    routes: { bind: async () => {} },
    sessions: { keepStages: async (all: { stage: string }[]) => void kept.push(all.map((s) => s.stage)) },
  };
  const relay = openRelay(records as never, openBacklog(), () => state.holds);
  const [hub, browser] = [end(), end()];
  const line = relay.hubUp('hub', hub);
  relay.hubOnline(line);
  const session = { sid: 'sid', stage: 'AUTH' as const, ...names };
  const { link } = relay.browserUp(session, browser);
  relay.route(session, undefined);
  await relay.bind('hub', 'sid');
  const frame = (ctr: number) => ({ sid: 'sid', frame: new Uint8Array(3), ctr });
  return { relay, state, kept, hub, browser, line, link, session, frame };
}

test('a process that may no longer act passes no frame and writes no stage', async () => {
  const { relay, state, kept, hub, browser, line, link, frame } = await bound();
  assert.ok(relay.toHub(link, browser, frame(1)));
  assert.ok(relay.toBrowser(line, hub, frame(1)));
  await relay.flush();
  assert.equal(kept, [['ONLINE']]);
  relay.browserDown(link, browser);
  state.holds = false;
  assert.not(relay.toHub(link, browser, frame(2)));
  assert.not(relay.toBrowser(line, hub, frame(2)));
  await relay.flush();
  assert.equal(kept.length, 1);
  assert.equal([hub.got.frames, browser.got.frames], [[1], [1]]);
});

test('a process that may no longer act passes no frame of a route that is bound', async () => {
  const { relay, state, hub, browser, line, link, frame } = await bound();
  state.holds = false;
  assert.not(relay.toHub(link, browser, frame(1)));
  assert.not(relay.toBrowser(line, hub, frame(1)));
  assert.equal([hub.got.frames, browser.got.frames], [[], []]);
});

test('a sid that sends more than it may is dropped, and its other direction goes on', async () => {
  const { relay, hub, browser, line, link } = await bound();
  const large = (ctr: number) => ({ sid: 'sid', frame: new Uint8Array(65_535), ctr });
  for (const [send, got] of [
    [(ctr: number) => relay.toHub(link, browser, large(ctr)), hub.got.frames],
    [(ctr: number) => relay.toBrowser(line, hub, large(ctr)), browser.got.frames],
  ] as const) {
    const { rate } = { ...relay.counts().drops };
    let ctr = 1;
    while (ctr < 2000 && send(ctr)) ctr++;
    assert.ok(ctr < 2000, 'it is bounded');
    assert.is(got.length, ctr - 1);
    assert.is(relay.counts().drops.rate, rate + 1);
  }
});

test('a hub that leaves takes its ends along, and what it was asked has no answer', async () => {
  const { relay, hub, browser, link, frame } = await bound();
  const asked = relay.ask('hub', 'page.get', {}, 60_000).catch((e) => e.code);
  relay.leave('hub');
  assert.is(await asked, 'hub_offline');
  assert.equal([hub.got.cut, browser.got.cut], [1, 1]);
  assert.not(relay.isHome('hub'));
  assert.is(relay.live('sid'), undefined);
  assert.not(relay.toHub(link, browser, frame(1)));
  relay.leave('hub');
});

test('a session that leads to another hub is let go, and the others stay', async () => {
  const { relay, hub, browser, session } = await bound();
  const other = end();
  relay.browserUp({ ...session, sid: 'other' }, other);
  relay.letGo('another hub', 'sid');
  assert.is(browser.got.cut, 0, 'it leads here by now');
  relay.letGo('hub', 'sid');
  assert.equal([browser.got.cut, other.got.cut, hub.got.cut], [1, 0, 0]);
  assert.is(relay.live('sid'), undefined);
  assert.equal(relay.live('other'), { stage: 'AUTH', connected: true });
});

test.run();
