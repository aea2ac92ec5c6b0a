// A slot's folder of state: what an earlier skill left there is gone before the next one runs.
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from '../system/atomic.ts';
import type { Slot } from './slots.ts';

/** Says whose state it is: skill and tag. The tag is drawn anew for each stay, so no skill can write the next one's. */
const stamp = '.skill';

/** Empties a folder, whatever modes a skill has left in it. */
function wipe(folder: string): void {
  const open = (path: string): void => {
    if (!lstatSync(path).isDirectory()) return;
    chmodSync(path, 0o700);
    for (const name of readdirSync(path)) open(join(path, name));
  };
  if (!existsSync(folder)) return;
  open(folder);
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
}

/**
 * Makes the folder the skill's own; one that carries another stamp is wiped first. Runs as the slot's user.
 * @param slot undefined: nobody lives here any more
 */
export async function moveIn(folder: string, slot: Slot | undefined): Promise<void> {
  if (!slot) return wipe(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const wanted = `${slot.skill_id} ${slot.tag}\n`;
  const file = join(folder, stamp);
  if (existsSync(file) && lstatSync(file).isFile() && readFileSync(file, 'utf8') === wanted) return;
  wipe(folder);
  await writeWhole(file, wanted, 0o600);
}
