// What a connection may send: so many packets and bytes at once, and more with time.
import { elapsed, refill } from '../firmware/protocol/bucket.ts';

export type Kind = keyof typeof budgets;

/** What a connection has left of its budget. */
export interface Purse {
  kind: Kind;
  /** What it may still send, packets and bytes, and when that was counted (ms). */
  packets: number;
  bytes: number;
  /** Packets, times four, that it may have done before its turn. */
  quick: number;
  at: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * Packets and bytes it may send, and packets, times four, that it may have done before its turn; packets and bytes that
 * may wait for a turn; packets a turn.
 * A download at 8 MiB/s is 512 frames a second with as many of credit, two packets each; a hub has many browsers.
 */
export const budgets = {
  stranger: {
    packets: { burst: 8, perMs: 0 },
    bytes: { burst: 256 * KIB, perMs: 0 },
    quick: { burst: 0, perMs: 0 },
    waiting: 8,
    held: 256 * KIB,
    turn: 1,
  },
  browser: {
    packets: { burst: 4096, perMs: 4 },
    bytes: { burst: 32 * MIB, perMs: 16 * KIB },
    quick: { burst: 128, perMs: 1 },
    waiting: 2048,
    held: 8 * MIB,
    turn: 2,
  },
  hub: {
    packets: { burst: 32_768, perMs: 32 },
    bytes: { burst: 64 * MIB, perMs: 64 * KIB },
    quick: { burst: 512, perMs: 4 },
    waiting: 8192,
    held: 16 * MIB,
    turn: 16,
  },
} as const;

/** Gives a connection what one of its kind begins with. */
export function refillWhole(p: Purse): void {
  const { packets, bytes, quick } = budgets[p.kind];
  p.packets = packets.burst;
  p.bytes = bytes.burst;
  p.quick = quick.burst;
}

/** Pays for a packet; false when the connection may not send it at all. */
export function pay(p: Purse, bytes: number, now: number): boolean {
  const b = budgets[p.kind];
  // A quiet minute fills everything; more would only leave the range of small integers.
  const ms = Math.min(elapsed(p.at, now), 60_000) | 0;
  p.packets = refill(p.packets, b.packets, ms);
  p.bytes = refill(p.bytes, b.bytes, ms);
  p.quick = refill(p.quick, b.quick, ms);
  p.at = now;
  p.packets--;
  p.bytes -= bytes;
  return p.packets >= 0 && p.bytes >= 0;
}

/** Who sends little does not wait behind those who send much. */
export function quick(p: Purse): boolean {
  if (p.quick < 4) return false;
  p.quick -= 4;
  return true;
}
