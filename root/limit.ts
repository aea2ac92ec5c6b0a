// Rate limits in memory: a sliding count a key, and nothing kept of keys that went quiet.
import { isIP } from 'node:net';
import { IngleError } from '../firmware/protocol/errors.ts';

/** Events in the present window of time and in the one before, from its start in milliseconds on. */
export interface Count {
  start: number;
  here: number;
  before: number;
}

/**
 * Brings a count to the time `t`. @returns how many there were in the last `length` milliseconds: of the window before
 * as many as still count, had they come evenly
 */
export function estimate(c: Count, length: number, t: number): number {
  const start = t - (t % length);
  if (c.start !== start) {
    c.before = c.start === start - length ? c.here : 0;
    c.here = 0;
    c.start = start;
  }
  return c.here + c.before * (1 - (t - start) / length);
}

export interface Limit {
  /** Counts one try; gives what takes it back. @throws IngleError `rate_limited` with `details.retry_after` in seconds. */
  take(key: string): () => void;
  /** Forgets what is over. */
  sweep(): void;
}

/**
 * At most `count` a key in `seconds`, by the estimate: a span of `seconds` over the border of two windows takes up to
 * twice as many, and a year no more than `count` each.
 */
export function limit(count: number, seconds: number, now: () => number = Date.now): Limit {
  const windows = new Map<string, Count>();
  const length = seconds * 1000;
  return {
    take(key) {
      const t = now();
      const w = windows.get(key) ?? { start: 0, here: 0, before: 0 };
      windows.set(key, w);
      const isOver = estimate(w, length, t) >= count;
      const { start } = w;
      if (isOver) {
        const most = length - (t - start);
        const wait = w.here >= count ? most : most - (length * (count - w.here)) / w.before;
        throw tooMany(Math.max(1, Math.ceil(wait / 1000)));
      }
      w.here++;
      return () => {
        if (w.start === start) w.here--;
        else if (w.start === start + length) w.before--;
      };
    },
    sweep() {
      const oldest = now() - 2 * length;
      for (const [key, w] of windows) if (w.start < oldest) windows.delete(key);
    },
  };
}

/** As many clients may use up what they have before their network has used up what it has. */
const CLIENTS_OF_NETWORK = 8;

/** A limit of addresses: `count` for one client (`clientKey`), and eight times as many for its network (`networkKey`). */
export function addressLimit(count: number, seconds: number, now: () => number = Date.now): Limit {
  const clients = limit(count, seconds, now);
  const networks = limit(CLIENTS_OF_NETWORK * count, seconds, now);
  return {
    take(ip) {
      const back = clients.take(clientKey(ip));
      try {
        const both = [back, networks.take(networkKey(ip))];
        return () => {
          for (const one of both) one();
        };
      } catch (e) {
        // Who is refused anyway uses up nothing: its next try is refused by the same count.
        back();
        throw e;
      }
    },
    sweep() {
      clients.sweep();
      networks.sweep();
    },
  };
}

/** The one refusal of whoever tries too often. */
export function tooMany(retryAfter: number, details: Record<string, unknown> = {}): IngleError {
  return new IngleError('rate_limited', `Too many tries. Wait ${retryAfter} s and try again.`, {
    retry_after: retryAfter,
    ...details,
  });
}

/** What counts as one client: an IPv4 address, or the /64 of an IPv6 one (a household gets at least that much). */
export function clientKey(ip: string): string {
  const four = ipv4(ip);
  return four ?? groups(ip, 4);
}

/** What counts as one network: the /24 of an IPv4 address, or the /48 of an IPv6 one, the most one customer gets. */
export function networkKey(ip: string): string {
  const four = ipv4(ip);
  return four ? four.split('.').slice(0, 3).join('.') : groups(ip, 3);
}

/** A network as it is shown and kept of a browser: all that is ever stored of an address. '' for what is none. */
export function placeOf(ip: string): string {
  if (isIP(ip) === 0) return '';
  return ipv4(ip) === undefined ? `${networkKey(ip)}::/48` : `${networkKey(ip)}.0/24`;
}

/** An IPv4 address in any dress. */
function ipv4(ip: string): string | undefined {
  const mapped = /^(?:0*:)*(?:0*ffff:)(\d+\.\d+\.\d+\.\d+)$/i.exec(ip);
  return mapped ? mapped[1] : ip.includes(':') ? undefined : ip;
}

/** The first `count` groups of an IPv6 address. */
function groups(ip: string, count: number): string {
  const [head = '', tail] = ip.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail ? tail.split(':') : [];
  const all =
    tail === undefined
      ? left
      : [...left, ...Array(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
  return all
    .slice(0, count)
    .map((g) => Number.parseInt(g || '0', 16).toString(16))
    .join(':');
}
