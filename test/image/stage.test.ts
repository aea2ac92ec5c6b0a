// timeout: 900 s
// The root as it is packed: made twice from the same inputs, and looked through. Needs root rights.
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { must, run } from '../../firmware/system/exec.ts';
import { baseRoot } from '../../image/base.ts';
import { bootParts } from '../../image/boot.ts';
import { cache, top } from '../../image/build.ts';
import { bundles, filesBelow } from '../../image/bundles.ts';
import { packErofs } from '../../image/erofs.ts';
import { packagesFor } from '../../image/packages.ts';
import { makeSbom } from '../../image/sbom.ts';
import { forAnyProcessor, snapshotPath } from '../../image/snapshot.ts';
import { stage } from '../../image/stage.ts';
import { debianTools } from '../../image/tools.ts';

const test = suite('stage');
const missing = ['/usr/bin/mmdebstrap', '/usr/bin/systemd-sysusers'].filter((f) => !existsSync(f));
const why =
  process.getuid?.() !== 0
    ? 'a root is built with root rights; run the tests as root'
    : missing.length > 0
      ? `there is no ${missing.join(', no ')}`
      : '';
if (why) console.log(`SKIP stage: ${why}`);
const check = why ? test.skip : test;

if (!why) mkdirSync(cache, { recursive: true });
// On the disk of the roots, as files of a staged root are links.
const dir = why ? '' : mkdtempSync(join(cache, 'stage-test-'));
let base = '';
let files: string[] = [];
const root = () => join(dir, 'first');
const text = (file: string) => readFileSync(join(root(), file), 'utf8');
const has = (file: string) => lstatSync(join(root(), file), { throwIfNoEntry: false }) !== undefined;

/** Stages the generic root and packs it; the hash of the bytes. */
async function make(name: string, from = base): Promise<string> {
  const out = join(dir, name);
  await stage({ top, base: from, files, out, arch: 'amd64' });
  const image = join(dir, `${name}.erofs`);
  const o = { date: 1_700_000_000, uuid: '6f0f5d0c-1c7e-4d55-9f33-3c1e0c3ff9a1' };
  await packErofs(await debianTools(cache), out, image, o);
  const hash = createHash('sha256').update(readFileSync(image)).digest('hex');
  console.log(`FIGURE root_erofs_mb ${(lstatSync(image).size / 1e6).toFixed(1)}`);
  rmSync(image);
  return hash;
}

let first = '';
test.before(async () => {
  if (why) return;
  base = await baseRoot(cache, packagesFor('amd64'), 'amd64');
  files = (await bundles(top, [])).files;
  first = await make('first').catch((e) => {
    // The hook swallows what it is thrown.
    console.error(e);
    throw e;
  });
});
test.after(() => {
  if (dir) rmSync(dir, { recursive: true, force: true });
});

check('the same inputs make the same bytes', async () => {
  assert.is(await make('second'), first);
  rmSync(join(dir, 'second'), { recursive: true });
});

check('the Debian root is made twice alike, and stays as it was', async () => {
  assert.not.match(readFileSync(join(base, 'etc/passwd'), 'utf8'), /ingle/);
  assert.ok(existsSync(join(base, 'usr/bin/apt-get')));
  const other = await baseRoot(join(dir, 'cache'), packagesFor('amd64'), 'amd64');
  const packages = (at: string) =>
    readFileSync(join(at, 'var/lib/dpkg/status'), 'utf8').match(/^Version: .*$/gm);
  if (JSON.stringify(packages(base)) !== JSON.stringify(packages(other))) {
    console.log('SKIP Debian has newer packages than the root that was kept, so the two differ');
    return;
  }
  assert.is(await make('third', other), first);
});

check('nothing is left that installs packages, compiles, or speaks for another machine', () => {
  for (const f of [
    'usr/bin/apt-get',
    'usr/bin/dpkg',
    'usr/bin/perl',
    'usr/bin/gcc',
    'usr/bin/npm',
    'usr/sbin/sshd',
  ])
    assert.not(has(f), f);
  const modules = filesBelow(join(root(), 'usr/lib/ingle/node_modules'));
  assert.equal(
    modules.filter((f) => f.startsWith('uWebSockets.js/') && f.endsWith('.node')).length,
    1,
    'one binary of uWebSockets.js',
  );
  assert.equal(
    modules.filter((f) => /\.(c|cc|cpp|h|gyp|ts)$/.test(f)),
    [],
  );
});

check(
  'Node starts from a snapshot: on any processor, with hash seeds of its own, and with all it needs',
  async () => {
    const flags = /NODE_FLAGS=(.*)"/.exec(text('usr/lib/systemd/system/ingle-.service.d/node.conf'))![1]!;
    assert.match(flags, new RegExp(`--snapshot-blob=/${snapshotPath}$`));
    const node = (program: string) =>
      run('chroot', [root(), '/usr/bin/node', ...flags.split(' '), '-e', program]).then((r) => ({
        code: r.code,
        stdout: r.stdout.toString().trim(),
      }));
    const program =
      "const { Worker } = require('worker_threads'); new Worker('require(\"worker_threads\").parentPort.postMessage(\"worker\")', { eval: true }).on('message', (n) => console.log(n, process.version, typeof fetch));";
    assert.match((await node(program)).stdout, /^worker v20\.\S+ function$/);
    assert.match(text('usr/bin/ingle'), new RegExp(`^#!/usr/bin/node --snapshot-blob=/${snapshotPath}\n`));
    const blob = readFileSync(join(root(), snapshotPath));
    // Behind the tag, its flags and the size of V8's own part: how many contexts, and whether V8 hashes anew.
    let at = 5;
    for (let strings = 3; strings > 0; strings--) at += 8 + Number(blob.readBigUInt64LE(at));
    assert.is(blob.readUInt32LE(at + 16), 1, 'V8 hashes anew with a seed of each start');
    assert.throws(() => forAnyProcessor(blob), /in another way/);
    for (const bytes of [0, 4, 63, 64, 200]) assert.throws(() => forAnyProcessor(Buffer.alloc(bytes)));
  },
);

check('every link of systemd leads to a unit that is there, and no unit of a service that is not', () => {
  for (const folder of ['etc/systemd/system', 'usr/lib/systemd/system']) {
    for (const f of filesBelow(join(root(), folder))) {
      const path = join(root(), folder, f);
      if (!lstatSync(path).isSymbolicLink()) continue;
      const to = readlinkSync(path);
      if (to === '/dev/null') continue;
      const target = to.startsWith('/') ? join(root(), to) : join(path, '..', to);
      assert.ok(existsSync(target), `${folder}/${f} -> ${to}`);
    }
  }
  for (const f of readdirSync(join(root(), 'usr/lib/systemd/system')).filter((n) => n.startsWith('ingle')))
    if (f.endsWith('.service'))
      for (const [, script] of text(`usr/lib/systemd/system/${f}`).matchAll(/\/usr\/lib\/ingle\/\S+\.js/g))
        assert.ok(has(script ?? ''), `${f}: ${script}`);
});

check('consoles are ours, on the serial line and on the screen', () => {
  const wants = readdirSync(join(root(), 'etc/systemd/system/ingle.target.wants'));
  for (const unit of ['ingle-serial@ttyS0.service', 'ingle-serial@tty1.service'])
    assert.ok(wants.includes(unit), unit);
  for (const unit of ['getty@.service', 'serial-getty@.service'])
    assert.is(readlinkSync(join(root(), 'etc/systemd/system', unit)), '/dev/null');
});

check('nobody has a password, nothing is writable for all, and few programs change the user', () => {
  for (const line of text('etc/shadow').trim().split('\n')) assert.match(line.split(':')[1]!, /^[*!]/, line);
  const setuid: string[] = [];
  for (const f of filesBelow(root())) {
    const s = lstatSync(join(root(), f));
    if (s.isSymbolicLink() || !s.isFile()) continue;
    assert.is(s.mode & 0o002, 0, `${f} is writable for all`);
    if (s.mode & 0o4000) setuid.push(f.split('/').at(-1)!);
  }
  const known = [
    'chfn',
    'chsh',
    'gpasswd',
    'mount',
    'newgrp',
    'passwd',
    'su',
    'umount',
    'dbus-daemon-launch-helper',
  ];
  assert.equal(
    setuid.filter((f) => !known.includes(f)),
    [],
  );
});

check('the kernel finds its modules, and firmware those that ask for it', () => {
  const version = readdirSync(join(root(), 'usr/lib/modules'))[0]!;
  const tree = `usr/lib/modules/${version}`;
  const there = new Set(filesBelow(join(root(), tree, 'kernel')).map((f) => `kernel/${f}`));
  const dep = text(`${tree}/modules.dep`).trim().split('\n');
  for (const line of dep)
    for (const f of line.split(/[:\s]+/).filter(Boolean)) assert.ok(there.has(f), `modules.dep names ${f}`);
  assert.is(dep.length, there.size);
  for (const name of ['mac80211_hwsim', 'hci_vhci', 'snd-aloop', 'dm-verity', 'brcmfmac', 'iwlwifi', 'r8169'])
    assert.ok(
      [...there].some((f) => f.includes(`/${name}.ko`)),
      name,
    );
  for (const f of ['regulatory.db-debian', 'brcm/brcmfmac43455-sdio.bin', 'rtw88/rtw8822c_fw.bin'])
    assert.ok(existsSync(join(root(), 'usr/lib/firmware', f)), f);
});

check('programs of the root find their libraries, and node its languages', async () => {
  const inside = async (...words: string[]) => (await must('chroot', [root(), ...words])).toString().trim();
  for (const program of [
    'usr/bin/pocketsphinx_continuous',
    'usr/bin/wireplumber',
    'usr/bin/pipewire-pulse',
    'usr/sbin/hostapd',
    'usr/sbin/wpa_supplicant',
    'usr/bin/rauc',
    'usr/libexec/bluetooth/bluetoothd',
    'usr/sbin/nft',
    'usr/bin/espeak-ng',
  ])
    assert.not.match(
      await inside('/usr/lib64/ld-linux-x86-64.so.2', '--list', `/${program}`),
      /not found/,
      program,
    );
  const code = `
    const day = (l) => new Intl.DateTimeFormat(l, { dateStyle: 'full', timeZone: 'Europe/Moscow' }).format(0);
    console.log(JSON.stringify([day('ru'), day('en'), day('de'), new URL('http://\\u043f\\u0440.\\u0440\\u0444').host,
      new Intl.PluralRules('ru').select(3), [...new Intl.Segmenter('th').segment('\\u0e2a\\u0e27')].length]))`;
  assert.equal(JSON.parse(await inside('/usr/bin/node', '-e', code)), [
    'четверг, 1 января 1970 г.',
    'Thursday, January 1, 1970',
    'Thursday, January 1, 1970',
    'xn--o1ac.xn--p1ai',
    'few',
    2,
  ]);
});

check(
  'the list of what is in it names what is left, with versions, and nothing that was taken out',
  async () => {
    const parts = await bootParts(cache, 'amd64');
    const image = { name: 'generic', version: '1.0.0', arch: 'amd64', date: 1_700_000_000 };
    const d = JSON.parse(makeSbom({ top, base, parts, root: root(), files, image })) as {
      packages: { name: string; versionInfo: string }[];
    };
    const names = d.packages.map((p) => p.name);
    for (const name of [
      'systemd',
      'libnode115',
      'systemd-boot-efi',
      'busybox-static',
      'firmware-brcm80211',
      'yjs',
      'sqlite3',
      'uws-pack',
      'dbus-next',
    ])
      assert.ok(names.includes(name), name);
    assert.ok(
      names.some((n) => n.startsWith('linux-image-')),
      'the kernel',
    );
    for (const name of ['perl-base', 'libx264-164', 'typescript', 'rollup', 'playwright-core'])
      assert.not(names.includes(name), name);
    for (const p of d.packages) assert.ok(p.versionInfo, p.name);
  },
);

test.run();
