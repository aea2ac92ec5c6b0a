// Listens to every input device with a button of ours (group input), also those plugged in later.
import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync, watch } from 'node:fs';
import { buttonReader, hasButton, type Press } from '../../firmware/setup/button.ts';
import { start } from '../../firmware/system/exec.ts';
import type { Log } from '../../firmware/system/log.ts';

const folder = '/dev/input';

/** A keyboard, a power key or a sensor would keep setup up for ever; what says nothing of its keys is listened to. */
function mayPress(name: string): boolean {
  try {
    return hasButton(readFileSync(`/sys/class/input/${name}/device/capabilities/key`, 'utf8'));
  } catch {
    return true;
  }
}

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
      if (open.has(name) || !mayPress(name)) continue;
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
