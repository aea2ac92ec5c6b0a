// What decides inside the records' steps, by itself.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { IngleError } from '../../../firmware/protocol/errors.ts';
import { DEVICE_CODE_TTL } from '../../../firmware/protocol/limits.ts';
import { moved, oneMoreTry } from '../../../root/records/rules.ts';
import { T } from './kit.ts';

const test = suite('rules of the records');

test('a step that the stage does not take is refused and says where it stands', () => {
  assert.is(moved({ stage: 'NEW' }, 'verify'), 'PREAUTH');
  try {
    moved({ stage: 'NEW' }, 'accept');
    assert.unreachable();
  } catch (e) {
    assert.equal([(e as IngleError).code, (e as IngleError).details], ['conflict', { stage: 'NEW' }]);
    assert.match((e as IngleError).message, 'NEW');
  }
});

test('a count of wrong codes begins with the first, also where an earlier one was cleared', () => {
  const anew = { tries: 1, tries_until: T + DEVICE_CODE_TTL };
  assert.equal(oneMoreTry({ tries: 0, tries_until: 0 }, T), anew);
  assert.equal(oneMoreTry({ tries: 0, tries_until: T + 1 }, T), anew, 'a right code cleared it');
  assert.equal(oneMoreTry({ tries: 4, tries_until: T }, T), anew, 'it is over');
  assert.equal(oneMoreTry({ tries: 4, tries_until: T + 1 }, T), { tries: 5, tries_until: T + 1 });
});

test.run();
