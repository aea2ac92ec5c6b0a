// What root counts, for Prometheus (prom-client). What happens on the way of a frame is a plain number where it happens,
// and is read when somebody asks; no label tells a person, a hub or an address.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type Answered, faultOf, type Observer } from './observe.ts';

/** What is read when somebody asks. Counts grow from the start of the process on. */
export interface Readings {
  connections: { browser: number; hub: number; stranger: number };
  /** Frames that went on, and their bytes: `up` from browsers to hubs. */
  frames: { up: number; down: number };
  bytes: { up: number; down: number };
  /** Frames and events that were dropped, by reason. */
  drops: Readonly<Record<string, number>>;
  /** Connections that were closed for a flood, and those that were not let in. */
  floods: number;
  refused: number;
  /** Bytes that wait for receivers, and of packets that wait for their turn. */
  behind: number;
  held: number;
  draining: boolean;
  /** Spans of traces that a collector has taken, and those that were dropped. */
  spans: { sent: number; dropped: number };
}

export interface Metrics {
  observer: Observer;
  /** From now on this is read. */
  read(readings: () => Readings): void;
  /** All metrics in the text format. */
  text(): Promise<string>;
  contentType: string;
}

/** Seconds: from an answer out of memory to a database that hardly answers. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

export function openMetrics(): Metrics {
  const registry = new Registry();
  let readings: (() => Readings) | undefined;
  collectDefaultMetrics({ register: registry });
  register(registry, () => readings?.());
  return {
    observer: watch(registry),
    read(from) {
      readings = from;
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

/** The metrics that are read. */
function register(registry: Registry, read: () => Readings | undefined): void {
  type Values = Readonly<Record<string, number>>;
  const registers = [registry];
  function gauge(name: string, help: string, value: (r: Readings) => number): void {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const r = read();
        if (r) this.set(value(r));
      },
    });
  }
  function gauges(name: string, help: string, label: string, values: (r: Readings) => Values): void {
    new Gauge({
      name,
      help,
      registers,
      labelNames: [label],
      collect() {
        const r = read();
        for (const [k, v] of Object.entries(r ? values(r) : {})) this.set({ [label]: k }, v);
      },
    });
  }
  /** @param label '' for a counter that is one number */
  function counter(name: string, help: string, label: string, values: (r: Readings) => Values): void {
    new Counter({
      name,
      help,
      registers,
      labelNames: label ? [label] : [],
      collect() {
        const r = read();
        if (!r) return;
        this.reset();
        for (const [k, v] of Object.entries(values(r))) this.inc(label ? { [label]: k } : {}, v);
      },
    });
  }
  gauges('ingle_root_connections', 'Open WebSockets.', 'kind', (r) => r.connections);
  counter(
    'ingle_root_frames_total',
    'Frames passed on; up is from browsers to hubs.',
    'direction',
    (r) => r.frames,
  );
  counter('ingle_root_frame_bytes_total', 'Bytes of frames passed on.', 'direction', (r) => r.bytes);
  counter('ingle_root_dropped_total', 'Frames and events dropped.', 'reason', (r) => r.drops);
  counter('ingle_root_floods_total', 'Connections closed because they sent too much.', '', (r) => ({
    all: r.floods,
  }));
  counter('ingle_root_refused_total', 'Connections not let in.', '', (r) => ({ all: r.refused }));
  gauge('ingle_root_backlog_bytes', 'Bytes that wait for receivers behind.', (r) => r.behind);
  gauge('ingle_root_held_bytes', 'Bytes of packets that wait for their turn.', (r) => r.held);
  counter(
    'ingle_root_spans_total',
    'Spans of traces, sent to a collector or dropped.',
    'result',
    (r) => r.spans,
  );
  gauge('ingle_root_draining', '1 once root was told to end.', (r) => Number(r.draining));
}

/** The metrics of what takes time. */
function watch(registry: Registry): Observer {
  const registers = [registry];
  const answers = new Counter({
    name: 'ingle_root_http_answers_total',
    help: 'HTTP answers, by endpoint and class of the status.',
    labelNames: ['endpoint', 'class'],
    registers,
  });
  const seconds = new Histogram({
    name: 'ingle_root_http_seconds',
    help: 'Time until a request was answered.',
    labelNames: ['endpoint'],
    buckets: BUCKETS,
    registers,
  });
  const logins = new Counter({
    name: 'ingle_root_logins_total',
    help: 'Passkeys that signed in, and those that did not verify.',
    labelNames: ['result'],
    registers,
  });
  const codes = new Counter({
    name: 'ingle_root_codes_total',
    help: 'Device codes that were taken, were wrong, or came too often.',
    labelNames: ['result'],
    registers,
  });
  const verbs = new Histogram({
    name: 'ingle_root_records_seconds',
    help: 'Time of a step in the records.',
    labelNames: ['verb'],
    buckets: BUCKETS,
    registers,
  });
  const faults = new Counter({
    name: 'ingle_root_records_errors_total',
    help: 'Steps in the records that failed because of the database.',
    labelNames: ['error'],
    registers,
  });
  // A rate needs a series before the first event.
  for (const result of ['ok', 'refused']) logins.inc({ result }, 0);
  for (const result of ['taken', 'wrong', 'limited']) codes.inc({ result }, 0);
  for (const error of ['unavailable', 'internal']) faults.inc({ error }, 0);

  function note(endpoint: string, { reply, error }: Answered): void {
    answers.inc({ endpoint, class: `${Math.floor(reply.status / 100)}xx` });
    if (endpoint === 'loginFinish') {
      if (error === null) logins.inc({ result: 'ok' });
      else if (error === 'assertion_failed') logins.inc({ result: 'refused' });
    }
    if (['verify', 'joinSubnet', 'takeHub'].includes(endpoint)) {
      if (error === null) codes.inc({ result: 'taken' });
      else if (error === 'invalid_device_code') codes.inc({ result: 'wrong' });
      else if (error === 'rate_limited') codes.inc({ result: 'limited' });
    }
  }
  return {
    async request({ endpoint }, work) {
      const done = seconds.startTimer({ endpoint });
      const answered = await work();
      done();
      note(endpoint, answered);
      return answered;
    },
    async record(verb, work) {
      const done = verbs.startTimer({ verb });
      try {
        return await work();
      } catch (e) {
        const error = faultOf(e);
        if (error) faults.inc({ error });
        throw e;
      } finally {
        done();
      }
    },
  };
}
