// Traces of what root does, sent to a collector. Whoever is traced never waits for it: spans that find no room, or no
// collector, are dropped and counted.
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { log } from './log.ts';
import { faultOf, type Observer } from './observe.ts';
import { exportRequest, type Place, parentOf, type Span } from './spans.ts';

/** Spans that wait; the oldest go where there are more. */
const MOST_WAITING = 2048;
const BATCH = 256;
/** How long spans are gathered, and how long a collector may take, milliseconds. */
const GATHER_MS = 1000;
const ANSWER_MS = 5000;
/** Pause after a failure, milliseconds; doubles up to the second. */
const BACKOFF = { min: 1000, most: 60_000 };

/** Methods by name; a client may invent others (semantic conventions for HTTP spans). */
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'];

export interface Traces {
  observer: Observer;
  /** Spans a collector has taken, and those that were dropped. */
  counts(): { sent: number; dropped: number };
  /** Sends what waits, once. */
  stop(): Promise<void>;
}

/** @param collector base address of OTLP over HTTP; `/v1/traces` is below it */
export function openTraces(collector: string): Traces {
  const sender = openSender(`${collector.replace(/\/+$/, '')}/v1/traces`);
  const here = new AsyncLocalStorage<Place>();
  const id = (bytes: number) => randomBytes(bytes).toString('hex');

  const observer: Observer = {
    async request({ endpoint, method, traceparent }, work) {
      const parent = parentOf(traceparent);
      if (parent && !parent.isRecorded) return work();
      const place = { trace_id: parent?.trace_id ?? id(16), span_id: id(8) };
      const [start, began] = [Date.now(), performance.now()];
      const answered = await here.run(place, work);
      const { status } = answered.reply;
      const known = methods.includes(method) ? method : '_OTHER';
      sender.add({
        ...place,
        parent: parent?.span_id ?? '',
        name: `${known} ${endpoint}`,
        kind: 'server',
        start,
        end: start + performance.now() - began,
        attributes: {
          'http.request.method': known,
          'http.response.status_code': status,
          'ingle.endpoint': endpoint,
          ...(answered.error ? { 'ingle.error': answered.error } : {}),
        },
        // What a client did wrong is no error of a server's span.
        error: status >= 500 ? (answered.error ?? String(status)) : '',
      });
      return answered;
    },
    async record(verb, work) {
      const parent = here.getStore();
      if (!parent) return work();
      const place = { trace_id: parent.trace_id, span_id: id(8) };
      const [start, began] = [Date.now(), performance.now()];
      let error = '';
      try {
        return await here.run(place, work);
      } catch (e) {
        error = faultOf(e) ?? '';
        throw e;
      } finally {
        const end = start + performance.now() - began;
        const attributes = { 'db.operation.name': verb };
        const span = { parent: parent.span_id, name: `records ${verb}`, kind: 'client' as const };
        sender.add({ ...place, ...span, start, end, attributes, error });
      }
    },
  };
  return { observer, counts: sender.counts, stop: sender.stop };
}

function openSender(to: string) {
  const waiting: Span[] = [];
  let [sent, dropped, failures] = [0, 0, 0];
  let timer: NodeJS.Timeout | undefined;
  let going: Promise<void> | undefined;
  let isOver = false;

  /** Sends one batch. What the collector does not take is gone. */
  async function post(): Promise<void> {
    const batch = waiting.splice(0, BATCH);
    let why = '';
    try {
      const r = await fetch(to, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(exportRequest('ingle-root', batch)),
        redirect: 'error',
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      await r.body?.cancel();
      if (!r.ok) why = `status ${r.status}`;
    } catch (e) {
      why = (e as Error).name;
    }
    if (why === '') {
      if (failures > 0) log('notice', 'the collector takes traces again');
      sent += batch.length;
      failures = 0;
    } else {
      dropped += batch.length;
      // Once for each time that it goes.
      if (failures++ === 0) log('warn', 'the collector does not take traces', { why });
    }
  }
  function plan(): void {
    if (timer || going || isOver || waiting.length === 0) return;
    const pause =
      failures > 0 ? Math.min(BACKOFF.most, BACKOFF.min * 2 ** Math.min(failures, 10)) : GATHER_MS;
    timer = setTimeout(() => {
      timer = undefined;
      going = post().then(() => {
        going = undefined;
        plan();
      });
    }, pause);
    timer.unref();
  }
  return {
    add(span: Span): void {
      waiting.push(span);
      if (waiting.length > MOST_WAITING) {
        waiting.shift();
        dropped++;
      }
      plan();
    },
    counts: () => ({ sent, dropped }),
    async stop(): Promise<void> {
      isOver = true;
      clearTimeout(timer);
      await going;
      if (waiting.length > 0 && failures === 0) await post();
    },
  };
}
