// Packs a root as erofs. It is not compressed there: the image is compressed as a whole for its way to the device, which
// makes it smaller than any compression by blocks does, and a hub that starts reads its programs without unpacking.
import type { Tools } from './tools.ts';

/**
 * Writes `out`; equal folders give equal bytes.
 * @param date seconds since 1970 that every file has
 * @param uuid of the file system
 * @param without a folder of the root that is left out
 */
export async function packErofs(
  tools: Tools,
  dir: string,
  out: string,
  o: { date: number; uuid: string; without?: string },
): Promise<void> {
  const options = ['--quiet', '--workers=1', `-T${o.date}`, '--all-time', `-U${o.uuid}`];
  if (o.without) options.push(`--exclude-path=${o.without}`);
  await tools.must('usr/bin/mkfs.erofs', [...options, out, dir], { timeoutMs: 600_000 });
}
