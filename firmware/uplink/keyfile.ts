// Where the keys lie: one file only the service may read, replaced whole or not at all.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from '../system/atomic.ts';
import { type HubKeys, makeKeys, parseKeys } from './keys.ts';

/** The hub's keys, made and stored (0600) when there are none yet. A damaged file is an error, never replaced. */
export async function loadKeys(folder: string, now: number): Promise<HubKeys> {
  const file = keyPath(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    return parseKeys(readFileSync(file, 'utf8'));
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code !== 'ENOENT') throw new Error(`${file}: ${(e as Error).message}`);
  }
  const keys = makeKeys(now);
  await saveKeys(folder, keys);
  return keys;
}

export async function saveKeys(folder: string, keys: HubKeys): Promise<void> {
  await writeWhole(keyPath(folder), `${JSON.stringify(keys)}\n`, 0o600);
}

export function keyPath(folder: string): string {
  return join(folder, 'keys.json');
}
