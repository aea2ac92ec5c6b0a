// Debian 13's own tools, unpacked beside the roots, so that what is built and tried depends on no version of this machine.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { basename, join } from 'node:path';
import { must, type RunOptions } from '../firmware/system/exec.ts';
import { need, needRoot } from './host.ts';
import { mmdebstrap } from './mmdebstrap.ts';
import { sources } from './packages.ts';

/** Unpacked, never configured: programs that need no service. */
const forBuilding = ['erofs-utils', 'kmod'];

export interface Tools {
  /** Runs a program such as `usr/bin/mkfs.erofs`; see `must` of firmware/system/exec.ts. */
  must(program: string, args: readonly string[], o?: RunOptions): Promise<Buffer>;
  /** The words that start it, for one that is kept running. */
  command(program: string): [string, ...string[]];
  /** Where a file of theirs is here. */
  path(file: string): string;
}

/**
 * Programs of Debian 13 for this machine, run by their own loader and libraries: no chroot, so paths stay as they are.
 * @param cache folder they are kept in
 * @param packages Debian packages, those for building when left out
 */
export async function debianTools(cache: string, packages: readonly string[] = forBuilding): Promise<Tools> {
  const from = sources();
  const hash = createHash('sha256')
    .update(JSON.stringify([from, packages]))
    .digest('hex')
    .slice(0, 16);
  const dir = join(cache, `tools-${hash}`);
  if (!existsSync(dir)) {
    needRoot('The tools are unpacked first, which wants root rights: sudo npm run image');
    await need(['mmdebstrap']);
    mkdirSync(cache, { recursive: true });
    const fresh = `${dir}.${process.pid}`;
    await mmdebstrap(fresh, { arch: 'amd64', packages, variant: 'extract' });
    // Another build may have been quicker.
    if (existsSync(dir)) await must('rm', ['-rf', fresh]);
    else renameSync(fresh, dir);
  }
  const loader = join(dir, 'usr/lib64/ld-linux-x86-64.so.2');
  const libraries = join(dir, 'usr/lib/x86_64-linux-gnu');
  const path = (file: string) => join(dir, file);
  const command = (program: string): [string, ...string[]] => [
    loader,
    ...['--library-path', libraries, '--argv0', basename(program), path(program)],
  ];
  return {
    path,
    command,
    must: (program, args, o) => {
      const [first, ...words] = command(program);
      return must(first, [...words, ...args], o);
    },
  };
}
