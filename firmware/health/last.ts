// What the health check found wrong with a version, kept for the version that runs after it.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from '../system/atomic.ts';

/** Longest text given to a person. */
const LONGEST = 500;

const fileIn = (data: string) => join(data, 'health', 'last.json');

/** @param data the hub's data folder */
export async function keepFailures(
  data: string,
  version: string,
  failures: readonly string[],
): Promise<void> {
  mkdirSync(join(data, 'health'), { recursive: true });
  await writeWhole(fileIn(data), JSON.stringify({ version, failures }), 0o644);
}

/** What was wrong with `version`, in the hub's words; empty where nothing is known of it. */
export function failuresOf(data: string, version: string): string {
  try {
    const said = JSON.parse(readFileSync(fileIn(data), 'utf8')) as { version?: unknown; failures?: unknown };
    // A version that never came so far left nothing; what is there is then about another one.
    if (said.version !== version || !Array.isArray(said.failures)) return '';
    return said.failures.map(String).join('; ').slice(0, LONGEST);
  } catch {
    return '';
  }
}
