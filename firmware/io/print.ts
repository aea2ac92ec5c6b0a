// Lines that others print on a console: what of them is shown, and how many. Pure.
import { openBucket, rate, take } from '../protocol/bucket.ts';

/** Longest line, characters. */
export const MAX_PRINT = 500;

/** So many lines at once, and a second: nobody drowns who works at the console. */
export const printRate = rate(10, 1);

export type Level = 'info' | 'warning' | 'error';

export interface Line {
  text: string;
  level: Level;
  /** Lines that came too fast since the last one shown. */
  left_out: number;
}

const levels: ReadonlySet<unknown> = new Set<Level>(['info', 'warning', 'error']);

/** A text as one line that steers no terminal: no control and format characters, no line breaks of any kind. */
export function plainLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

/** Takes payloads of io.console.print; undefined for what is none, or comes too fast. @param now milliseconds */
export function printing(): (payload: unknown, now: number) => Line | undefined {
  const bucket = openBucket(printRate, 0);
  let leftOut = 0;
  return (payload, now) => {
    const { text, level = 'info' } = Object(payload) as { text?: unknown; level?: unknown };
    if (typeof text !== 'string' || text.length > MAX_PRINT || !levels.has(level)) return undefined;
    const shown = plainLine(text);
    if (shown === '') return undefined;
    if (!take(bucket, printRate, now)) {
      leftOut++;
      return undefined;
    }
    const line = { text: shown, level: level as Level, left_out: leftOut };
    leftOut = 0;
    return line;
  };
}

/** The line as it stands on the console; a screen's own font has Latin letters alone. */
export function printed(line: Pick<Line, 'text' | 'level'>, way: 'screen' | 'serial'): string {
  const text = way === 'screen' ? line.text.replace(/[^\x20-\xff]/gu, '?') : line.text;
  return `[${line.level}] ${text}`;
}
