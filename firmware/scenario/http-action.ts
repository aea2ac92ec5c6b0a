// http.fetch: one request over https to a host that the scenario names, done by ingle-fetch within its bounds.
import { fromUtf8, utf8 } from '../protocol/bytes.ts';
import { IngleError } from '../protocol/errors.ts';
import type { Action, Asked } from './action.ts';
import type { Value } from './expression.ts';

/** A request that goes out. `hosts` are those it may reach, also by a redirect. */
export interface Outgoing {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: Uint8Array;
  hosts: readonly string[];
}

export interface Answered {
  status: number;
  url: string;
  headers: Record<string, string>;
  body: Uint8Array;
}

export interface HttpWays {
  fetch(o: Outgoing): Promise<Answered>;
  /** The hosts of a run: those of its prototype, as far as its implementation leaves them. */
  hostsOf(run_id: string): Promise<readonly string[]>;
}

/** The largest answer a scenario is given, bytes: a journal keeps it. */
export const MOST_BODY = 24 * 1024;

const bad = (message: string) => new IngleError('invalid_request', message);

function headersOf(given: Value | undefined): Record<string, string> {
  if (given === undefined || given === null) return {};
  const entries = typeof given === 'object' && !Array.isArray(given) ? Object.entries(given) : undefined;
  if (!entries?.every(([, v]) => typeof v === 'string' || typeof v === 'number'))
    throw bad('"headers" must be an object of texts.');
  return Object.fromEntries(entries.map(([name, v]) => [name.toLowerCase(), String(v)]));
}

function bodyOf(answer: Answered): Value {
  if (answer.body.length > MOST_BODY)
    throw new IngleError('too_large', `The answer has more than ${MOST_BODY} bytes. Ask for less.`);
  const text = fromUtf8(answer.body);
  if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(answer.headers['content-type'] ?? '')) return text;
  try {
    return JSON.parse(text) as Value;
  } catch {
    throw new IngleError('unavailable', 'The host answered with JSON that is none.');
  }
}

async function perform(w: HttpWays, a: Asked): Promise<Value> {
  const { url, method = 'GET', headers, body = null } = a.args;
  if (typeof url !== 'string' || !URL.canParse(url)) throw bad('The action needs "url", a whole address.');
  const hosts = await w.hostsOf(a.run_id);
  const { hostname } = new URL(url);
  // The address may hold a key, so only its host is told.
  if (!hosts.includes(hostname))
    throw new IngleError(
      'forbidden',
      `This scenario may not fetch from ${hostname.slice(0, 253)}. Its "hosts" name where it may.`,
    );
  const isText = typeof body === 'string';
  const given = headersOf(headers);
  const sent: Record<string, string> = {
    ...(body === null || isText ? {} : { 'content-type': 'application/json' }),
    // Whoever knows such keys does the same thing once.
    ...(method === 'POST' ? { 'idempotency-key': a.key } : {}),
    ...given,
  };
  const answer = await w.fetch({
    ...{ url, hosts, method: String(method), headers: sent },
    body: utf8(body === null ? '' : isText ? body : JSON.stringify(body)),
  });
  if (answer.status >= 500 || answer.status === 429)
    throw new IngleError('unavailable', `${hostname} answered with status ${answer.status}.`);
  return { status: answer.status, body: bodyOf(answer) };
}

export const httpActions = (w: HttpWays): Record<string, Action> => ({
  'http.fetch': {
    doc: 'Fetches over https from a host of the scenario: url, method (GET, POST), headers, body. Answers status and body.',
    interrupted: 'fail',
    takes: () => ({ kind: 'http', amount: 1 }),
    perform: (a) => perform(w, a),
  },
});
