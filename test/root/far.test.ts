// Ends of another process's hubs: what their other side makes up reaches no line between processes.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_FRAME } from '../../firmware/protocol/limits.ts';
import { openNear } from '../../root/cluster/far.ts';
import type { Line } from '../../root/cluster/peers.ts';
import { frameHead, reader, say } from '../../root/cluster/wire.ts';
import { thrown } from '../lab/thrown.ts';

const test = suite('ends of other processes');

/** A line whose other side takes apart what comes. */
function newLine() {
  const heard: unknown[] = [];
  const read = reader((m) => heard.push(m.kind === 'say' ? m.body : m.frame.length));
  const line: Line = {
    id: 'home',
    say: (body) => read(say(body)),
    frame(end, ctr, frame) {
      read(Buffer.concat([frameHead(end, ctr, frame.length), frame]));
      return true;
    },
  };
  return { line, heard };
}

test('what an end acknowledges with stays here, however it is made', () => {
  const { line, heard } = newLine();
  const near = openNear({} as never);
  let answer: (said: unknown) => void = () => {};
  const socket = {
    emit: (_event: string, _message: unknown, ack: (said: unknown) => void) => {
      answer = ack;
    },
    disconnect() {},
    conn: { close() {} },
  };
  const end = near.open(line, 'sid', socket as never);
  near.said(line, { end, emit: 'status', message: {}, ack: 7 });
  // JSON that v8 cannot write down.
  answer(JSON.parse(`${'['.repeat(60_000)}${']'.repeat(60_000)}`));
  answer('ы'.repeat(MAX_FRAME));
  assert.equal(heard, [
    { acked: 7, end },
    { acked: 7, end },
  ]);
});

test('a frame that is none goes nowhere', () => {
  const { line, heard } = newLine();
  const near = openNear({} as never);
  const way = near.way(line, near.open(line, 'sid', {} as never));
  const whole = new Uint8Array(MAX_FRAME);
  for (const m of [
    { sid: 'sid', frame: new Uint8Array(MAX_FRAME + 1), ctr: 1 },
    { sid: 'sid', frame: new Uint8Array(2 * MAX_FRAME), ctr: 1 },
    { sid: 'sid', frame: new Uint8Array(0), ctr: 1 },
    { sid: 'sid', frame: whole, ctr: 1.5 },
    { sid: 'other', frame: whole, ctr: 1 },
    null,
  ])
    assert.is(way.frame(m), false);
  assert.equal(heard, []);
  assert.is(way.frame({ sid: 'sid', frame: whole, ctr: 1 }), true);
  assert.equal(heard, [MAX_FRAME]);
});

test('what is too long to say is refused where it would be said', () => {
  assert.is(thrown(() => say({ text: 'ы'.repeat(MAX_FRAME) })).code, 'too_large');
  const { line, heard } = newLine();
  line.say({ text: 'x'.repeat(MAX_FRAME) });
  assert.is(heard.length, 1);
});

test.run();
