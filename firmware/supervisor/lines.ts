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
export function shown(lines: readonly Line[], most: number, known: readonly string[] = []): Line[] {
  const redact = redactor(known);
  // From the oldest on, as a key in PEM goes over many lines.
  const clean = lines.map((l) => ({ ...l, text: plainText(redact(l.text)).slice(0, MAX_LINE) }));
  const out: Line[] = [];
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
