// Root's container, built and run by podman. What stands in: the two base images. The real ones cannot be pulled on every
// machine, so these have their names, Debian 12 and this computer's Node where the real ones have it, and less besides.
// What is built and started on them is what the Containerfile says. They are kept in .cache/container.
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { must, type Ran, run } from '../../firmware/system/exec.ts';

const home = join(process.cwd(), '.cache/container');
const here = ['--root', join(home, 'store'), '--runroot', join(home, 'run')];
const LONG = { timeoutMs: 3_000_000 };

/** Runs podman on a store of its own; any exit code settles. */
export const podman = (...words: string[]): Promise<Ran> => run('podman', [...here, ...words], LONG);

/** As `podman`, but a non-zero exit throws. Answers stdout, trimmed. */
export async function mustPodman(...words: string[]): Promise<string> {
  const r = await podman(...words);
  if (r.code !== 0) throw new Error(`podman ${words.join(' ')}\nexit ${r.code}\n${r.stderr.slice(-3000)}`);
  return r.stdout.toString().trim();
}

/** Why none can be had here; '' when it can. */
export function noPodman(): string {
  if (process.getuid?.() !== 0) return 'needs root rights';
  const missing = ['/usr/bin/podman', '/usr/bin/crun', '/usr/bin/mmdebstrap', '/usr/include/node/node.h'];
  const file = missing.find((f) => !existsSync(f));
  return file ? `there is no ${file}` : '';
}

/** As the real ones, /usr/local has Node with its headers, and there is a user `node`. $1 is the root. */
const NODE = `
mkdir -p "$1/usr/local/include" "$1/usr/local/lib/node_modules"
cp "$(readlink -f "$(command -v node)")" "$1/usr/local/bin/node"
cp -a /usr/include/node "$1/usr/local/include/"
cp -a "$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")" "$1/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$1/usr/local/bin/npm"
ln -s ../lib/node_modules/npm/bin/npx-cli.js "$1/usr/local/bin/npx"
chroot "$1" groupadd --gid 1000 node
chroot "$1" useradd --uid 1000 --gid node --shell /bin/bash --create-home node
`;

/** Makes the base image `name` unless it is there. */
async function standIn(name: string, packages: readonly string[]): Promise<void> {
  if ((await podman('image', 'exists', name)).code === 0) return;
  const tree = join(home, 'tree');
  rmSync(tree, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  const include = packages.length > 0 ? [`--include=${packages.join(',')}`] : [];
  const bare = ['--mode=root', '--variant=minbase', '--aptopt=APT::Install-Recommends "false"', ...include];
  await must('mmdebstrap', [...bare, '--format=directory', 'bookworm', tree], LONG);
  await must('bash', ['-euc', NODE, '-', tree], LONG);
  const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  const tar = join(home, 'tree.tar');
  await must('tar', ['-C', tree, '-cf', tar, '.'], LONG);
  await mustPodman('import', '--change', `ENV PATH=${path}`, '--change', 'CMD ["node"]', tar, name);
  rmSync(tar);
  rmSync(tree, { recursive: true, force: true });
}

/** Builds the Containerfile on stand-ins of the images it names, with the registry that this computer's npm is set to. */
export async function buildImage(containerfile: string, name: string): Promise<void> {
  await standIn('docker.io/library/node:20-bookworm-slim', []);
  await standIn('docker.io/library/node:20-bookworm', ['build-essential', 'python3', 'ca-certificates']);
  const of = async (key: string) => (await must('npm', ['config', 'get', key])).toString().trim();
  const lent = [
    [await of('userconfig'), '/root/.npmrc'],
    [await of('globalconfig'), '/usr/local/etc/npmrc'],
    ['/etc/ssl/certs', '/etc/ssl/certs'],
    ['/etc/resolv.conf', '/etc/resolv.conf'],
  ].flatMap(([from, to]) => (existsSync(from!) ? ['-v', `${from}:${to}:ro`] : []));
  const how = ['--format', 'docker', '--pull=never', '--isolation', 'chroot', '--network', 'host', ...lent];
  await mustPodman('build', ...how, '-f', containerfile, '-t', name, '.');
}
