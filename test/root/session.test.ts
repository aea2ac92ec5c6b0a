// Sids that a browser brings back.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { browserOf, openSession, sessionOf } from '../../root/session.ts';
import { rootInMemory } from './memory.ts';

const test = suite('sessions');

test("a sid is resumed at the stage on record while its hub's home cannot be asked", async () => {
  const { root } = await rootInMemory();
  const made = await openSession(root, '', undefined);
  const cookie = browserOf(root, made.cookie!.split(';')[0]!, '');
  const { sid, stage } = await sessionOf(root, made.body.sid, cookie);
  root.ways.live = async () => {
    throw new IngleError('unavailable', 'Another node cannot be reached. Try again in a moment.');
  };
  assert.equal((await openSession(root, cookie, sid)).body, { sid, stage });
  // Where it can, what it says is newer.
  root.ways.live = async () => ({ stage: 'BOUND' }) as never;
  assert.equal((await openSession(root, cookie, sid)).body, { sid, stage: 'BOUND' });
});

test.run();
