// The variable bag of a run: variables, results of steps, aliases; bounded, and what expressions see of it. Pure.
import { IngleError } from '../protocol/errors.ts';
import type { Scope, Value } from './expression.ts';
import { sealedScope } from './sealed.ts';

/** Bytes of one value, and of all, as JSON. */
export const BAG = { value: 65_536, all: 262_144 };

export type Room = 'vars' | 'steps' | 'aliases' | 'loops';

export interface Bag {
  readonly vars: Record<string, Value>;
  readonly steps: Record<string, Value>;
  readonly aliases: Record<string, Value>;
  /** @throws IngleError `too_large` beyond the bounds; then nothing has changed */
  put(room: Room, name: string, value: Value): void;
  /** A loop is over: its list needs no room any more. */
  drop(room: 'loops', name: string): void;
}

/** Bytes of a value as JSON, about; stops beyond `limit`. */
export function sizeOf(value: Value, limit: number): number {
  let size = 0;
  const stack: Value[] = [value];
  while (stack.length > 0 && size <= limit) {
    const v = stack.pop()!;
    if (typeof v === 'string') size += v.length + 2;
    else if (v === null || typeof v !== 'object') size += 8;
    else if (Array.isArray(v)) {
      size += 2 + v.length;
      for (const x of v) stack.push(x);
    } else
      for (const [key, x] of Object.entries(v)) {
        size += key.length + 4;
        stack.push(x);
      }
  }
  return size;
}

export function openBag(): Bag {
  const sizes = new Map<string, number>();
  const rooms = { vars: {}, steps: {}, aliases: {} } as Record<Exclude<Room, 'loops'>, Record<string, Value>>;
  let all = 0;
  return {
    ...rooms,
    put(room, name, value) {
      const size = sizeOf(value, BAG.value);
      if (size > BAG.value)
        throw new IngleError('too_large', `"${name}" has become larger than ${BAG.value} bytes.`);
      const key = `${room} ${name}`;
      const then = all - (sizes.get(key) ?? 0) + size;
      if (then > BAG.all) throw new IngleError('too_large', `The run keeps more than ${BAG.all} bytes.`);
      all = then;
      sizes.set(key, size);
      if (room !== 'loops') rooms[room][name] = value;
    },
    drop(room, name) {
      const key = `${room} ${name}`;
      all -= sizes.get(key) ?? 0;
      sizes.delete(key);
    },
  };
}

/** What expressions of a run see beside its bag. */
export interface Seen {
  params: Value;
  slots: Record<string, true>;
  ctx: { [key: string]: Value };
  meta: Record<string, string>;
  /** Items of loops, the innermost last. */
  items: readonly (readonly [name: string, value: Value])[];
}

export function scopeOf(bag: Bag, seen: Seen, more: Record<string, unknown> = {}): Scope {
  const { params, slots, ctx, meta } = seen;
  return {
    ...bag.aliases,
    ...Object.fromEntries(seen.items),
    ...{ params, vars: bag.vars, steps: bag.steps, meta, ctx, slots, io: ctx['io'] ?? null },
    ...sealedScope,
    ...more,
  };
}
