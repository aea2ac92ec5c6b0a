// Listens to every input device the unit lets through (group input), also those plugged in later.
import type { ChildProcess } from 'node:child_process';
import { readdirSync, watch } from 'node:fs';
import { buttonReader, type Press } from '../../firmware/setup/button.ts';
import { start } from '../../firmware/system/exec.ts';
import type { Log } from '../../firmware/system/log.ts';

const folder = '/dev/input';

/** @returns whether there is any device to listen to now */
export function watchButton(log: Log, onPress: (press: Press) => void): () => boolean {
  const open = new Map<string, ChildProcess>();
  function look(): void {
    let names: string[] = [];
    try {
      names = readdirSync(folder).filter((n) => n.startsWith('event'));
    } catch {
      return;
    }
    for (const name of names) {
      if (open.has(name)) continue;
      // A read in this process would hold one of Node's four file threads until a key is pressed; with four
      // devices the state could no longer be written. A child's pipe is polled.
      const reader = start('cat', [`${folder}/${name}`], { stdio: ['ignore', 'pipe', 'ignore'] });
      open.set(name, reader);
      reader.stdout?.on('data', buttonReader(onPress) as (piece: Buffer) => void);
      reader.on('error', (e) => log.debug('an input device is not read', { name, error: e }));
      reader.on('close', () => open.delete(name));
    }
  }
  look();
  try {
    // A device is made before its rights are set; a moment later both are there.
    watch(folder, () => setTimeout(look, 500)).unref();
  } catch {
    log.debug('there are no input devices');
  }
  return () => open.size > 0;
}
