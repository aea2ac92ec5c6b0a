// Who looks at what root does while it does it: metrics and traces. Frames are none of it; they are counted where they
// pass and read from there.
import type { ErrorCode } from '../firmware/protocol/errors.ts';
import { IngleError } from '../firmware/protocol/errors.ts';
import type { Reply } from './http.ts';
import type { Records } from './records/records.ts';

/** A request that is to be answered. */
export interface Asked {
  /** Of its endpoint (root/endpoints.ts); `file` for the application, `none` for what is no endpoint. */
  endpoint: string;
  method: string;
  /** The header of that name (W3C Trace Context); '' for none. */
  traceparent: string;
}

/** What became of it. `error` says why it failed. */
export interface Answered {
  reply: Reply;
  error: ErrorCode | null;
}

/** Stands around what is done; what `work` gives or throws goes on unchanged. */
export interface Observer {
  request(asked: Asked, work: () => Promise<Answered>): Promise<Answered>;
  /** @param verb of the records: `codes.take` */
  record<T>(verb: string, work: () => Promise<T>): Promise<T>;
}

export const unobserved: Observer = { request: (_, work) => work(), record: (_, work) => work() };

/** Both look, `outer` first and last. */
export function bothObserve(outer: Observer, inner: Observer): Observer {
  if (outer === unobserved) return inner;
  return {
    request: (asked, work) => outer.request(asked, () => inner.request(asked, work)),
    record: (verb, work) => outer.record(verb, () => inner.record(verb, work)),
  };
}

/** The records with somebody looking at each verb. */
export function observedRecords(records: Records, { record }: Observer): Records {
  if (record === unobserved.record) return records;
  type Verb = (...args: unknown[]) => Promise<unknown>;
  const around = (area: object, prefix: string): object =>
    Object.fromEntries(
      Object.entries(area).map(([name, verb]) => [
        name,
        typeof verb === 'function'
          ? (...args: unknown[]) => record(prefix + name, () => (verb as Verb)(...args))
          : around(verb as object, `${prefix}${name}.`),
      ]),
    );
  return around(records, '') as Records;
}

/** What of a failed verb is a fault of the database, and not an answer it gave; null for the latter. */
export function faultOf(e: unknown): ErrorCode | null {
  if (!(e instanceof IngleError)) return 'internal';
  return e.code === 'unavailable' ? e.code : null;
}
