// Who gets a notice on a browser that nobody looks at, and what becomes of it there.
import { type Bucket, openBucket, rate, take } from '../protocol/bucket.ts';
import { IngleError } from '../protocol/errors.ts';
import { openQueue, type Queue } from '../protocol/queue.ts';
import type { Log } from '../system/log.ts';
import type { Migration, Store } from '../system/store.ts';
import type { Language } from '../text/i18n.ts';
import {
  checkSubscription,
  type Notice,
  type PushRequest,
  pushRequest,
  type Subscription,
} from './message.ts';
import type { VapidKey } from './vapid.ts';

export const pushSchema: Migration = {
  adds: `CREATE TABLE push (
    browser TEXT PRIMARY KEY, owner_id TEXT NOT NULL, endpoint TEXT NOT NULL, p256dh TEXT NOT NULL,
    auth TEXT NOT NULL, language TEXT NOT NULL) WITHOUT ROWID`,
};

/** Browsers that may be subscribed, on a hub. */
const MOST = 64;
/** Notices of one person: so many at once, and one a minute. Beyond that they wait behind the bell alone. */
const speed = rate(10, 1 / 60);
/** Notices on their way. */
const WAITING = 64;

interface Row extends Record<string, unknown>, Subscription {
  browser: string;
  owner_id: string;
}

export interface Push {
  /** What browsers subscribe with. */
  readonly key: string;
  /** Where the notices of a browser go; null where they go nowhere. */
  endpointOf(browser: string): Promise<string | null>;
  /** @throws IngleError `invalid_request`, `rate_limited` */
  turnOn(browser: string, owner_id: string, to: Subscription): Promise<void>;
  turnOff(browser: string): Promise<void>;
  /**
   * Sends a notice to the browsers of a person; what cannot be sent is told by the log and lost, as it waits in the
   * application. @param isOfHub it is the hub's own word, which skills that say much do not crowd out
   */
  tell(owner_id: string, notice: (language: Language) => Notice, isOfHub?: boolean): void;
  /** What somebody had is gone. */
  forget(owner_id: string): Promise<void>;
}

/**
 * @param o.send brings a request to its push service. @returns the status
 * @param o.paired ids of the browsers that are paired now: one that was forgotten gets nothing
 */
export function openPush(o: {
  store: Pick<Store, 'run' | 'get' | 'all'>;
  key: VapidKey;
  contact: string;
  log: Log;
  send(r: PushRequest): Promise<number>;
  paired(): Promise<ReadonlySet<string>>;
  now?(): number;
}): Push {
  const { store, log, key, contact } = o;
  const now = o.now ?? Date.now;
  const buckets = new Map<string, Bucket>();
  /** By browser, while something is on its way there: in order, and a push service that is silent holds up nobody else. */
  const ways = new Map<string, Queue>();
  let waiting = 0;

  /** Under which name the hub's own notices to somebody are counted. */
  const ofHub = (owner_id: string) => `hub ${owner_id}`;
  const drop = (browser: string) => store.run('DELETE FROM push WHERE browser = ?', browser);

  async function deliver(row: Row, notice: Notice): Promise<void> {
    const request = await pushRequest(row, notice, { key, contact, now: Math.floor(now() / 1000) });
    const status = await o.send(request);
    if (status >= 200 && status < 300) return;
    // RFC 8030, 7.3. What is refused as not signed right may be the fault of this hub's clock, and stays.
    const isOver = status === 404 || status === 410;
    if (isOver) await drop(row.browser);
    log.info(isOver ? 'a browser takes no notices any more' : 'a push service refused a notice', {
      browser: row.browser,
      status,
    });
  }

  async function tellAll(
    owner_id: string,
    notice: (language: Language) => Notice,
    budget: string,
  ): Promise<void> {
    const rows = await store.all<Row>('SELECT * FROM push WHERE owner_id = ?', owner_id);
    if (rows.length === 0) return;
    const bucket = buckets.get(budget) ?? openBucket(speed, now());
    buckets.set(budget, bucket);
    if (!take(bucket, speed, now())) {
      log.info('a notice is not sent: too many at once', { person: owner_id });
      return;
    }
    const paired = await o.paired();
    await Promise.all(
      rows.map((row) => onTheWay(row.browser, () => sent(row, paired, notice(row.language)))),
    );
  }

  async function sent(row: Row, paired: ReadonlySet<string>, notice: Notice): Promise<void> {
    try {
      if (paired.has(row.browser)) await deliver(row, notice);
      else await drop(row.browser);
    } catch (e) {
      // An address is as good as a secret: the log has none of it.
      const why = (e as Partial<IngleError>).code ?? 'internal';
      log.info('a notice is not sent', { browser: row.browser, why });
    }
  }

  async function onTheWay(browser: string, work: () => Promise<void>): Promise<void> {
    const way = ways.get(browser) ?? openQueue();
    ways.set(browser, way);
    await way.add(work);
    if (way.size === 0) ways.delete(browser);
  }

  return {
    key: key.publicKey,
    endpointOf: async (browser) =>
      (await store.get<Row>('SELECT endpoint FROM push WHERE browser = ?', browser))?.endpoint ?? null,
    async turnOn(browser, owner_id, { endpoint, p256dh, auth, language }) {
      checkSubscription({ endpoint, p256dh });
      const others = await store.get<{ n: number }>(
        'SELECT count(*) AS n FROM push WHERE browser != ?',
        browser,
      );
      if ((others?.n ?? 0) >= MOST)
        throw new IngleError(
          'rate_limited',
          `Notices go to at most ${MOST} browsers. Turn them off on another one.`,
        );
      await store.run(
        'INSERT OR REPLACE INTO push (browser, owner_id, endpoint, p256dh, auth, language) VALUES (?, ?, ?, ?, ?, ?)',
        ...[browser, owner_id, endpoint, p256dh, auth, language],
      );
    },
    async turnOff(browser) {
      await drop(browser);
    },
    tell(owner_id, notice, isOfHub = false) {
      if (waiting >= WAITING) {
        log.info('a notice is not sent: too many wait', { person: owner_id });
        return;
      }
      waiting++;
      void tellAll(owner_id, notice, isOfHub ? ofHub(owner_id) : owner_id)
        .catch((cause) => log.error('a notice is not sent', { person: owner_id, cause }))
        .finally(() => waiting--);
    },
    async forget(owner_id) {
      buckets.delete(owner_id);
      buckets.delete(ofHub(owner_id));
      await store.run('DELETE FROM push WHERE owner_id = ?', owner_id);
    },
  };
}
