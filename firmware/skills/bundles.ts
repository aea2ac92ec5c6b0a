// The folders of installed skills: a package becomes one whole or not at all, whatever happens on the way.
import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { IngleError } from '../protocol/errors.ts';
import type { Manifest } from './manifest.ts';
import { manifestIn, type Package } from './package.ts';

/** What is done on the disk, below one folder. Each settles when it will survive a power cut as far as it says. */
export interface Disk {
  /** Makes a folder and those above it, readable by every slot. */
  mkdir(path: string): Promise<void>;
  /** Writes a file, its bytes are safe; its name is once the folder was synced. */
  write(path: string, bytes: Uint8Array): Promise<void>;
  sync(folder: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  list(): Promise<string[]>;
  /** Bytes that are free. */
  free(): Promise<number>;
}

/** The real disk below a folder. The service's own umask is narrower than what slots need, so modes are set. */
export function openDisk(root: string): Disk {
  const opened = async (
    path: string,
    flags: string,
    work: (f: Awaited<ReturnType<typeof open>>) => unknown,
  ) => {
    const f = await open(join(root, path), flags, 0o644);
    try {
      await work(f);
    } finally {
      await f.close();
    }
  };
  return {
    async mkdir(path) {
      await mkdir(join(root, path), { recursive: true, mode: 0o755 });
      for (let at = path; at !== '.'; at = dirname(at)) await opened(at, 'r', (f) => f.chmod(0o755));
    },
    write: (path, bytes) =>
      opened(path, 'wx', async (f) => {
        await f.chmod(0o644);
        await f.writeFile(bytes);
        await f.sync();
      }),
    sync: (folder) => opened(folder, 'r', (f) => f.sync()),
    rename: (from, to) => rename(join(root, from), join(root, to)),
    remove: (path) => rm(join(root, path), { recursive: true, force: true }),
    async list() {
      await mkdir(root, { recursive: true, mode: 0o755 });
      await opened('.', 'r', (f) => f.chmod(0o755));
      return readdir(root);
    },
    async free() {
      const { bavail, bsize } = await statfs(root);
      return bavail * bsize;
    },
  };
}

/** What stays free for everything else on the data partition, bytes. */
const RESERVE = 64 * 1024 * 1024;

const full = () =>
  new IngleError(
    'conflict',
    'There is no room left for this package. Remove a skill or a prepared package first.',
    { reason: 'no_space' },
  );

export interface Bundles {
  /**
   * Reads a package to its end into a folder of its own.
   * @param admit refuses what its manifest asks for, by throwing
   * @returns the folder's name, which nobody refers to yet
   * @throws IngleError as the package does; `conflict` on a full disk. Nothing is left of it then.
   */
  unpack(
    p: Package,
    admit?: (manifest: Manifest) => void,
  ): Promise<{ bundle: string; size: number; manifest: Manifest }>;
  /** Removes every folder but these. */
  sweep(kept: ReadonlySet<string>): Promise<void>;
}

/** The folders that a path needs below `above`, the outermost first. */
const foldersOf = (paths: readonly string[]) =>
  [
    ...new Set(
      paths.flatMap((p) =>
        p
          .split('/')
          .slice(0, -1)
          .map((_, i, parts) => parts.slice(0, i + 1).join('/')),
      ),
    ),
  ].sort();

export function openBundles(disk: Disk): Bundles {
  async function fill(staging: string, p: Package): Promise<Manifest> {
    const folders = foldersOf(p.meta.files.map((f) => f.path)).map((f) => `${staging}/${f}`);
    await disk.mkdir(staging);
    for (const folder of folders) await disk.mkdir(folder);
    let manifest: Manifest | undefined;
    for await (const { path, bytes } of p.files) {
      if (path === 'manifest.json') manifest = manifestIn(bytes);
      await disk.write(`${staging}/${path}`, bytes);
    }
    for (const folder of [...folders].reverse()) await disk.sync(folder);
    await disk.sync(staging);
    return manifest!;
  }

  return {
    async unpack(p, admit = () => {}) {
      const size = p.meta.files.reduce((sum, f) => sum + f.size, 0);
      const staging = `.new-${randomBytes(8).toString('hex')}`;
      try {
        await disk.list();
        if ((await disk.free()) < size + RESERVE) throw full();
        const manifest = await fill(staging, p);
        admit(manifest);
        const bundle = `${p.meta.id}-${p.meta.version}-${p.digest.slice(0, 12)}`;
        // A leftover: it was made, and its row was not.
        await disk.remove(bundle);
        await disk.rename(staging, bundle);
        await disk.sync('.');
        return { bundle, size, manifest };
      } catch (e) {
        await disk.remove(staging).catch(() => {});
        throw ['ENOSPC', 'EDQUOT'].includes((e as NodeJS.ErrnoException).code ?? '') ? full() : e;
      } finally {
        await p.close();
      }
    },
    async sweep(kept) {
      for (const name of await disk.list()) if (!kept.has(name)) await disk.remove(name);
    },
  };
}
