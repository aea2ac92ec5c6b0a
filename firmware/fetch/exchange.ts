// One fetch over the network: names are resolved here, and what was judged is what is connected.
import { lookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import type { LookupFunction } from 'node:net';
import { createGunzip } from 'node:zlib';
import { IngleError } from '../protocol/errors.ts';
import { isPublic } from './address.ts';
import { type Asked, BOUNDS, checkAsked, type Fetched, followed, handed, type Outgoing } from './request.ts';

export interface Address {
  address: string;
  family: number;
}

/** The way into the world. A test puts a stand-in at its end; what is judged on the way stays as it is. */
export interface Way {
  resolve(host: string): Promise<Address[]>;
  /** Where judged addresses are found. */
  reach(judged: Address[]): { addresses: Address[]; port: number };
  /** Certificates that are trusted in place of the system's, PEM. */
  ca?: string;
}

export const world: Way = {
  resolve: (host) => lookup(host, { all: true }),
  reach: (addresses) => ({ addresses, port: 443 }),
};

const unreachable = (host: string) =>
  new IngleError('unavailable', `${host} cannot be reached. Try again later.`);

/** @throws IngleError `unavailable`, `forbidden` */
async function judged(way: Way, host: string): Promise<Address[]> {
  const found = await way.resolve(host).catch(() => {
    throw unreachable(host);
  });
  const open = found.filter((a) => isPublic(a.address));
  if (open.length === 0 && found.length > 0)
    throw new IngleError('forbidden', `${host} is no public host: its address is of a network at home.`);
  if (open.length === 0) throw unreachable(host);
  return open;
}

/** The body, unpacked, up to the bound. @throws IngleError `too_large`, `unavailable` */
async function bodyOf(r: IncomingMessage): Promise<Uint8Array> {
  const coding = r.headers['content-encoding'] ?? 'identity';
  if (!['identity', 'gzip'].includes(coding))
    throw new IngleError('unavailable', 'The host answered in a coding it was not asked for.');
  const source = coding === 'gzip' ? r.pipe(createGunzip()) : r;
  // What breaks off before its end breaks what is unpacked as well.
  if (source !== r) r.on('error', (e) => source.destroy(e));
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of source as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > BOUNDS.answer)
      throw new IngleError('too_large', `The answer has more than ${BOUNDS.answer} bytes. Ask for less.`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

async function once(
  way: Way,
  out: Outgoing,
  agent: string,
  signal: AbortSignal,
): Promise<[IncomingMessage, Fetched]> {
  const host = out.url.hostname;
  const { addresses, port } = way.reach(await judged(way, host));
  signal.throwIfAborted();
  const given: LookupFunction = (_host, options, done) =>
    options.all ? done(null, addresses) : done(null, addresses[0]!.address, addresses[0]!.family);
  const sent = request({
    hostname: host,
    servername: host,
    port,
    path: out.url.pathname + out.url.search,
    method: out.method,
    headers: {
      ...out.headers,
      host,
      'user-agent': agent,
      'accept-encoding': 'gzip',
      ...(out.method === 'POST' ? { 'content-length': out.body.length } : {}),
    },
    lookup: given,
    agent: false,
    maxHeaderSize: 16 * 1024,
    signal,
    ...(way.ca ? { ca: way.ca } : {}),
  });
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      sent.on('response', resolve).on('error', reject);
      sent.end(out.body);
    });
    const body = await bodyOf(answer);
    return [
      answer,
      { status: answer.statusCode!, url: out.url.href, headers: handed(answer.rawHeaders), body },
    ];
  } finally {
    sent.destroy();
  }
}

/** Watches the time beside `work`, as resolving a name cannot be called off. @throws IngleError `timeout`, `unavailable` */
async function inTime<T>(
  host: () => string,
  ms: number,
  work: (over: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = AbortSignal.timeout(ms);
  const late = new Promise<never>((_, reject) => {
    over.addEventListener('abort', () =>
      reject(new IngleError('timeout', `${host()} did not answer in time. Try again later.`)),
    );
  });
  try {
    return await Promise.race([work(over), late]);
  } catch (e) {
    if (e instanceof IngleError) throw e;
    throw unreachable(host());
  }
}

/**
 * Posts to a host that is named by whoever wants to hear of it: a push service.
 * @returns the status @throws IngleError of the contract
 */
export async function post(
  way: Way,
  asked: Omit<Asked, 'method'>,
  agent: string,
  ms: number = BOUNDS.ms,
): Promise<number> {
  const host = URL.canParse(asked.url) ? new URL(asked.url).hostname : '';
  const out = checkAsked({ ...asked, method: 'POST' }, [host]);
  return inTime(
    () => host,
    ms,
    async (over) => (await once(way, out, agent, over))[1].status,
  );
}

/**
 * Fetches.
 * @param hosts of the skill's manifest
 * @param agent how the hub calls itself
 * @throws IngleError of the contract
 */
export async function exchange(
  way: Way,
  asked: Asked,
  hosts: readonly string[],
  agent: string,
  ms: number = BOUNDS.ms,
): Promise<Fetched> {
  let out = checkAsked(asked, hosts);
  return inTime(
    () => out.url.hostname,
    ms,
    async (over) => {
      for (let i = 0; i <= BOUNDS.redirects; i++) {
        const [raw, fetched] = await once(way, out, agent, over);
        const next = followed(out, fetched.status, raw.headers.location, hosts);
        if (!next) return fetched;
        out = next;
      }
      throw new IngleError('unavailable', `${out.url.hostname} redirects without end.`);
    },
  );
}
