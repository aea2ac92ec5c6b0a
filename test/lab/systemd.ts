// A system of its own under a real systemd: PID 1 of new namespaces, on the files of this computer with a layer over them
// that goes with it, and this repository in /src. /etc/systemd/system and /var are empty, so nothing of this computer runs
// there but systemd. Its cgroups are those of version 2; where this computer keeps its controllers in version 1,
// MemoryMax= and TasksMax= are read and not enforced. Its network is the test's, which takes one of its own first
// (inOwnNet in netns.ts). Needs root rights.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Ran, run } from '../../firmware/system/exec.ts';
import { child, ended } from './child.ts';
import { until } from './wait.ts';

const SYSTEMD = '/lib/systemd/systemd';

export interface System {
  /** Its files, seen from here. */
  readonly files: string;
  /** Runs a program in it as root; any exit code settles. */
  run(program: string, ...args: string[]): Promise<Ran>;
  /** As `run`, but a non-zero exit throws with what was said. Answers stdout, trimmed. */
  must(program: string, ...args: string[]): Promise<string>;
  /** A property of a unit. */
  show(unit: string, property: string): Promise<string>;
  stop(): Promise<void>;
}

/** Where cgroups of version 2 are mounted; '' for nowhere. */
const cgroups = () =>
  / (\/sys\/fs\/cgroup\S*) cgroup2 /.exec(readFileSync('/proc/mounts', 'utf8'))?.[1] ?? '';

/** Why none can be had here; '' when it can. */
export async function noSystemd(): Promise<string> {
  if (process.getuid?.() !== 0) return 'needs root rights';
  if (!existsSync(SYSTEMD)) return 'needs systemd';
  if (cgroups() === '') return 'needs cgroups of version 2';
  const r = await run('unshare', [...NAMESPACES, 'mount', '-t', 'tmpfs', 'none', '/mnt']).catch(
    () => undefined,
  );
  return r?.code === 0 ? '' : 'needs namespaces';
}

const NAMESPACES = ['--mount', '--pid', '--fork', '--kill-child', '--uts', '--ipc', '--cgroup'];

/** What PID 1 does before it is systemd. $1 is an empty folder, $2 the repository. */
const ENTER = `
mount -t tmpfs -o mode=755 none "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" none "$1/root"
cd "$1/root"
mount -t proc none proc
mount -t sysfs none sys
for dir in run var dev etc/systemd/system; do mount -t tmpfs -o mode=755 none $dir; done
mount -t tmpfs -o mode=1777 none tmp
mkdir src
mount --bind -o ro "$2" src
for file in null zero full random urandom tty; do touch dev/$file; mount --bind /dev/$file dev/$file; done
mkdir dev/pts dev/shm var/lib var/log
mount -t devpts -o newinstance,ptmxmode=0666 none dev/pts
mount -t tmpfs -o mode=1777 none dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs none sys/fs/cgroup
umount sys/fs/cgroup
mount -t cgroup2 none sys/fs/cgroup
# One that is given a name is not taken for a first start, at which all units would be enabled.
echo 0123456789abcdef0123456789abcdef > etc/machine-id
mkdir old
pivot_root . old
umount -l old
cd /
exec env -i container=lab PATH=/usr/sbin:/usr/bin ${SYSTEMD} --unit=basic.target --log-target=journal --show-status=no
`;

/** The process that `unshare` started for PID 1. */
function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
}

export async function startSystem(): Promise<System> {
  const folder = mkdtempSync(join(tmpdir(), 'ingle-systemd-'));
  const group = join(cgroups(), `ingle-systemd-${process.pid}`);
  mkdirSync(group);
  // Its cgroup is the top of those it sees.
  const into = `echo $$ > '${group}/cgroup.procs'; exec unshare ${NAMESPACES.join(' ')} bash -euc "$1" - "$2" "$3"`;
  const outer = child('bash', ['-euc', into, '-', ENTER, folder, process.cwd()], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const pid = await until(() => {
    if (outer.exitCode !== null) throw new Error('the namespaces could not be made');
    return childOf(outer.pid!);
  }, 'PID 1');
  const at = (program: string, args: string[]) =>
    run('nsenter', ['-t', String(pid), '-a', '--', program, ...args], { timeoutMs: 100_000 });
  const must: System['must'] = async (program, ...args) => {
    const r = await at(program, args);
    if (r.code !== 0)
      throw new Error(`${program} ${args.join(' ')}\nexit ${r.code}\n${r.stdout.toString()}\n${r.stderr}`);
    return r.stdout.toString().trim();
  };
  const system: System = {
    files: `/proc/${pid}/root`,
    run: (program, ...args) => at(program, args),
    must,
    show: (unit, property) => must('systemctl', 'show', '--value', '--property', property, unit),
    async stop() {
      await ended(outer, 'SIGKILL', 'systemd').catch(() => {});
      await until(() => removed(group), 'its cgroups to be empty');
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await until(async () => {
      if (outer.exitCode !== null) throw new Error('systemd could not be started');
      const { stdout } = await at('systemctl', ['is-system-running']);
      return ['running', 'degraded'].includes(stdout.toString().trim());
    }, 'systemd');
    return system;
  } catch (e) {
    await system.stop();
    throw e;
  }
}

/** Takes a cgroup and those below it away, unless processes of it are left. */
function removed(group: string): boolean {
  try {
    for (const e of readdirSync(group, { withFileTypes: true }))
      if (e.isDirectory() && !removed(join(group, e.name))) return false;
    rmdirSync(group);
    return true;
  } catch {
    return !existsSync(group);
  }
}
