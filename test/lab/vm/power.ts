// Power cuts that lose what was not flushed: the machine's disk is watched while it runs, and after a cut it is what a
// disk with a cache of its own might have kept.
import { randomInt } from 'node:crypto';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { must } from '../../../firmware/system/exec.ts';
import { type Entry, readLog, replay, survivors } from './writelog.ts';

/** All that is known of a disk when its power goes. */
export interface PowerCut {
  /** The disk as it was at power-on. */
  base: string;
  log: string;
  entries: readonly Entry[];
}

const beside = (disk: string) => ({ base: `${disk}.base`, log: `${disk}.log` });
const comma = (path: string) => path.replaceAll(',', ',,');

/** Begins to watch a disk at power-on; QEMU's words for it, which name it `id`. */
export async function watched(disk: string, id: string): Promise<string[]> {
  const { base, log } = beside(disk);
  await must('cp', ['--sparse=always', disk, base], { timeoutMs: 120_000 });
  rmSync(log, { force: true });
  await must('truncate', ['-s', '0', log]);
  const file = (name: string, path: string) => [
    '-blockdev',
    `driver=file,node-name=${name},filename=${comma(path)},cache.no-flush=on`,
  ];
  return [
    ...file(`${id}-file`, disk),
    ...file(`${id}-log`, log),
    ...['-blockdev', `driver=blklogwrites,node-name=${id},file=${id}-file,log=${id}-log`],
    // The guest sees a cache that it must flush.
    ...['-device', `virtio-blk-pci,drive=${id},serial=${id},write-cache=on`],
  ];
}

/**
 * Makes of a disk whose machine was killed what a power cut leaves of it; INGLE_VM_SEED in place of chance.
 * @param look sees what there is first
 */
export async function losePower(disk: string, look?: (cut: PowerCut) => Promise<void>): Promise<void> {
  const { base, log } = beside(disk);
  if (!existsSync(log)) return;
  const cut = { base, log, entries: readLog(log) };
  await look?.(cut);
  const seed = Number(process.env['INGLE_VM_SEED'] ?? randomInt(2 ** 31));
  console.log(`\npower cut after ${cut.entries.length} writes and flushes, seed ${seed}`);
  replay(base, log, survivors(cut.entries, cut.entries.length, seed));
  renameSync(base, disk);
  rmSync(log);
}
