// How the boots of this hub began and ended, kept in one small file. A boot is told by a file in a folder that goes
// with it, as a clock may be wrong and its number is not for a service without /proc to read.
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as T from 'typebox';
import { faultsOf } from '../protocol/endpoint/check.ts';
import { writeWhole } from '../system/atomic.ts';

/** `at`: when it was first seen, Unix seconds of a clock that may have been wrong. */
export const boot = T.Object({
  id: T.String({ maxLength: 64 }),
  at: T.Number(),
  version: T.String({ maxLength: 64 }),
  end: T.Union([
    T.Literal('running'),
    T.Literal('orderly'),
    T.Literal('watchdog'),
    T.Literal('crash_or_power_cut'),
  ]),
});
export type Boot = T.Static<typeof boot>;

export const MAX_BOOTS = 32;

/**
 * The list, newest first, once `now` is seen to run. The boot before that nobody ended was ended by the watchdog, or by
 * something that left no word. Pure.
 * @param byWatchdog whether the hardware says that its watchdog restarted it
 */
export function begun(boots: readonly Boot[], now: Omit<Boot, 'end'>, byWatchdog: boolean): Boot[] {
  const [last, ...rest] = boots;
  // The service came back within one boot: whatever ended it, the boot goes on.
  if (last?.id === now.id) return [{ ...last, end: 'running' }, ...rest];
  const end: Boot['end'] = byWatchdog ? 'watchdog' : 'crash_or_power_cut';
  const before = last?.end === 'running' ? [{ ...last, end }, ...rest] : boots;
  return [{ ...now, end: 'running' as const }, ...before].slice(0, MAX_BOOTS);
}

/** The list once the newest boot ends in order. Pure. */
export const ended = (boots: readonly Boot[]): Boot[] =>
  boots.map((b, i): Boot => (i === 0 ? { ...b, end: 'orderly' as const } : b));

/** A list as it was stored; one that is torn or from elsewhere counts for nothing. */
export function parseBoots(text: string): Boot[] {
  try {
    const value: unknown = JSON.parse(text);
    return faultsOf(T.Array(boot), value).length === 0 ? (value as Boot[]).slice(0, MAX_BOOTS) : [];
  } catch {
    return [];
  }
}

/** WDIOF_CARDRESET of linux/watchdog.h: the watchdog restarted the machine. */
const CARD_RESET = 0x20;

/** Whether a watchdog of this machine says that it restarted it (Linux, watchdog sysfs). */
export function watchdogSays(folder = '/sys/class/watchdog'): boolean {
  try {
    return readdirSync(folder).some((w) => {
      const status = Number(readFileSync(join(folder, w, 'bootstatus'), 'utf8').trim());
      return (status & CARD_RESET) !== 0;
    });
  } catch {
    return false;
  }
}

const readText = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/** The name of this boot, made when it is first asked for. */
function bootId(runtime: string): string {
  const file = join(runtime, 'boot');
  const known = readText(file);
  if (known) return known;
  const id = randomUUID();
  mkdirSync(runtime, { recursive: true });
  writeFileSync(file, id);
  return id;
}

export interface Boots {
  /** Newest first. */
  list(): readonly Boot[];
  /** Says that this boot ends in order. */
  end(): Promise<void>;
}

/**
 * Takes this boot down. Where nothing can be written the list is what was read and this boot.
 * @param o.data folder that stays; `o.runtime` folder that goes with the boot
 * @param o.failed gets what could not be written
 */
export async function openBoots(o: {
  data: string;
  runtime: string;
  version: string;
  failed: (cause: unknown) => void;
}): Promise<Boots> {
  const file = join(o.data, 'boots.json');
  const write = (list: readonly Boot[]) => writeWhole(file, JSON.stringify(list), 0o600).catch(o.failed);
  let list: Boot[] = [];
  try {
    const now = { id: bootId(o.runtime), at: Date.now() / 1000, version: o.version };
    list = begun(parseBoots(readText(file)), now, watchdogSays());
  } catch (cause) {
    // Without a name for this boot nothing can be said of the one before.
    o.failed(cause);
    return { list: () => list, end: async () => {} };
  }
  await write(list);
  return {
    list: () => list,
    async end() {
      list = ended(list);
      await write(list);
    },
  };
}
