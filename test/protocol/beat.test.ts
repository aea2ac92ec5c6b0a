// The heartbeat's question: who can answer it, and what an answer says.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { EMPTY_FRAME } from '../../firmware/protocol/limits.ts';
import { frameKind } from '../../firmware/protocol/wire.ts';
import { bothOpen, type Frame, known, until, type World, world } from './root.ts';

const test = suite('beat');
let w: World;
let beats: number[];
test.after.each(() => w?.close());

const isAnswer = (f: Frame) =>
  f.to === 'browser' && f.frame[0] === frameKind.transport && f.frame.length === EMPTY_FRAME;
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

async function open(): Promise<void> {
  w = await world(known, { paired: true });
  beats = [];
  w.browser.on('beat', (ms) => beats.push(ms));
  await bothOpen(w);
  // The handshake ends with a question of its own.
  await until(() => beats.length === 1);
}

test('each question has one answer, with the time it took on the whole way', async () => {
  await open();
  let asked = 0;
  w.hub.on('beat', () => asked++);
  w.root = (f) => {
    if (!isAnswer(f)) return [f];
    setTimeout(() => w.inject(f), 80);
    return [];
  };
  const began = performance.now();
  w.browser.beat();
  await until(() => beats.length === 2);
  const passed = performance.now() - began;
  assert.is(asked, 1);
  assert.ok(beats[1]! >= 78 && beats[1]! <= passed + 1, `${beats[1]} of ${passed} ms`);
  w.hub.beat();
  await pause(20);
  assert.is(asked, 1, 'the hub asks nothing');
});

test('two answers held back together belong to their questions in order', async () => {
  await open();
  const held: Frame[] = [];
  w.root = (f) => {
    if (isAnswer(f)) held.push(f);
    return isAnswer(f) ? [] : [f];
  };
  w.browser.beat();
  await pause(80);
  w.browser.beat();
  await until(() => held.length === 2);
  held.forEach(w.inject);
  await until(() => beats.length === 3);
  assert.ok(beats[1]! - beats[2]! > 60, `${beats[1]} and ${beats[2]} ms`);
});

test('root can neither make an answer nor use one again, and holds back what it does not pass', async () => {
  await open();
  const old = w.seen.findLast(isAnswer)!;
  w.root = (f) => (isAnswer(f) ? [] : [f]);
  w.browser.beat();
  await until(() => w.seen.findLast(isAnswer) !== old);
  w.inject(old);
  w.inject({ ...old, ctr: old.ctr + 1 });
  const made = { ...old, frame: old.frame.slice(), ctr: old.ctr + 1 };
  made.frame.fill(7, 2);
  w.inject(made);
  await pause(50);
  assert.is(beats.length, 1);
});

test('an answer that never came is not made up for by the one to a question of the next channel', async () => {
  await open();
  w.root = (f) => (isAnswer(f) ? [] : [f]);
  w.browser.beat();
  await pause(60);
  w.root = (f) => [f];
  const began = performance.now();
  w.browser.restart();
  await until(() => beats.length === 2);
  const passed = performance.now() - began;
  assert.ok(beats[1]! <= passed + 1, `${beats[1]} ms counts from the question of the channel before`);
});

test.run();
