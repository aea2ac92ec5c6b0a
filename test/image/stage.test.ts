// timeout: 3600 s, patient
// The root as it is packed, looked through. That it can be made again: again.test.ts. Needs root rights.
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { countries } from '../../firmware/device/countries.ts';
import { errorTable } from '../../firmware/protocol/errors.ts';
import { SLOTS } from '../../firmware/skills/slots.ts';
import { must, run } from '../../firmware/system/exec.ts';
import { bootParts } from '../../image/boot.ts';
import { cache, top } from '../../image/build.ts';
import { filesBelow } from '../../image/bundles.ts';
import { carriedModules, makeSbom } from '../../image/sbom.ts';
import { hostSnapshotPath, snapshotPath } from '../../image/snapshot.ts';
import { suiteOfStaged } from './staged.ts';

const { test, check, made } = suiteOfStaged('stage');

const root = () => made().root;
const text = (file: string) => readFileSync(join(root(), file), 'utf8');
const has = (file: string) => lstatSync(join(root(), file), { throwIfNoEntry: false }) !== undefined;

check('no file tells where or by whom it was built', () => {
  const told = [top, cache, made().dir, hostname()].filter((t) => t.length > 6);
  for (const f of filesBelow(root())) {
    const path = join(root(), f);
    if (!lstatSync(path).isFile()) continue;
    const bytes = readFileSync(path);
    for (const t of told) assert.not(bytes.includes(t), `${f} names ${t}`);
  }
});

check("what bundles load beside them is there, for the root's own Node", async () => {
  const ours = filesBelow(join(root(), 'usr/lib/ingle/services')).filter((f) => f.endsWith('.js'));
  const named = new Set(
    ours.flatMap((f) =>
      // A line that is too long is broken within a text, too.
      [
        ...text(join('usr/lib/ingle/services', f))
          .replaceAll('\\\n', '')
          .matchAll(/ingleNative\(\s*"([^"]+)"\)/g),
      ].map((m) => m[1]!),
    ),
  );
  assert.equal([...named].sort(), [
    'bluetooth_hci_socket.node',
    'node_datachannel.node',
    'node_sqlite3.node',
    'serialport.node',
  ]);
  const quota = await run('chroot', [root(), '/usr/lib/ingle/native/ingle-quota']);
  assert.equal([quota.code, /^usage: /.test(quota.stderr)], [2, true], quota.stderr);
  for (const f of filesBelow(join(root(), 'usr/lib/ingle/native')).filter((f) => f.endsWith('.node'))) {
    const loaded = await run('chroot', [
      root(),
      '/usr/bin/node',
      '-e',
      `require('/usr/lib/ingle/native/${f}')`,
    ]);
    assert.is(loaded.code, 0, `${f}: ${loaded.stderr}`);
  }
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
  // Of npm's modules the machine code alone, each file named by a bundle; all else is in the bundles. And our one program.
  assert.equal(filesBelow(join(root(), 'usr/lib/ingle/native')), [
    'bluetooth_hci_socket.node',
    'ingle-quota',
    'node_datachannel.node',
    'node_sqlite3.node',
    'serialport.node',
    'uws_linux_x64_115.node',
  ]);
  const ours = filesBelow(join(root(), 'usr/lib/ingle'));
  assert.equal(
    ours.filter((f) => f.includes('node_modules') || /\.(c|cc|cpp|h|gyp|gypi|mk|ts|map)$/.test(f)),
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
    // Slots of skills start from one of their host, which comes as far as to miss the bus.
    const unit = text('usr/lib/systemd/system/ingle-.service.d/node.conf');
    assert.match(unit, new RegExp(`SKILL_FLAGS=.* --snapshot-blob=/${hostSnapshotPath}"`));
    const main = '/usr/lib/ingle/services/skill-host/main.js';
    const host = await run(
      'chroot',
      [root(), '/usr/bin/node', `--snapshot-blob=/${hostSnapshotPath}`, main, '1'],
      { env: { INGLE_BUS_ADDRESS: 'unix:path=/nonexistent' } },
    );
    assert.equal([host.code, /D-Bus/.test(host.stderr)], [errorTable.unavailable.exit, true], host.stderr);
    // Behind the tag, its flags and the size of V8's own part: how many contexts, and whether V8 hashes anew.
    for (const one of [blob, readFileSync(join(root(), hostSnapshotPath))]) {
      let tag = 5;
      for (let strings = 3; strings > 0; strings--) tag += 8 + Number(one.readBigUInt64LE(tag));
      assert.is(one.readUInt32LE(tag + 16), 1, 'V8 hashes anew with a seed of each start');
    }
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

check('nobody has a password, nothing is writable for all, and no program lends its user or group', () => {
  for (const line of text('etc/shadow').trim().split('\n')) assert.match(line.split(':')[1]!, /^[*!]/, line);
  for (const f of filesBelow(root())) {
    const s = lstatSync(join(root(), f));
    if (s.isSymbolicLink() || !s.isFile()) continue;
    assert.is(s.mode & 0o002, 0, `${f} is writable for all`);
    assert.is(s.mode & 0o6000, 0, `${f} runs as its owner or group`);
  }
  // Nothing of D-Bus is started in the way that needed one; the bus itself is systemd's by name.
  for (const f of readdirSync(join(root(), 'usr/share/dbus-1/system-services')))
    if (f !== 'org.freedesktop.systemd1.service')
      assert.match(text(`usr/share/dbus-1/system-services/${f}`), /^SystemdService=/m, f);
});

check('the root carries the bundle of every skill, and a user for every slot', () => {
  const ours = filesBelow(join(top, 'services/skills')).flatMap(
    (f) => /^(\w+)\/manifest\.json$/.exec(f)?.[1] ?? [],
  );
  assert.ok(ours.length > 1);
  for (const id of ours)
    for (const file of ['manifest.json', 'skill.js'])
      assert.ok(has(`usr/lib/ingle/skills/${id}/${file}`), id);
  assert.is(
    text('usr/lib/ingle/skills/slots.json'),
    readFileSync(join(top, 'services/skills/slots.json'), 'utf8'),
  );
  for (let n = 1; n <= SLOTS; n++) assert.match(text('etc/passwd'), new RegExp(`^ingle-skill-${n}:`, 'm'));
});

check('the countries a device file may name are those whose rules the radios have', () => {
  const db = readFileSync(join(root(), 'usr/lib/firmware/regulatory.db-debian'));
  // Magic, version, then four bytes a country until one is empty (net/wireless/reg.c, struct fwdb_country).
  const there: string[] = [];
  for (let at = 8; db.readUInt16BE(at + 2) !== 0; at += 4) there.push(db.toString('latin1', at, at + 2));
  assert.equal(there.sort(), [...countries].sort());
});

check('names are asked of name servers only', () => {
  assert.match(text('usr/lib/systemd/resolved.conf.d/ingle.conf'), /^LLMNR=no\nMulticastDNS=no$/m);
  // It rules over what a network's own file says.
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
    const d = JSON.parse(
      makeSbom({
        top,
        base: made().base,
        parts,
        root: root(),
        modules: carriedModules(top, made().files),
        image,
      }),
    ) as {
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
    for (const name of [
      'perl-base',
      'libx264-164',
      'typescript',
      'rollup',
      'playwright-core',
      'node-gyp',
      'npmlog',
    ])
      assert.not(names.includes(name), name);
    for (const p of d.packages) assert.ok(p.versionInfo, p.name);
  },
);

test.run();
