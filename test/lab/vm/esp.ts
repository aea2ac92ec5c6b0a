// Updates as the ESP sees them, and what every ESP must be that a power cut may leave of them.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { run } from '../../../firmware/system/exec.ts';
import { type EspFile, entryText, loaderConf, makeEsp, rescueText } from '../../../image/esp.ts';
import type { Vm } from './lab.ts';
import { type Crash, marker } from './sweep.ts';

/** Kernel and initial RAM disk of a version: its name again and again, so that a wrong cluster shows. */
const sizes = { linux: 300_000, initrd: 500_000 } as const;
type Piece = keyof typeof sizes;
const content = (piece: Piece, version: number) =>
  `${piece} ${version}\n`.repeat(sizes[piece]).slice(0, sizes[piece]);

/** The root's hash is in the entry, so an entry with another version's kernel starts nothing. */
const text = (slot: 'a' | '@slot@', version: number) =>
  entryText(slot, `Ingle ${version}`, [`version=${version}`]);

/** An ESP as it is flashed, of version 1; as large as a hub's, so that its clusters are the same. */
export async function flashedEsp(out: string): Promise<void> {
  const files = mkdtempSync(join(tmpdir(), 'ingle-esp-'));
  const path = (piece: Piece) => {
    writeFileSync(join(files, piece), content(piece, 1));
    return { path: join(files, piece) };
  };
  const entry = text('a', 1);
  const list: EspFile[] = [
    ['loader/loader.conf', { text: loaderConf }],
    ['loader/entries/ingle-0001-a.conf', { text: entry }],
    ['loader/entries/ingle-rescue.conf', { text: rescueText(entry) }],
    ['ingle/a/linux', path('linux')],
    ['ingle/a/initrd', path('initrd')],
  ];
  await makeEsp({ out, megabytes: 256, date: 1_700_000_000, files: list });
  rmSync(files, { recursive: true });
}

/** Versions that are installed one after another, in turn into b and a. */
const versions = [2, 3, 4];
const slotOf = (version: number) => (version % 2 === 0 ? 'b' : 'a');

/**
 * Installs versions as RAUC and a good boot do, on the machine's own ESP, and tells of each step that is over.
 * @param backend path in the machine
 */
export async function installs(vm: Vm, backend = '/usr/lib/ingle/rauc-backend'): Promise<void> {
  const steps = versions.map((v) => {
    const [to, from] = [slotOf(v), slotOf(v - 1)];
    const fill = (piece: Piece) =>
      `yes '${piece} ${v}' | head -c ${sizes[piece]} >/run/new/${piece}; chmod 600 /run/new/${piece}`;
    return [
      `mkdir -p /run/new; ${fill('linux')}; ${fill('initrd')}`,
      `printf %s '${text('@slot@', v)}' >/run/new/entry`,
      `export INGLE_SLOT=${from}; ${backend} put ${to} /run/new && mark esp put ${v}`,
      `${backend} set-primary ${to} && mark esp installed ${v}`,
      `INGLE_SLOT=${to} ${backend} good && mark esp good ${v}`,
    ].join('\n');
  });
  await vm.must(`set -e\n${marker('ingle-esp')}\nmark esp good 1\n${steps.join('\n')}`, {
    timeoutMs: 240_000,
  });
}

interface Found {
  name: string;
  /** Version in the title; undefined when what it starts is not all of that version. */
  version: number | undefined;
  tries: number | undefined;
}

/** The boot entries in the order in which systemd-boot tries them. */
function entriesOf(dir: string): Found[] {
  const at = join(dir, 'loader/entries');
  const found = readdirSync(at)
    .filter((name) => /^ingle-\d+-.*\.conf$/.test(name))
    .map((name): Found => {
      const tries = /\+(\d+)/.exec(name)?.[1];
      return {
        name,
        version: wholeVersion(dir, readFileSync(join(at, name), 'utf8')),
        tries: tries === undefined ? undefined : Number(tries),
      };
    });
  const last = (f: Found) => (f.tries === 0 ? 1 : 0);
  return found.sort((a, b) => last(a) - last(b) || b.name.localeCompare(a.name));
}

/** The version an entry starts, if all it needs is there. */
function wholeVersion(dir: string, entry: string): number | undefined {
  const version = Number(/^options version=(\d) .*rauc\.slot=[ab]/m.exec(entry)?.[1]);
  const whole = (piece: Piece) => {
    const path = new RegExp(`^${piece} /(ingle/[ab]/${piece})$`, 'm').exec(entry)?.[1];
    const file = join(dir, path ?? '');
    return path && existsSync(file) && readFileSync(file, 'latin1') === content(piece, version);
  };
  return whole('linux') && whole('initrd') ? version : undefined;
}

/** The version that runs in the end: one on trial that does not start is left when its tries are over. */
function boots(entries: readonly Found[]): Found | undefined {
  return entries.find((e) => e.tries !== 0 && (e.version !== undefined || e.tries === undefined));
}

/** Which versions may run after these words of the machine. */
function mayRun(told: readonly string[]): number[] {
  const [what, n] = told.at(-1)!.split(' ');
  const version = Number(n);
  // From one word to the next, either may hold.
  if (what === 'put') return [version - 1, version];
  return [version];
}

/** Calls `work` with a folder of what a boot loader looks at; what cannot be read is not there. */
function readEsp(image: string, work: (dir: string) => void): void {
  const dir = mkdtempSync(join(tmpdir(), 'ingle-crash-'));
  const mtools = (command: string, ...args: string[]) =>
    spawnSync(command, ['-i', image, ...args], { env: { ...process.env, MTOOLS_SKIP_CHECK: '1' } });
  try {
    for (const folder of ['loader/entries', 'ingle/a', 'ingle/b'])
      mkdirSync(join(dir, folder), { recursive: true });
    const listed = mtools('mdir', '-b', '::/loader/entries').stdout.toString();
    const entries = listed.split('\n').filter((line) => line.endsWith('.conf'));
    const started = ['a', 'b'].flatMap((slot) => [`::/ingle/${slot}/linux`, `::/ingle/${slot}/initrd`]);
    // One by one: mtools gives up at the first that is broken.
    for (const f of [...entries, ...started]) mtools('mcopy', '-n', f, join(dir, f.slice('::/'.length)));
    work(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Whatever a cut left: the hub starts, on the version it should, before and after the ESP is repaired. */
export async function checkEsp(crash: Crash): Promise<void> {
  const look = (when: string) =>
    readEsp(crash.image, (dir) => {
      const entries = entriesOf(dir);
      const said = `${crash.name}, ${when}, told "${crash.told.at(-1) ?? ''}": ${JSON.stringify(entries)}`;
      const first = boots(entries);
      assert.ok(first?.version !== undefined, `nothing boots: ${said}`);
      assert.ok(mayRun(crash.told).includes(first.version), `another version: ${said}`);
      if (crash.told.at(-1)?.startsWith('good')) assert.is(first.tries, undefined, `not good: ${said}`);
      const file = join(dir, 'loader/entries/ingle-rescue.conf');
      const rescue = existsSync(file) ? wholeVersion(dir, readFileSync(file, 'utf8')) : undefined;
      // While it is written anew it may be lost, as nothing starts it by itself.
      const isNew = !crash.told.at(-1)!.startsWith('good');
      assert.ok(rescue !== undefined || !isNew, `no rescue: ${said}`);
    });
  look('as it is');
  // As the backend does before it writes again (open_esp); 1 means that something was put right.
  for (let pass = 1, found = 1; found === 1; pass++) {
    const fsck = await run('fsck.vfat', ['-a', crash.image]);
    found = fsck.code;
    assert.ok(found <= 1 && pass <= 5, `${crash.name}: pass ${pass}: ${fsck.stdout}${fsck.stderr}`);
  }
  look('repaired');
}
