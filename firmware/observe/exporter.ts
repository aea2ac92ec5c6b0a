// Spans on their way to a collector: gathered, sent one batch after the other, tried again with patience, and dropped with
// a count where there is no room or no hope. Whoever adds one never waits.
import { exchange } from '../system/http.ts';
import type { Log } from '../system/log.ts';
import { type AttributeValue, exportRequest, type Span } from './otlp.ts';

export interface ExporterOptions {
  /** The collector; `/v1/traces` is below it. */
  url: string;
  headers?: Readonly<Record<string, string>>;
  resource: Readonly<Record<string, AttributeValue>>;
  scope: { name: string; version: string };
  log: Log;
  clock: {
    /** Unix milliseconds. */
    wall(): number;
    /** Runs `work` once, in `ms`; the answer cancels it. */
    after(ms: number, work: () => void): () => void;
  };
  /** 0 to 1, for the jitter of tries. */
  random?(): number;
  /** How long the collector may take to answer, milliseconds. */
  timeoutMs?: number;
}

export interface Exporter {
  add(span: Span): void;
  /** Spans that a collector has taken, that were given up, that wait. */
  counts(): { sent: number; dropped: number; waiting: number };
  /** Sends what waits, once and for at most `ms`; what is left then is dropped. */
  stop(ms: number): Promise<void>;
}

/** Spans that wait; the oldest go where there are more. */
export const MOST_WAITING = 2048;
export const BATCH = 256;
/** How long spans are gathered, milliseconds. */
const GATHER_MS = 2000;
const TIMEOUT_MS = 10_000;
const BACKOFF = { min: 1000, most: 60_000 };
/** A collector that asks for more patience gets so much, milliseconds. */
const MOST_PATIENCE = 600_000;
/** What may be tried again (OTLP specification, "Failures"). */
const again = [429, 502, 503, 504];
const MOST_ANSWER = 64 * 1024;

/** What `Retry-After` says, milliseconds; undefined where it says nothing (RFC 9110, 10.2.3). */
export function retryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? undefined : Math.min(MOST_PATIENCE, Math.max(0, ms));
}

/** Of a batch that was taken, what the collector would not have. */
function rejectedOf(body: Buffer, most: number): number {
  try {
    const { partialSuccess } = JSON.parse(body.toString('utf8')) as {
      partialSuccess?: { rejectedSpans?: unknown };
    };
    const count = Number(partialSuccess?.rejectedSpans ?? 0);
    return count > 0 ? Math.min(most, count) : 0;
  } catch {
    return 0;
  }
}

export function openExporter(o: ExporterOptions): Exporter {
  const to = `${o.url.replace(/\/+$/, '')}/v1/traces`;
  const waiting: Span[] = [];
  /** The batch that is on its way. */
  let going: Span[] = [];
  let [sent, dropped, tries] = [0, 0, 0];
  let cancel: (() => void) | undefined;
  let sending: Promise<void> | undefined;
  let [isStopped, isOver] = [false, false];

  function drop(count: number, why: string): void {
    if (count === 0) return;
    dropped += count;
    o.log.debug('traces are dropped', { count, why });
  }
  /** Once for each time that the collector goes. */
  function failed(why: string): void {
    if (tries++ === 0) o.log.warn('the collector of traces does not take them', { why });
  }
  function next(ms: number): void {
    if (isStopped || cancel || waiting.length === 0) return;
    cancel = o.clock.after(ms, () => {
      cancel = undefined;
      void send(o.timeoutMs ?? TIMEOUT_MS);
    });
  }
  const backoff = () =>
    Math.min(BACKOFF.most, BACKOFF.min * 2 ** Math.min(tries - 1, 10)) *
    (0.5 + 0.5 * (o.random ?? Math.random)());

  /** Sends one batch. @returns how long to wait for the next, milliseconds */
  async function post(timeoutMs: number): Promise<number> {
    const batch = waiting.splice(0, BATCH);
    going = batch;
    const giveBack = () => {
      if (isOver) return;
      waiting.unshift(...batch);
      if (waiting.length > MOST_WAITING)
        drop(waiting.splice(0, waiting.length - MOST_WAITING).length, 'there is no room');
    };
    try {
      const { status, headers, body } = await exchange(to, {
        method: 'POST',
        headers: { ...o.headers, 'content-type': 'application/json' },
        body: JSON.stringify(exportRequest(o.resource, o.scope, batch)),
        timeoutMs,
        maxBytes: MOST_ANSWER,
      });
      if (status >= 200 && status < 300) {
        if (tries > 0) o.log.info('the collector of traces takes them again');
        tries = 0;
        const rejected = rejectedOf(body, batch.length);
        sent += batch.length - rejected;
        drop(rejected, 'the collector refuses them');
        return waiting.length >= BATCH ? 0 : GATHER_MS;
      }
      failed(`status ${status}`);
      if (!again.includes(status)) {
        drop(batch.length, `status ${status}`);
        return backoff();
      }
      giveBack();
      return retryAfter(headers['retry-after'], o.clock.wall()) ?? backoff();
    } catch (cause) {
      failed((cause as Error).message);
      giveBack();
      return backoff();
    }
  }
  function send(timeoutMs: number): Promise<void> {
    sending ??= post(timeoutMs).then((ms) => {
      sending = undefined;
      going = [];
      next(ms);
    });
    return sending;
  }

  return {
    add(span) {
      if (isStopped) return drop(1, 'the service ends');
      waiting.push(span);
      if (waiting.length > MOST_WAITING) drop(waiting.splice(0, 1).length, 'there is no room');
      if (!sending) next(GATHER_MS);
    },
    counts: () => ({ sent, dropped, waiting: waiting.length + going.length }),
    async stop(ms) {
      isStopped = true;
      cancel?.();
      const end = o.clock.wall() + ms;
      let release = () => {};
      const late = new Promise<void>((done) => {
        release = o.clock.after(ms, () => {
          isOver = true;
          done();
        });
      });
      const flush = async () => {
        await sending;
        while (waiting.length > 0 && !isOver && tries === 0)
          await send(Math.max(1, Math.min(o.timeoutMs ?? TIMEOUT_MS, end - o.clock.wall())));
      };
      await Promise.race([flush(), late]);
      release();
      isOver = true;
      drop(waiting.splice(0).length + going.splice(0).length, 'the service ends');
    },
  };
}
