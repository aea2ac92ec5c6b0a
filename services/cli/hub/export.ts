// `ingle journal export <folder | usb>`: journal, doctor's findings and what runs, without secrets.
import {
  createReadStream,
  createWriteStream,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { hostname, release } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { diagnose } from '../../../firmware/health/findings.ts';
import { redactor } from '../../../firmware/health/redact.ts';
import { IngleError } from '../../../firmware/protocol/errors.ts';
import { version } from '../../../firmware/system/config.ts';
import { must, run, start } from '../../../firmware/system/exec.ts';
import { healthTexts } from '../../../firmware/text/health.ts';
import { type Language, translator } from '../../../firmware/text/i18n.ts';
import { makeFolder } from '../house/runtime.ts';
import type { Here } from '../place.ts';
import type { Say } from '../say.ts';
import { look } from './facts.ts';
import { heldSecrets, logsOf } from './secrets.ts';

/** A longer line is cut: no log of ours writes one, and cleaning takes longer the longer a line is. */
const longest = 32 * 1024;

export interface Exported {
  folder: string;
  files: number;
  bytes: number;
}

/** Writes a cleaned copy of everything into a new folder below `to`. @throws IngleError `unavailable` */
async function exportTo(
  p: Here,
  to: string,
  findings: Iterable<string>,
  say: (key: 'journal_not_written', values: { folder: string; why: string }) => string,
): Promise<Exported> {
  const known = await heldSecrets(p);
  const stamp = new Date().toISOString().replace(/[-:]|\.\d+Z/g, '');
  const folder = join(to, `ingle-${hostname()}-${stamp}`);
  const done: Exported = { folder, files: 0, bytes: 0 };
  const put = async (name: string, from: AsyncIterable<string> | Iterable<string>) => {
    const clean = redactor(known);
    async function* cleaned() {
      for await (const line of from) {
        const text = `${clean(line.slice(0, longest))}\n`;
        done.bytes += Buffer.byteLength(text);
        yield text;
      }
    }
    await pipeline(cleaned, createWriteStream(join(folder, name), { flags: 'wx', mode: 0o600 }));
    done.files++;
  };
  const lines = (input: Readable) => createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  try {
    makeFolder(folder);
    await put('doctor.txt', findings);
    await put('about.txt', about(p));
    if (p.logs)
      for (const [name, path] of logsOf(p.logs)) await put(`${name}.txt`, lines(createReadStream(path)));
    else {
      const child = start('journalctl', ['--no-pager', '--quiet', '-o', 'short-iso-precise'], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      const missing = new Promise<never>((_, no) => child.once('error', no));
      await Promise.race([put('journal.txt', lines(child.stdout!)), missing]);
    }
  } catch (e) {
    throw new IngleError(
      'unavailable',
      say('journal_not_written', { folder: to, why: (e as Error).message }),
    );
  }
  return done;
}

function about(p: Here): string[] {
  const read = (file: string) => {
    try {
      return readFileSync(file, 'utf8').trim().split('\n');
    } catch {
      return [];
    }
  };
  const { model, serial, root_url, channels, update } = p.config;
  return [
    `ingle ${version}, kernel ${release()}, node ${process.version}`,
    JSON.stringify({ model, serial, root_url, channels, update }),
    ...read('/proc/cmdline'),
    ...read('/etc/os-release'),
  ];
}

/** Partitions and whole disks on USB with a file system, as device nodes; the root's own disk is not among them. */
export function sticks(sys = '/sys/class/block'): string[] {
  const found: string[] = [];
  for (const name of readdirSync(sys).sort()) {
    const at = realpathSync(join(sys, name));
    if (!/\/usb\d+\//.test(at)) continue;
    const partitions = readdirSync(at).some((child) => child.startsWith(name));
    if (!partitions && !/^(sr|loop)/.test(name)) found.push(`/dev/${name}`);
  }
  return found;
}

/** Mounts the first stick that takes it and answers the mount point. @throws IngleError `not_found` */
async function mountStick(say: (key: 'journal_nowhere') => string): Promise<string> {
  const at = mkdtempSync(join('/run', 'ingle-stick-'));
  const mounted = (await run('findmnt', ['-rno', 'SOURCE'])).stdout.toString().split('\n');
  for (const node of sticks()) {
    if (mounted.includes(node)) continue;
    const r = await run('mount', ['-o', 'rw,nosuid,nodev,noexec', node, at]);
    if (r.code === 0) return at;
  }
  rmSync(at, { recursive: true });
  throw new IngleError('not_found', say('journal_nowhere'));
}

/**
 * `where` is a folder, or `usb`.
 * @param findings what the doctor saw, a line each; looked for now unless given
 * @throws IngleError when nothing could be written
 */
export async function exportJournal(
  p: Here,
  where: string,
  say: Say,
  language: Language,
  findings?: readonly string[],
): Promise<Exported> {
  const t = translator(healthTexts, language);
  const stick = where === 'usb' ? await mountStick(t) : undefined;
  try {
    const seen = findings ?? diagnose(await look(p)).map((f) => JSON.stringify(f));
    const done = await exportTo(p, stick ?? resolve(where), seen, t);
    if (stick) await must('sync', ['-f', stick], { timeoutMs: 120_000 });
    const folder = stick ? done.folder.slice(stick.length + 1) : done.folder;
    say.event({ ...done, folder });
    say.line(t('journal_done', { folder, files: done.files, size: Math.ceil(done.bytes / 1024) }));
    return { ...done, folder };
  } finally {
    if (stick) {
      await must('umount', [stick], { timeoutMs: 120_000 });
      rmSync(stick, { recursive: true, force: true });
    }
  }
}
