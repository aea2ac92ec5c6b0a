// Fetches for skills: who asks by the bus's word, what it may by its manifest on disk, and how much. Fetches for scenarios,
// which ingle-scenario alone may ask for, and notices to push services, which the local API alone may, by the bus's policy.
import { fetch1 } from '../fetch/contract.ts';
import { exchange, post, type Way } from '../fetch/exchange.ts';
import { type Bucket, openBucket, rate, take } from '../protocol/bucket.ts';
import { IngleError } from '../protocol/errors.ts';
import type { Bus } from '../system/bus.ts';
import { type Config, version } from '../system/config.ts';
import type { Log } from '../system/log.ts';
import { checkManifest } from './manifest.ts';
import { manifestOf, readSlots } from './table.ts';
import { slotOf } from './whose.ts';

/** Fetches of a slot at once, and a minute. */
const AT_ONCE = 4;
const perMinute = rate(60, 1);
/** Scenarios together are bounded as one slot is; slots count from 1. */
const SCENARIOS = 0;
/** Notices that go out at once. */
const PUSHES = 8;

/** How the hub calls itself (RFC 9110, 10.1.5), with whom to turn to where the maker says it. */
export function agentOf({ contact }: Pick<Config, 'contact'>): string {
  const plain = contact.replace(/[^\x21-\x7e]|[()\\]/g, '').slice(0, 200);
  return `Ingle/${version}${plain ? ` (+${plain})` : ''}`;
}

/** What one slot has used. */
interface Used {
  bucket: Bucket;
  now: number;
}

/**
 * Serves io.ingle.Fetch1.
 * @returns whether a fetch goes on
 */
export async function serveFetch(
  bus: Bus,
  o: {
    config: Pick<Config, 'skills' | 'data' | 'contact'>;
    way: Way;
    log: Log;
    onCall?: () => void;
    ms?: number;
  },
): Promise<{ busy(): boolean }> {
  const used = new Map<number, Used>();
  const agent = agentOf(o.config);
  let pushes = 0;

  function begin(slot: number): Used {
    const now = performance.now();
    const u = used.get(slot) ?? { bucket: openBucket(perMinute, now), now: 0 };
    used.set(slot, u);
    if (u.now >= AT_ONCE)
      throw new IngleError('rate_limited', `At most ${AT_ONCE} fetches go on at once. Wait for one to end.`);
    if (!take(u.bucket, perMinute, now))
      throw new IngleError('rate_limited', 'At most 60 fetches are made in a minute. Wait a minute.');
    u.now++;
    return u;
  }

  const { onCall } = o;
  await bus.serve(
    fetch1,
    {
      async Fetch(asked, { sender }) {
        const slot = await slotOf(
          bus,
          readSlots(o.config).slots,
          sender,
          'Only a skill may have the hub fetch for it.',
        );
        const u = begin(slot.slot);
        try {
          const { permissions } = checkManifest(manifestOf(o.config, slot));
          return await exchange(o.way, asked, permissions?.hosts ?? [], agent, o.ms);
        } catch (cause) {
          // The address may hold a key, so the log has none of it.
          o.log.info('a fetch failed', {
            skill: slot.skill_id,
            why: (cause as Partial<IngleError>).code ?? 'internal',
          });
          throw cause;
        } finally {
          u.now--;
        }
      },
      async FetchFrom({ hosts, ...asked }) {
        const u = begin(SCENARIOS);
        try {
          return await exchange(o.way, asked, hosts, agent, o.ms);
        } catch (cause) {
          o.log.info('a fetch failed', {
            for: 'scenario',
            why: (cause as Partial<IngleError>).code ?? 'internal',
          });
          throw cause;
        } finally {
          u.now--;
        }
      },
      async Push(asked) {
        if (pushes >= PUSHES)
          throw new IngleError('rate_limited', `At most ${PUSHES} notices go out at once. Wait for one.`);
        pushes++;
        try {
          return { status: await post(o.way, asked, agent, o.ms) };
        } finally {
          pushes--;
        }
      },
    },
    onCall ? { onCall } : {},
  );
  return { busy: () => pushes > 0 || [...used.values()].some((u) => u.now > 0) };
}
