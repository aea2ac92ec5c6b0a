// gate: in, it starts none of the programs that its imports know
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { made, namesFor, pathFor } from '../../image/foreign.ts';
import { checkMachine, readyMade } from '../../image/native.ts';

const test = suite('foreign');
const dir = mkdtempSync(join(tmpdir(), 'ingle-foreign-'));
test.after(() => rmSync(dir, { recursive: true, force: true }));
const put = (file: string, data: string | Buffer) => {
  mkdirSync(dirname(join(dir, file)), { recursive: true });
  writeFileSync(join(dir, file), data);
};

test('of all packages the kernel alone is called otherwise on another machine', () => {
  const status = ['bash', 'linux-image-6.12.1+deb13-amd64', 'linux-image-amd64', 'linux-base']
    .map((n) => `Package: ${n}\nStatus: install ok installed\n`)
    .concat('Package: gone\nStatus: deinstall ok config-files\n')
    .join('\n');
  assert.equal(namesFor(status, 'amd64', 'arm64'), [
    'bash',
    'linux-base',
    'linux-image-6.12.1+deb13-arm64',
    'linux-image-arm64',
  ]);
});

test('folders and links that carry the name of the machine are renamed', () => {
  const paths = [
    ['usr/lib/x86_64-linux-gnu/libblas.so.3', 'usr/lib/aarch64-linux-gnu/libblas.so.3'],
    ['etc/alternatives/libblas.so.3-x86_64-linux-gnu', 'etc/alternatives/libblas.so.3-aarch64-linux-gnu'],
    ['lib64', 'lib'],
    ['usr/lib64x', 'usr/lib64x'],
    ['etc/passwd', 'etc/passwd'],
  ] as const;
  for (const [here, there] of paths) assert.is(pathFor(here, 'amd64', 'arm64'), there);
});

test('what scripts of packages made is told from what packages brought', () => {
  put('root/var/lib/dpkg/info/base.list', '/.\n/etc\n/etc/brought\n/bin/tool\n');
  for (const f of [
    'etc/brought',
    'usr/bin/tool',
    'etc/made',
    'etc/ld.so.cache',
    'var/lib/x',
    'usr/lib/modules/6/x',
  ])
    put(`root/${f}`, 'x');
  symlinkSync('/etc/made', join(dir, 'root/etc/link'));
  assert.equal(made(join(dir, 'root')), ['etc/link', 'etc/made']);
});

test('machine code of another machine is refused, and so is what is none', () => {
  const elf = (machine: number) => {
    const b = Buffer.alloc(64);
    b.write('\x7fELF', 'latin1');
    b.writeUInt16LE(machine, 18);
    return b;
  };
  put('ours.node', elf(183));
  put('theirs.node', elf(62));
  put('short.node', 'x');
  // No machine code, though it has the machine's number in the right place.
  put('text.node', Buffer.from(`${' '.repeat(18)}\xb7\0`, 'latin1'));
  checkMachine('ours', join(dir, 'ours.node'), 'arm64');
  for (const f of ['theirs', 'short', 'text'])
    assert.throws(() => checkMachine(f, join(dir, `${f}.node`), 'arm64'), /no machine code for arm64/);
});

test('every machine has ready-made files among those the modules bring', () => {
  for (const arch of ['amd64', 'arm64'])
    for (const [name, file] of Object.entries(readyMade(arch))) {
      const from = join('node_modules', file);
      assert.ok(existsSync(from), from);
      checkMachine(name, from, arch);
    }
  assert.throws(() => readyMade('riscv64'), /There is no machine "riscv64"/);
});

test.run();
