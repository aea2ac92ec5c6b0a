// What a piece of work throws, which it must.
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';

export function thrown(work: () => unknown): IngleError {
  try {
    work();
  } catch (e) {
    assert.instance(e, IngleError);
    return e as IngleError;
  }
  throw new assert.Assertion({
    message: 'nothing was thrown',
    details: '',
    generated: true,
    operator: 'throws',
    expects: 'an error',
    actual: 'none',
  });
}
