// Many disks as one run might have left them, each with its power cut at another moment, without a machine.
import { closeSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { must } from '../../../firmware/system/exec.ts';
import { random } from '../../audio/room.ts';
import type { PowerCut } from './power.ts';
import { type Entry, flushed, replay, survivors } from './writelog.ts';

/** A part of the disk, in bytes. */
interface Part {
  at: number;
  length: number;
}

export interface Crash {
  /** The part alone, as it might have been. May be written. */
  image: string;
  /** What the machine had told before the power went (marker). */
  told: string[];
  /** To say which one it was. */
  name: string;
}

/** Where a partition lies. @throws Error when the disk has none of this name */
async function partOf(disk: string, label: string): Promise<Part> {
  const said = await must('sfdisk', ['--json', disk]);
  const table = JSON.parse(said.toString()) as {
    partitiontable: { partitions: { name?: string; start: number; size: number }[] };
  };
  const p = table.partitiontable.partitions.find((x) => x.name === label);
  if (!p) throw new Error(`there is no partition ${label}`);
  return { at: p.start * 512, length: p.size * 512 };
}

/** Between the table and the first partition; written past every cache, and never flushed by itself. */
const MARK_AT = 100 * 512;
/**
 * Defines `mark <words>` for a command line in the machine: it writes down that this was reached, without a flush.
 * @param label a partition of the disk
 */
export const marker = (label: string) =>
  `disk=/dev/$(lsblk -no pkname /dev/disk/by-partlabel/${label}); mark() { ` +
  `{ printf 'told %s\\n' "$*"; head -c 512 /dev/zero; } | head -c 512 >/run/mark; ` +
  `dd if=/run/mark of="$disk" bs=512 count=1 seek=100 oflag=direct conv=notrunc,nocreat status=none; }`;

function markOf(log: number, e: Entry): string | undefined {
  if (e.kind !== 'write' || e.at !== MARK_AT) return;
  const bytes = Buffer.alloc(512);
  readSync(log, bytes, 0, 512, e.from);
  return /^told (.*)\n/.exec(bytes.toString('latin1'))?.[1];
}

/**
 * Cuts the power at `count` moments between the first mark and the last, and hands what each may have left of the part
 * to `check`.
 * @param o.about the first word of the marks that count; what was told comes without it
 * @param label the partition
 */
export async function sweep(
  c: PowerCut,
  label: string,
  o: { about: string; count: number; seed: number },
  check: (crash: Crash) => Promise<void>,
): Promise<void> {
  const part = await partOf(c.base, label);
  const inside = (e: Entry) => e.kind === 'write' && e.at >= part.at && e.at < part.at + part.length;
  const log = openSync(c.log, 'r');
  const marks = new Map<number, string>();
  for (const [i, e] of c.entries.entries()) {
    const [, words] = markOf(log, e)?.split(`${o.about} `) ?? [];
    if (words) marks.set(i, words);
  }
  const [first, last] = [Math.min(...marks.keys()), Math.max(...marks.keys())];
  // What lies elsewhere on the disk changes nothing here.
  const moments = c.entries.flatMap((e, i) =>
    i >= first && i <= last && (inside(e) || marks.has(i) || e.kind === 'flush') ? [i + 1] : [],
  );
  if (marks.size === 0) throw new Error('the machine told nothing');
  const r = random(o.seed);
  const cuts = Array.from({ length: o.count }, () => moments[Math.floor(r() * moments.length)]!);
  const dir = mkdtempSync(join(tmpdir(), 'ingle-sweep-'));
  const [safe, image] = [join(dir, 'safe.img'), join(dir, 'crash.img')];
  await must('dd', [
    ...[`if=${c.base}`, `of=${safe}`, 'bs=1M', 'conv=sparse', 'status=none'],
    ...['iflag=skip_bytes,count_bytes', `skip=${part.at}`, `count=${part.length}`],
  ]);
  /** Entries the safe image has. */
  let have = 0;
  const told: string[] = [];
  let heard = 0;
  try {
    for (const [n, cut] of cuts.sort((a, b) => a - b).entries()) {
      for (; heard < cut; heard++) {
        const mark = marks.get(heard);
        if (mark !== undefined) told.push(mark);
      }
      const left = (from: number, to: number, seed: number) => {
        const here = c.entries.slice(from, to).filter((e) => e.kind === 'flush' || inside(e));
        return survivors(here, here.length, seed).map((p) => ({ ...p, at: p.at - part.at }));
      };
      const settled = flushed(c.entries, cut);
      // It ends in a flush, so nothing of it is up to chance.
      replay(safe, c.log, left(have, settled, 0));
      have = settled;
      await must('cp', ['--sparse=always', safe, image]);
      const seed = o.seed + n;
      replay(image, c.log, left(have, cut, seed));
      await check({ image, told: [...told], name: `cut at ${cut} of ${c.entries.length}, seed ${seed}` });
    }
  } finally {
    closeSync(log);
    rmSync(dir, { recursive: true });
  }
}
