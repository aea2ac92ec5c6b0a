// Who may send to a hook: whoever has its secret, in time and not too often; all others hear the same.
import { type Bucket, openBucket, rate, take } from '../protocol/bucket.ts';
import { random } from '../protocol/bytes.ts';
import { IngleError, toIngleError } from '../protocol/errors.ts';
import { parseJson } from '../protocol/json.ts';
import { holds, type Signed, TOLERANCE_S } from './signature.ts';

/** Why a message was refused last. */
export type Refusal = 'signature' | 'secret_lost' | 'time' | 'replay' | 'rate' | 'body';

/** Messages of a hook at once, and a second. */
const mine = rate(60, 1);
/** Messages that are nobody's, of all hooks and of those that are not there. */
const wrong = rate(60, 5);

/** A hook in memory. */
export interface Known {
  topic: string;
  /** Undefined where it cannot be opened any more. */
  secret: Uint8Array | undefined;
  bucket: Bucket;
  refused: { at: number; reason: Refusal } | null;
}

/** @param now milliseconds */
export function openDoor(known: ReadonlyMap<string, Known>, now: () => number) {
  const strangers = openBucket(wrong, now());
  /** Whose secret a message to no hook is held against, so that it takes the same time. */
  const nobody = random(32);
  const seconds = () => Math.floor(now() / 1000);

  function refuse(hook: Known, reason: Refusal, e: IngleError): never {
    hook.refused = { at: seconds(), reason };
    throw e;
  }

  /** Counts what nobody's secret signed, or what came before; refuses in the same words whether there is a hook. */
  function stranger(hook: Known | undefined, reason: Refusal, error: IngleError): never {
    if (hook) hook.refused = { at: seconds(), reason };
    if (!take(strangers, wrong, now()))
      throw new IngleError('rate_limited', 'Too many messages that are not signed right.', {
        retry_after: 10,
      });
    throw error;
  }

  return {
    refuse,
    stranger,
    bucket: (): Bucket => openBucket(mine, now()),
    /** Whether a hook takes one message more now. */
    mayTake: (hook: Known): boolean => take(hook.bucket, mine, now()),
    /** Who is let in is who has the secret; of a hook that is not there everything is wrong. */
    authenticate(id: string, signed: Signed, body: Uint8Array): Known {
      const hook = known.get(id);
      const isRight = holds(hook?.secret ?? nobody, signed, body);
      if (hook?.secret && isRight) return hook;
      const error = new IngleError(
        'unauthenticated',
        'No signature of this message holds. Check the address and the secret.',
      );
      return stranger(hook, hook && !hook.secret ? 'secret_lost' : 'signature', error);
    },
    /** What a signed message says, or why it is not taken. */
    admit(hook: Known, m: Signed, body: Uint8Array): unknown {
      if (Math.abs(seconds() - m.at) > TOLERANCE_S)
        return refuse(
          hook,
          'time',
          new IngleError(
            'forbidden',
            'The time of this message is more than 5 minutes off. Set the clock right and sign anew.',
          ),
        );
      try {
        return parseJson(body);
      } catch (e) {
        return refuse(hook, 'body', toIngleError(e));
      }
    },
  };
}
