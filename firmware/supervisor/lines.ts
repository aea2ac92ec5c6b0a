// Lines of a log as an owner may see them: bounded, without secrets and control characters. Pure.
import { redactor } from '../health/redact.ts';

export const MAX_LINES = 1000;
/** What is kept of one line, characters. */
const MAX_LINE = 2048;
const MAX_BYTES = 128 * 1024;

export interface Line {
  /** Unix seconds; 0: not known. */
  at: number;
  level: string;
  text: string;
}

/** A line that says whose it is. */
export interface Entry extends Line {
  /** Without `.service`. */
  unit: string;
}

/** The levels, the gravest first, with the least grave priority of each (sd-daemon(3)). */
export const priorities: Readonly<Record<string, number>> = {
  error: 3,
  warn: 4,
  notice: 5,
  info: 6,
  debug: 7,
};

const levels = ['error', 'error', 'error', 'error', 'warn', 'notice', 'info', 'debug'];

/** The objects of `journalctl -o json`, one a line; what is no object is passed over. */
export function journalObjects(output: string): Record<string, unknown>[] {
  return output.split('\n').flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line);
      return value !== null && typeof value === 'object' && !Array.isArray(value)
        ? [value as Record<string, unknown>]
        : [];
    } catch {
      return [];
    }
  });
}

/** When an entry was written, Unix seconds. */
export const timeOf = (entry: Record<string, unknown>): number => {
  const at = Number(entry['__REALTIME_TIMESTAMP']) / 1e6;
  return Number.isFinite(at) ? at : 0;
};

/** An entry of the journal: a message that is no UTF-8 comes as numbers, one that is too long as null. */
export function journalLine(entry: Record<string, unknown>): Line {
  const said = entry['MESSAGE'];
  const text = Array.isArray(said)
    ? Buffer.from(said.filter((n): n is number => typeof n === 'number')).toString('utf8')
    : typeof said === 'string'
      ? said
      : '(too long to be shown)';
  return { at: timeOf(entry), level: levels[Number(entry['PRIORITY'] ?? 6)] ?? 'info', text };
}

/** An entry with the unit it is of, or about; `own` are those that are known. */
export function journalEntry(entry: Record<string, unknown>, own: ReadonlySet<string>): Entry {
  const named = [entry['UNIT'], entry['_SYSTEMD_UNIT']].map((u) => String(u ?? '').replace(/\.service$/, ''));
  return { ...journalLine(entry), unit: named.find((u) => own.has(u)) ?? '' };
}

/**
 * Lines of files, each unit's in its order, as one journal: by time, those of a level, and after a cursor. A line
 * without a time, as of a stack, stands with the one before it.
 * @param after `t:<milliseconds>:<lines of that very time that were given>`
 */
export function mergedFiles(
  files: ReadonlyMap<string, readonly Line[]>,
  o: { level: string; lines: number; after: string },
): { entries: Entry[]; cursor: string } {
  const least = priorities[o.level] ?? 7;
  const all: Entry[] = [];
  for (const [unit, lines] of files) {
    let [at, level] = [0, 'info'];
    for (const line of lines) {
      if (line.at > 0) [at, level] = [line.at, line.level];
      all.push({ unit, text: line.text, at, level });
    }
  }
  all.sort((a, b) => a.at - b.at);
  const msOf = (e: Entry) => Math.round(e.at * 1000);
  const [, ms = '', given = ''] = /^t:(\d+):(\d+)$/.exec(o.after) ?? [];
  let skip = Number(given);
  const fresh = all.filter(
    (e) => ms === '' || msOf(e) > Number(ms) || (msOf(e) === Number(ms) && skip-- <= 0),
  );
  const last = fresh.length > 0 ? msOf(fresh.at(-1)!) : undefined;
  const same = all.filter((e) => msOf(e) === last).length;
  return {
    entries: fresh.filter((e) => priorities[e.level]! <= least).slice(-o.lines),
    cursor: last === undefined ? o.after : `t:${last}:${same}`,
  };
}

/** A line of a file that our log wrote (firmware/system/log.ts), or somebody else's. */
export function fileLine(text: string): Line {
  const [, time, level, rest] =
    /^(\d{4}-\d\d-\d\dT[\d:.]+Z) (error|warn|notice|info|debug) (.*)$/s.exec(text) ?? [];
  return time ? { at: Date.parse(time) / 1000, level: level!, text: rest! } : { at: 0, level: 'info', text };
}

/**
 * The newest lines, oldest first, within the bounds.
 * @param known secrets this hub is known to hold
 */
export function shown<L extends Line>(lines: readonly L[], most: number, known: readonly string[] = []): L[] {
  const redact = redactor(known);
  // From the oldest on, as a key in PEM goes over many lines.
  const clean = lines.map((l) => ({ ...l, text: plainText(redact(l.text)).slice(0, MAX_LINE) }));
  const out: L[] = [];
  let size = 0;
  for (const line of clean.slice(-Math.min(most, MAX_LINES)).reverse()) {
    size += Buffer.byteLength(line.text);
    if (size > MAX_BYTES) break;
    out.push(line);
  }
  return out.reverse();
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it removes
const plainText = (text: string) => text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, ' ');
