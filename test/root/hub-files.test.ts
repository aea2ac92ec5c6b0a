// Files asked of a hub over its socket: what a hub that is frozen, late or gone costs.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { openAsks } from '../../root/asks.ts';
import { openHubFiles } from '../../root/hub-files.ts';
import { within } from '../lab/wait.ts';

const test = suite('hub files');
type Ack = (said: unknown) => void;

/** A hub that keeps what is asked of it. */
function fake() {
  const asked: { event: string; message: { id: string }; ms: number; ack: Ack }[] = [];
  const stopped: string[] = [];
  const asks = openAsks();
  const end = {
    emit: (event: string, message: { id: string }, ack: Ack) => asked.push({ event, message, ms: 0, ack }),
    disconnect() {},
    conn: { close() {} },
  };
  const hub = { isThere: true };
  const ways = {
    ask(_: string, event: string, message: object, ms: number) {
      const answer = asks.ask(hub.isThere ? end : undefined, event, message, ms);
      if (asked.length > 0) asked.at(-1)!.ms = ms;
      return answer;
    },
    tell(_: string, event: string, message: object) {
      if (event === 'page.stop' && hub.isThere) stopped.push((message as { id: string }).id);
    },
  };
  function gone() {
    hub.isThere = false;
    asks.gone(end);
  }
  return { ways, asked, stopped, gone, waiting: asks.waiting };
}
const way = { open: 2, file: 100, head: 7, next: 5 };
const of = { owner_id: 'own_a', skill_id: 'dial', path: 'panel' };
const code = (work: Promise<unknown>) =>
  within(
    work.then(
      () => 'done',
      (e: IngleError) => e.code,
    ),
    'an end',
  );
const piece = (length: number, end: boolean) => ({
  ok: true,
  type: 'text/html',
  bytes: Buffer.alloc(length),
  end,
});

test('a hub that does not answer in time is told that nobody waits, and its place is free again', async () => {
  const h = fake();
  const files = openHubFiles(h.ways, way);
  const [one, two] = [files.get('hub', of), files.get('hub', of)];
  assert.is(await code(files.get('hub', of)), 'rate_limited');
  assert.equal([await code(one), await code(two)], ['timeout', 'timeout']);
  assert.equal(
    h.asked.map((a) => [a.event, a.ms]),
    [
      ['page.get', 7],
      ['page.get', 7],
    ],
  );
  assert.equal(
    h.stopped,
    h.asked.map((a) => a.message.id),
  );
  const three = files.get('hub', of);
  h.asked[2]!.ack(piece(1, true));
  assert.is((await three).type, 'text/html');
  assert.is(h.waiting(), 0);
});

test('the pieces come one at a time, in their time and up to their sum', async () => {
  const h = fake();
  const files = openHubFiles(h.ways, way);
  const got = files.get('hub', of);
  h.asked[0]!.ack(piece(60, false));
  const { pieces } = await got;
  assert.is((await pieces.next())!.length, 60);
  const second = pieces.next();
  assert.equal([h.asked.length, h.asked[1]!.event, h.asked[1]!.ms], [2, 'page.next', 5]);
  assert.is(h.asked[1]!.message.id, h.asked[0]!.message.id);
  h.asked[1]!.ack(piece(40, false));
  assert.is((await second)!.length, 40);
  const third = pieces.next();
  h.asked[2]!.ack(piece(1, true));
  assert.is(await code(third), 'too_large');
  assert.is(await pieces.next(), null);
  pieces.stop();
  assert.is(h.stopped.length, 1);
});

test('a hub that goes ends what is asked of it at once', async () => {
  const h = fake();
  const files = openHubFiles(h.ways, way);
  const got = files.get('hub', of);
  h.asked[0]!.ack(piece(1, false));
  const { pieces } = await got;
  await pieces.next();
  const next = pieces.next();
  h.gone();
  assert.is(await code(next), 'hub_offline');
  assert.equal(h.stopped, []);
  assert.is(await code(openHubFiles(h.ways, way).get('hub', of)), 'hub_offline');
});

test('the last piece frees the place without a word', async () => {
  const h = fake();
  const files = openHubFiles(h.ways, { ...way, open: 1 });
  for (let i = 0; i < 3; i++) {
    const got = files.get('hub', of);
    h.asked[i]!.ack(piece(100, true));
    const { pieces } = await got;
    assert.is(await code(files.get('hub', of)), 'rate_limited');
    assert.is((await pieces.next())!.length, 100);
    assert.is(await pieces.next(), null);
  }
  assert.equal(h.stopped, []);
});

test.run();
