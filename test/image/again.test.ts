// timeout: 3600 s, apart
// The root as it is packed, made again from the same inputs elsewhere, is the same. Needs root rights.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import * as assert from 'uvu/assert';
import { must, run } from '../../firmware/system/exec.ts';
import { baseRoot } from '../../image/base.ts';
import { cache, top } from '../../image/build.ts';
import { filesBelow } from '../../image/bundles.ts';
import { compile } from '../../image/compile.ts';
import { packagesFor } from '../../image/packages.ts';
import type { StageDevice } from '../../image/stage.ts';
import { packing, suiteOfStaged } from './staged.ts';

const { test, check, made } = suiteOfStaged('a root made again');

/** A device with SSH, whose package makes keys when it is installed. */
const ssh: StageDevice = {
  modules: [],
  ssh: {
    enabled: true,
    keys: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti'],
  },
  console: { secret: '', terminals: ['ttyS0'] },
};

/** What installing one more package changes of other packages' files: lists, users and groups. */
const listing =
  /^(etc\/(group|gshadow|passwd|shadow)-?|etc\/ld\.so\.cache|var\/(cache\/debconf\/.*|lib\/apt\/extended_states|lib\/dpkg\/status(-old)?))$/;

check(
  'the Debian root, made again with SSH, is the same but for what SSH brings, and stays as it was',
  async () => {
    assert.not.match(readFileSync(join(made().base, 'etc/passwd'), 'utf8'), /ingle/);
    assert.ok(existsSync(join(made().base, 'usr/bin/apt-get')));
    assert.is(lstatSync(join(made().base, 'usr/bin/mount')).mode & 0o4000, 0o4000);
    const wanted = packagesFor('amd64', { packages: [], firmware: ['common'], ssh: ssh.ssh });
    const other = await baseRoot(join(made().dir, 'cache'), wanted, 'amd64');
    const versions = (at: string) =>
      new Map(
        [
          ...readFileSync(join(at, 'var/lib/dpkg/status'), 'utf8').matchAll(
            /^Package: (.*)$[\s\S]*?^Version: (.*)$/gm,
          ),
        ].map(([, name, version]) => [name!, version!]),
      );
    const [was, now] = [versions(made().base), versions(other)];
    const newer = [...was].filter(([name, version]) => now.get(name) !== version);
    if (newer.length > 0) {
      console.log(`SKIP Debian has a newer ${newer[0]![0]} than the root that was kept, so the two differ`);
      return;
    }
    const said = await run('diff', ['-rq', '--no-dereference', made().base, other], { timeoutMs: 300_000 });
    const differ = said.stdout
      .toString()
      .split('\n')
      // Device files are told as differing by their kind alone.
      .filter((line) => line !== '' && !/ is a character special file while /.test(line))
      .filter((line) => !line.startsWith(`Only in ${other}`))
      .filter((line) => {
        const [, file = ''] = /^Files (.*) and .* differ$/.exec(line) ?? [];
        return !listing.test(file.slice(made().base.length + 1));
      });
    assert.equal(differ, []);
    await made().make('ssh', other, ssh);
    const keys = filesBelow(join(made().dir, 'ssh/etc/ssh')).filter((f) => f.includes('host'));
    assert.equal(keys, [], 'a host key is made by each hub');
    assert.match(
      readFileSync(join(made().dir, 'ssh/usr/lib/systemd/system/ssh.service.d/ingle.conf'), 'utf8'),
      /ssh-keygen -q -t ed25519 -N "" -f \/var\/lib\/ssh\//,
    );
    for (const f of filesBelow(join(made().dir, 'ssh'))) {
      const s = lstatSync(join(made().dir, 'ssh', f));
      assert.is(s.isFile() ? s.mode & 0o6000 : 0, 0, `${f} runs as its owner or group`);
    }
    rmSync(join(made().dir, 'ssh'), { recursive: true });
  },
);

/** Stages and packs as make() does, in the checkout it is started in. */
const elsewhere = `
  import { join } from 'node:path';
  import { bundles } from './image/bundles.ts';
  import { packErofs } from './image/erofs.ts';
  import { nativeFiles } from './image/native.ts';
  import { stage } from './image/stage.ts';
  import { debianTools } from './image/tools.ts';
  const [base, out, cache, options] = process.argv.slice(2);
  const { files } = await bundles(process.cwd(), []);
  const native = await nativeFiles(process.cwd(), cache, 'amd64');
  await stage({ top: process.cwd(), base, files, native, out, arch: 'amd64' });
  await packErofs(await debianTools(cache), out, out + '.erofs', JSON.parse(options));
`;

check(
  'another checkout, of another user with another mask, language and clock, makes the same bytes',
  async () => {
    const at = join(made().dir, 'deep/er/ingle');
    mkdirSync(at, { recursive: true });
    const listed = await must(
      'git',
      ['-c', 'safe.directory=*', 'ls-files', '-z', '-co', '--exclude-standard'],
      { cwd: top },
    );
    for (const f of listed.toString().split('\0'))
      if (f && lstatSync(join(top, f), { throwIfNoEntry: false })?.isFile()) {
        mkdirSync(dirname(join(at, f)), { recursive: true, mode: 0o700 });
        copyFileSync(join(top, f), join(at, f));
        chmodSync(join(at, f), lstatSync(join(top, f)).mode & 0o100 ? 0o700 : 0o600);
      }
    await must('cp', ['-al', join(top, 'node_modules'), join(at, 'node_modules')], { timeoutMs: 120_000 });
    writeFileSync(join(at, 'elsewhere.ts'), elsewhere);
    const options = JSON.stringify(packing);
    const words = [
      '--import',
      'tsx',
      'elsewhere.ts',
      made().base,
      join(made().dir, 'elsewhere'),
      cache,
      options,
    ];
    const env = { HOME: at, LC_ALL: 'C.UTF-8', LANG: 'ru_RU.UTF-8', TZ: 'Asia/Tokyo', USER: 'somebody' };
    await must('sh', ['-c', 'umask 077; exec "$0" "$@"', process.execPath, ...words], {
      cwd: at,
      env,
      timeoutMs: 1_200_000,
    });
    const hash = createHash('sha256')
      .update(readFileSync(join(made().dir, 'elsewhere.erofs')))
      .digest('hex');
    if (hash !== made().hash)
      console.log(
        (
          await run('diff', ['-rq', '--no-dereference', made().root, join(made().dir, 'elsewhere')])
        ).stdout.toString(),
      );
    assert.is(hash, made().hash);
    rmSync(join(made().dir, 'deep'), { recursive: true });
    rmSync(join(made().dir, 'elsewhere'), { recursive: true });
  },
);

check('machine code compiled again, in another compiler of the same packages, is equal', async () => {
  const again = join(made().dir, 'compiled');
  mkdirSync(again);
  const module = '@abandonware/bluetooth-hci-socket';
  const file = await compile(again, 'amd64', { top, module, product: 'bluetooth_hci_socket.node' });
  assert.ok(readFileSync(file).equals(readFileSync(made().native['bluetooth_hci_socket.node']!)));
  rmSync(again, { recursive: true });
});

test.run();
