// gate: in, it starts none of the programs that its imports know
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { keptFirmware } from '../../image/firmware.ts';
import { lessIcu } from '../../image/icu.ts';
import { keptModules } from '../../image/modules.ts';
import { chosen, rulesOf } from '../../image/rules.ts';
import { goneFiles, mentions, unusedLibraries } from '../../image/trim.ts';

const test = suite('trim');

test('of the rules that fit a path the last decides', () => {
  const rules = rulesOf(`
    usr/share/doc/   # all of it
    usr/bin/apt* !usr/bin/apt-mark
    etc/fstab
  `);
  assert.equal(rules, ['usr/share/doc/', 'usr/bin/apt*', '!usr/bin/apt-mark', 'etc/fstab']);
  for (const path of ['usr/share/doc/a/b', 'usr/bin/apt-get', 'etc/fstab'])
    assert.ok(chosen(path, rules), path);
  for (const path of ['usr/share/docs', 'usr/bin/apt-mark', 'etc/fstab.d', 'usr/share/doc'])
    assert.not(chosen(path, rules), path);
});

const dep = [
  'kernel/drivers/net/wireless/ath/ath10k/ath10k_pci.ko.xz: kernel/drivers/net/wireless/ath/ath.ko.xz kernel/net/helper.ko.xz',
  'kernel/drivers/net/wireless/ath/ath11k/ath11k-pci.ko.xz: kernel/drivers/soc/qcom/qmi.ko.xz',
  'kernel/drivers/net/wireless/ath/ath.ko.xz:',
  'kernel/drivers/soc/qcom/qmi.ko.xz:',
  'kernel/net/helper.ko.xz:',
  'kernel/drivers/gpu/drm/i915/i915.ko.xz:',
  'kernel/drivers/md/dm-verity.ko.xz:',
  'kernel/fs/erofs/erofs.ko.xz:',
  'kernel/drivers/nvme/host/nvme.ko.xz:',
  'kernel/drivers/net/wireless/virtual/mac80211_hwsim.ko.xz:',
  'kernel/sound/drivers/snd-aloop.ko.xz:',
  'kernel/sound/soc/codecs/snd-soc-wm8960.ko.xz:',
].join('\n');
const names = (files: Iterable<string>) =>
  [...files].map((f) =>
    f
      .split('/')
      .at(-1)!
      .replace(/\.ko.*/, ''),
  );

test('a module stays with what it needs; graphics and data centres go', () => {
  const stay = names(keptModules(dep, 'amd64'));
  for (const name of ['ath10k_pci', 'helper', 'dm-verity', 'erofs', 'nvme', 'mac80211_hwsim', 'snd-aloop'])
    assert.ok(stay.includes(name), name);
  for (const name of ['i915', 'ath11k-pci', 'snd-soc-wm8960']) assert.not(stay.includes(name), name);
  assert.ok(names(keptModules(dep, 'arm64')).includes('snd-soc-wm8960'), 'boards carry their codecs');
});

test('a device adds modules by name, and a name the kernel has not is told', () => {
  assert.ok(names(keptModules(dep, 'amd64', ['ath11k_pci'])).includes('ath11k-pci'));
  assert.throws(() => keptModules(dep, 'amd64', ['ath99k']), /no module "ath99k"/);
});

test('firmware stays that a module asks for, the newest the driver takes, and what its link leads to', () => {
  const files = [
    'iwlwifi-cc-a0-72.ucode',
    'iwlwifi-cc-a0-77.ucode',
    'iwlwifi-cc-a0-96.ucode',
    'iwlwifi-bz-b0-fm-c0-92.ucode',
    'iwlwifi-bz-b0-fm-c0-97.ucode',
    'iwlwifi-so-a0-gf-a0.pnvm',
    'ath11k/QCA6390/amss.bin',
    'rtw88/rtw8822c_fw.bin',
    'brcm/brcmfmac43455-sdio.bin',
    'cypress/cyfmac43455-sdio.bin',
    'brcm/brcmfmac43455-sdio.raspberrypi,4-model-b.txt',
    'regulatory.db',
    'rtl_bt/rtl8822cu_fw.bin',
    'amdgpu/green_sardine_ce.bin',
  ];
  const links = new Map([['brcm/brcmfmac43455-sdio.bin', 'cypress/cyfmac43455-sdio.bin']]);
  const declared = ['iwlwifi-cc-a0-77.ucode', 'iwlwifi-bz-a0-fm-c0-93.ucode', 'rtw88/rtw8822c_fw.bin'];
  assert.equal([...keptFirmware(files, links, declared)].sort(), [
    'brcm/brcmfmac43455-sdio.bin',
    'brcm/brcmfmac43455-sdio.raspberrypi,4-model-b.txt',
    'cypress/cyfmac43455-sdio.bin',
    'iwlwifi-bz-b0-fm-c0-92.ucode',
    'iwlwifi-cc-a0-77.ucode',
    'iwlwifi-so-a0-gf-a0.pnvm',
    'regulatory.db',
    'rtl_bt/rtl8822cu_fw.bin',
    'rtw88/rtw8822c_fw.bin',
  ]);
});

test('a firmware name with a star stands for all it fits', () => {
  const kept = keptFirmware(['qcom/a-1.bin', 'qcom/sub/a-1.bin', 'qcom/b.bin'], new Map(), ['qcom/a-*.bin']);
  assert.equal([...kept], ['qcom/a-1.bin']);
});

test('package tools and manuals go, what the hub runs and the notices of licences stay', () => {
  const stay = [
    'usr/bin/systemctl',
    'usr/bin/openssl',
    'usr/share/doc/bash/copyright',
    'usr/share/common-licenses/GPL-3',
    'usr/lib/x86_64-linux-gnu/espeak-ng-data/ru_dict',
    'usr/lib/x86_64-linux-gnu/espeak-ng-data/lang/zle/ru',
    'usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict',
    'usr/share/nodejs/acorn/dist/acorn.js',
    'usr/share/zoneinfo/Europe/Moscow',
    'usr/lib/x86_64-linux-gnu/security/pam_unix.so',
    'usr/sbin/ip',
    'etc/passwd',
  ];
  const go = [
    'usr/bin/apt-get',
    'usr/bin/perl5.40.1',
    'usr/share/doc/bash/changelog.gz',
    'usr/share/man/man1/ls.1.gz',
    'usr/lib/x86_64-linux-gnu/espeak-ng-data/fo_dict',
    'usr/share/pocketsphinx/model/en-us/en-us.lm.bin',
    'usr/share/nodejs/minimatch/dist/cjs/index.js.map',
    'usr/lib/x86_64-linux-gnu/security/pam_userdb.so',
    'usr/sbin/tc',
    'usr/lib/x86_64-linux-gnu/tc/normal.dist',
    'etc/passwd-',
    'etc/init.d/procps',
  ];
  assert.equal(goneFiles([...stay, ...go], 'amd64').sort(), [...go].sort());
});

test('a library stays while something names it, even to open it only when needed', () => {
  const program = Buffer.from('\x7fELF\0libc.so.6\0["libkmod.so.2"]\0usr/lib/libfoo-1.2.so.0\0', 'latin1');
  assert.equal(mentions(program), ['libc.so.6', 'libkmod.so.2', 'libfoo-1.2.so.0']);
  const libraries = new Map([
    ['libc.so.6', []],
    ['libkmod.so.2', ['libkmod.so.2.5.1']],
    ['libkmod.so.2.5.1', ['libzstd.so.1', 'libc.so.6']],
    ['libzstd.so.1', []],
    ['libX11.so.6', ['libxcb.so.1']],
    ['libxcb.so.1', ['libX11.so.6']],
  ]);
  assert.equal(unusedLibraries(libraries, mentions(program)), ['libX11.so.6', 'libxcb.so.1']);
});

/** A library around a package of ICU, as its own tools write it. */
function icuLibrary(items: Record<string, string>): Buffer {
  const paths = Object.keys(items).sort();
  const header = Buffer.alloc(32);
  header.writeUInt16LE(32, 0);
  header.set([0xda, 0x27], 2);
  header.write('CmnD', 12, 'latin1');
  const names = paths.map((p) => Buffer.from(`icudt76l/${p}\0`));
  const table = Buffer.alloc(4 + 8 * paths.length);
  table.writeUInt32LE(paths.length, 0);
  let name = table.length;
  let data = name + names.reduce((n, b) => n + b.length, 0);
  paths.forEach((p, i) => {
    table.writeUInt32LE(name, 4 + 8 * i);
    table.writeUInt32LE(data, 8 + 8 * i);
    name += names[i]!.length;
    data += items[p]!.length;
  });
  const contents = Buffer.from(paths.map((p) => items[p]).join(''));
  return Buffer.concat([Buffer.from('\x7fELF some code'), header, table, ...names, contents]);
}

test('ICU keeps English, Russian and what is no language, at the same length', () => {
  const all = {
    'brkitr/thaidict.dict': 'THAI',
    'de.res': 'GERMAN',
    'en.res': 'ENGLISH',
    'gb18030.cnv': 'CHINESE',
    'lang/de_AT.res': 'AUSTRIAN',
    'lang/ru.res': 'RUSSIAN',
    'nfkc.nrm': 'NORMAL',
    'res_index.res': 'INDEX',
    'zoneinfo64.res': 'ZONES',
  };
  const before = icuLibrary(all);
  const { library, left } = lessIcu(before);
  assert.is(library.length, before.length);
  assert.equal(left, [
    'icudt76l/en.res',
    'icudt76l/lang/ru.res',
    'icudt76l/nfkc.nrm',
    'icudt76l/res_index.res',
    'icudt76l/zoneinfo64.res',
  ]);
  const text = library.toString('latin1');
  for (const word of ['ENGLISH', 'RUSSIAN', 'NORMAL', 'INDEX', 'ZONES']) assert.ok(text.includes(word), word);
  for (const word of ['GERMAN', 'AUSTRIAN', 'CHINESE', 'THAI']) assert.not(text.includes(word), word);
  assert.equal(lessIcu(library).library, library, 'nothing is left to take out');
  assert.throws(() => lessIcu(Buffer.from('no data')), /no data of ICU/);
});

test.run();
