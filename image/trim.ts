// Takes out of the staged root what no hub uses: kernel modules, firmware of chips it has no driver for, the package
// tools and their languages, voices and models that are never asked for, and libraries nothing names any more.
import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { filesBelow } from './bundles.ts';
import { keptFirmware } from './firmware.ts';
import { lessIcu } from './icu.ts';
import { keptModules } from './modules.ts';
import { chosen, rulesOf } from './rules.ts';
import type { Tools } from './tools.ts';

/** Where Debian keeps an architecture's libraries. */
export const triplet: Record<string, string> = { amd64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' };

/** What goes, `{lib}` being the folder of libraries. Each rule names what one of our Debian packages carries. */
const gone = rulesOf(`
  # Packages are not installed on a hub: it is updated as a whole.
  usr/bin/apt* usr/lib/apt/ usr/share/apt/ usr/bin/sqv usr/bin/dpkg* usr/sbin/dpkg* usr/lib/dpkg/ usr/share/dpkg/
  usr/libexec/dpkg/ usr/bin/deb* usr/sbin/update-* usr/bin/update-alternatives usr/sbin/invoke-rc.d usr/sbin/service
  usr/share/debconf/ usr/share/perl5/ usr/bin/perl* {lib}/perl* usr/share/keyrings/ etc/apt/ etc/dpkg/ etc/debconf.conf
  etc/adduser.conf etc/deluser.conf usr/lib/systemd/system/apt-* usr/lib/systemd/system/dpkg-*
  etc/alternatives/README etc/cron.d/ etc/cron.daily/ etc/logrotate.d/ etc/init.d/ etc/rc*
  etc/initramfs-tools/ usr/share/initramfs-tools/ usr/bin/lsinitramfs usr/bin/unmkinitramfs usr/sbin/mkinitramfs
  etc/kernel/ etc/apparmor.d/ etc/update-motd.d/ etc/network/ etc/ifplugd/ etc/dhcp/ etc/wpa_supplicant/
  usr/lib/kernel/ usr/lib/dracut/ usr/lib/klibc* usr/lib/init/ usr/lib/lsb/ usr/lib/pm-utils/
  usr/lib/NetworkManager/ usr/sbin/adduser usr/sbin/deluser usr/share/bug/ usr/share/lintian/ usr/share/menu/
  usr/share/apport/ usr/share/doc-base/ usr/share/gdb/ usr/share/gcc/ usr/share/pam-configs/ usr/share/debianutils/
  usr/share/base-files/ usr/share/base-passwd/ etc/skel/ etc/xdg/autostart/
  # Words for people at a shell in other languages, and completions.
  usr/share/locale/ usr/share/man/ usr/share/info/ usr/share/bash-completion/ usr/share/zsh/ usr/share/fish/
  usr/share/vim/ usr/share/doc/ usr/share/mime/ {lib}/gconv/ usr/share/dict/ usr/share/pixmaps/ usr/share/readline/
  usr/share/tabset/ usr/bin/localedef usr/bin/iconv usr/sbin/iconvconfig usr/sbin/locale-gen
  usr/share/i18n/ usr/bin/bashbug usr/bin/c_rehash usr/bin/tzselect usr/bin/catchsegv
  # Programs that lend their user's rights to whoever starts them: nobody has a password, and systemd starts services.
  usr/bin/chage usr/bin/chfn usr/bin/chsh usr/bin/expiry usr/bin/gpasswd usr/bin/newgrp usr/bin/passwd usr/bin/su
  usr/sbin/unix_chkpwd usr/lib/dbus-1.0/dbus-daemon-launch-helper
  usr/bin/ssh-agent usr/bin/ssh-add usr/lib/openssh/ssh-keysign usr/lib/openssh/ssh-pkcs11-helper
  usr/lib/openssh/ssh-sk-helper
  # Keys that Debian's package made when it was installed: a hub makes its own at its first start (image/ssh.ts).
  etc/ssh/ssh_host_*
  # Names of devices for people: udev's rules work without.
  usr/lib/udev/hwdb.bin usr/lib/udev/hwdb.d/ usr/share/misc/ usr/bin/systemd-hwdb
  usr/lib/systemd/system/systemd-hwdb-update.service
  usr/lib/systemd/system/sysinit.target.wants/systemd-hwdb-update.service
  # Speech in the languages of the hub; recognition is by grammar and needs no model of whole languages.
  {lib}/espeak-ng-data/ !{lib}/espeak-ng-data/en_dict !{lib}/espeak-ng-data/ru_dict !{lib}/espeak-ng-data/phon*
  !{lib}/espeak-ng-data/intonations !{lib}/espeak-ng-data/lang/gmw/en* !{lib}/espeak-ng-data/lang/zle/ru*
  !{lib}/espeak-ng-data/voices/!v/ {lib}/espeak-ng-data/phondata-manifest
  usr/share/pocketsphinx/model/en-us/en-us.lm.bin usr/share/pocketsphinx/model/en-us/en-us-phone.lm.bin
  usr/bin/pocketsphinx_mdef_convert
  # Sound servers' bridges to networks, X and other sound systems.
  {lib}/pipewire-0.3/libpipewire-module-avb.so {lib}/pipewire-0.3/libpipewire-module-ffado-driver.so
  {lib}/pipewire-0.3/libpipewire-module-jack* {lib}/pipewire-0.3/libpipewire-module-netjack2*
  {lib}/pipewire-0.3/libpipewire-module-raop* {lib}/pipewire-0.3/libpipewire-module-roc*
  {lib}/pipewire-0.3/libpipewire-module-rtp* {lib}/pipewire-0.3/libpipewire-module-vban*
  {lib}/pipewire-0.3/libpipewire-module-x11* {lib}/pipewire-0.3/libpipewire-module-zeroconf*
  {lib}/pipewire-0.3/libpipewire-module-snapcast* {lib}/spa-0.2/avb/ {lib}/spa-0.2/v4l2/ {lib}/spa-0.2/test/
  {lib}/spa-0.2/videoconvert/ {lib}/spa-0.2/videotestsrc/ {lib}/spa-0.2/vulkan/ {lib}/spa-0.2/libcamera/
  {lib}/spa-0.2/filter-graph/libspa-filter-graph-plugin-sofa.so usr/share/libmysofa/
  {lib}/spa-0.2/filter-graph/libspa-filter-graph-plugin-lv2.so usr/share/libffado2/ usr/lib/udev/rules.d/60-ffado.rules
  usr/share/sounds/ {lib}/alsa-topology/ usr/bin/pax11publish usr/bin/pa-info usr/bin/axfer usr/bin/alsabat
  usr/bin/pipewire-avb usr/bin/pipewire-aes67 usr/bin/pw-dsdplay usr/bin/pw-encplay usr/bin/pw-midi* usr/bin/amidi
  usr/bin/aplaymidi* usr/bin/arecordmidi* usr/bin/aseq* usr/bin/aconnect usr/bin/alsatplg usr/bin/alsaloop
  etc/X11/ usr/share/X11/ etc/pulse/client.conf.d/ usr/bin/spa-*
  # Tools to develop Bluetooth and node with, and what else nobody calls.
  usr/bin/btmon usr/bin/bluemoon usr/bin/obexctl usr/bin/mpris-proxy usr/bin/l2test usr/bin/rctest usr/bin/gatttool
  usr/bin/ciptool usr/bin/sdptool usr/bin/rfcomm usr/bin/hex2hcd usr/libexec/bluetooth/obexd
  usr/share/nodejs/corepack/ usr/bin/corepack usr/share/nodejs/@types/ usr/share/nodejs/undici-types/
  usr/share/nodejs/acorn-* !usr/share/nodejs/acorn-walk/ usr/bin/acorn
  usr/bin/bluetoothctl usr/sbin/ldconfig usr/sbin/tc {lib}/tc/
  usr/bin/dconf usr/libexec/dconf-service {lib}/avahi/ {lib}/sasl2/ {lib}/krb5/ {lib}/ossl-modules/ {lib}/engines-3/
  # The only ones that ask for whole databases, of two kinds.
  {lib}/security/pam_userdb.so usr/bin/lslogins
  # Device trees of boards come from their firmware (image/boards.ts).
  usr/lib/linux-image-*
  usr/lib/depmod.d/ usr/lib/pcrlock.d/ usr/lib/systemd/systemd-pcrlock usr/bin/nawk usr/bin/routel usr/bin/rdma
  usr/sbin/e2scrub* usr/sbin/tipc usr/sbin/dcb usr/sbin/devlink usr/sbin/vdpa usr/sbin/genl usr/sbin/arpd
`);

/** The files that go, of all in the root. Paths without a slash at their start. */
export function goneFiles(files: readonly string[], arch: string): string[] {
  const lib = `usr/lib/${triplet[arch] ?? arch}`;
  const rules = gone.map((rule) => rule.replace('{lib}', lib));
  const notice = /^usr\/share\/doc\/[^/]+\/copyright$/;
  const backup = /^etc\/(passwd|group|shadow|gshadow|subuid|subgid)-$/;
  const forMakers = /^usr\/share\/nodejs\/.*\.(d\.[cm]?ts|map|md)$/;
  return files.filter((f) => !notice.test(f) && (backup.test(f) || forMakers.test(f) || chosen(f, rules)));
}

/** Names of libraries a program mentions: those it is linked to, and those it opens itself, as its notes say. */
export function mentions(program: Buffer): string[] {
  return [...program.toString('latin1').matchAll(/lib[\w+.-]*?\.so(\.[0-9.]*[0-9])?/g)].map((m) => m[0]);
}

/**
 * Libraries that nothing which stays mentions.
 * @param libraries name -> names it mentions; a symbolic link mentions what it leads to
 * @param roots names that programs and plug-ins mention
 */
export function unusedLibraries(
  libraries: ReadonlyMap<string, readonly string[]>,
  roots: Iterable<string>,
): string[] {
  const used = new Set<string>();
  const use = (name: string) => {
    if (used.has(name) || !libraries.has(name)) return;
    used.add(name);
    for (const n of libraries.get(name)!) use(n);
  };
  for (const name of roots) use(name);
  return [...libraries.keys()].filter((name) => !used.has(name));
}

/** Opened by the C library by names it puts together. */
const always = ['libnss_files.so.2', 'libnss_dns.so.2', 'libnss_resolve.so.2', 'libnss_myhostname.so.2'];

/** Removes what nothing names out of the folder of libraries; everything else in the root counts as a user. */
function dropLibraries(root: string, files: readonly string[], lib: string): void {
  const libraries = new Map<string, readonly string[]>();
  const roots = new Set<string>(always);
  for (const f of files) {
    const path = join(root, f);
    const stat = lstatSync(path);
    const link = stat.isSymbolicLink();
    if (!link && !stat.isFile()) continue;
    const isLibrary =
      f.startsWith(`${lib}/lib`) && !f.slice(lib.length + 1).includes('/') && f.includes('.so');
    if (isLibrary)
      libraries.set(basename(f), link ? [basename(readlinkSync(path))] : mentions(readFileSync(path)));
    else if (link) roots.add(basename(readlinkSync(path)));
    else if (isElf(path)) for (const n of mentions(readFileSync(path))) roots.add(n);
  }
  for (const name of unusedLibraries(libraries, roots)) rmSync(join(root, lib, name));
}

function isElf(path: string): boolean {
  const head = Buffer.alloc(4);
  const fd = openSync(path, 'r');
  readSync(fd, head, 0, 4, 0);
  closeSync(fd);
  return head.equals(Buffer.from('\x7fELF', 'latin1'));
}

/** Removes links to units that are gone; one that masks a unit leads to /dev/null and stays. */
function dropDangling(root: string, folder: string): void {
  for (const f of filesBelow(join(root, folder))) {
    const path = join(root, folder, f);
    if (!lstatSync(path).isSymbolicLink()) continue;
    const to = readlinkSync(path);
    if (to !== '/dev/null' && !existsSync(to.startsWith('/') ? join(root, to) : join(dirname(path), to)))
      rmSync(path);
  }
}

/** Removes folders that have nothing in them any more, but for `dir` itself. */
function dropEmpty(dir: string): void {
  for (const e of readdirSync(dir, { withFileTypes: true })) {
    if (!e.isDirectory()) continue;
    const path = join(dir, e.name);
    dropEmpty(path);
    if (readdirSync(path).length === 0) rmdirSync(path);
  }
}

/**
 * Trims a staged root in place; its files are links to the base's, so they are removed and never written.
 * @param modules kernel modules a device adds
 * @throws Error for a module the kernel has not
 */
export async function trim(
  root: string,
  o: { arch: string; tools: Tools; modules?: readonly string[] },
): Promise<void> {
  const drop = (files: Iterable<string>) => {
    for (const f of files) rmSync(join(root, f));
  };
  drop(goneFiles(filesBelow(root), o.arch));
  await trimKernel(root, o, drop);
  const lib = `usr/lib/${triplet[o.arch] ?? o.arch}`;
  dropLibraries(root, filesBelow(root), lib);
  for (const f of readdirSync(join(root, lib)).filter((n) => /^libicudata\.so\.[\d.]+\.\d+$/.test(n))) {
    const path = join(root, lib, f);
    const { library } = lessIcu(readFileSync(path));
    rmSync(path);
    writeFileSync(path, library);
  }
  dropDangling(root, 'etc/systemd/system');
  for (const dir of ['etc', 'usr/lib', 'usr/share', 'usr/libexec']) dropEmpty(join(root, dir));
}

async function trimKernel(
  root: string,
  o: { arch: string; tools: Tools; modules?: readonly string[] },
  drop: (files: Iterable<string>) => void,
): Promise<void> {
  const kernels = join(root, 'usr/lib/modules');
  const version = readdirSync(kernels)[0]!;
  const tree = join(kernels, version);
  const stay = keptModules(readFileSync(join(tree, 'modules.dep'), 'utf8'), o.arch, o.modules);
  drop(
    filesBelow(join(tree, 'kernel'))
      .map((f) => `kernel/${f}`)
      .filter((f) => !stay.has(f))
      .map((f) => `usr/lib/modules/${version}/${f}`),
  );
  dropEmpty(join(tree, 'kernel'));
  const paths = [...stay].sort().map((f) => join(tree, f));
  const said = await o.tools.must('usr/sbin/modinfo', ['-F', 'firmware', ...paths], { timeoutMs: 120_000 });
  const declared = said.toString().split('\n').filter(Boolean);
  const firmware = join(root, 'usr/lib/firmware');
  if (existsSync(firmware)) {
    const files = filesBelow(firmware);
    const links = new Map<string, string>();
    for (const f of files)
      if (lstatSync(join(firmware, f)).isSymbolicLink())
        links.set(f, normalize(join(dirname(f), readlinkSync(join(firmware, f)))));
    const kept = keptFirmware(files, links, declared);
    drop(files.filter((f) => !kept.has(f)).map((f) => `usr/lib/firmware/${f}`));
  }
  // What depmod made names modules that are gone; its files are the base's own, so they go before it writes.
  for (const f of readdirSync(tree))
    if (/^modules\.(dep|alias|symbols|softdep|devname|weakdep)|\.bin$/.test(f)) rmSync(join(tree, f));
  await o.tools.must('usr/sbin/depmod', ['-b', root, '-m', '/usr/lib/modules', version], {
    timeoutMs: 300_000,
  });
}
