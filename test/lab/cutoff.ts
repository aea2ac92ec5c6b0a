// What a power cut leaves of a store: its files as they are at this moment.
import { copyFileSync, existsSync, rmSync } from 'node:fs';

/** @returns `to`, where the copy lies */
export function cutOff(file: string, to: string): string {
  for (const end of ['', '-wal', '-log0', '-log1']) {
    rmSync(to + end, { force: true });
    if (existsSync(file + end)) copyFileSync(file + end, to + end);
  }
  return to;
}
