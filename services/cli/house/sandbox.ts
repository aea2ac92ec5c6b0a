// The sandbox of a skill from a package under `npm start`: bubblewrap around the host of its slot.
//
// The host finds Node, the code of skills and the bus's socket, all read-only, and the slot's own folder of state, which
// alone it may write to. It has no network, sees no other process and keeps no capability. What bubblewrap cannot do,
// and a hub does (systemd/units/ingle-skill@.service, systemd/dbus/policy): a user of its own for each slot, caps on
// memory and processor that hold for all of its processes, a quota, a filter of system calls, and a bus that lets it
// call nobody. A skill in here can still speak to every service on this bus.
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stateOf } from '../../../firmware/skills/table.ts';
import { run } from '../../../firmware/system/exec.ts';

/** What holds for bubblewrap and all in it: KiB of data, open files, no core dumps. */
const LIMITS = 'ulimit -d 524288 && ulimit -n 256 && ulimit -c 0';
/**
 * bwrap ends at once by SIGTERM, and takes its process along: so only that process hears it, and ends in order. The
 * shell stays as bwrap's parent, as what a D-Bus daemon starts loses its first one; its end by SIGKILL is the end of all.
 */
const shell = `trap '' TERM; ${LIMITS} && "$@"; exit $?`;

export interface Sandbox {
  /** The command that runs a slot's host: `command` as it is where there is no sandbox, as it refuses packages then. */
  around(slot: number, command: readonly string[], o?: { newSession?: boolean }): string[];
  /** Why there is none; undefined: there is one. `said` are bubblewrap's own words. */
  fault: { reason: 'missing' | 'unusable'; said: string } | undefined;
}

export interface SandboxOptions {
  /** Folder of bundles of this build. */
  dist: string;
  /** Folder of the skills of the image, and of the hub's state. */
  skills: string;
  hub: string;
  /** Socket of the bus. */
  socket: string;
  /** The whole environment of a host; PATH says where programs are found. */
  env: Readonly<Record<string, string>>;
}

/** The libraries a program is linked with, and its loader; none for one that is linked with none. */
async function librariesOf(program: string): Promise<string[]> {
  const said = await run('ldd', [program]).then(
    (r) => r.stdout.toString(),
    () => '',
  );
  return [...said.matchAll(/(\/\S+) \(0x/g)].map(([, path]) => path!);
}

const given = (flag: string, paths: readonly string[]) => paths.flatMap((path) => [flag, path, path]);

/** Looks for bubblewrap and has it run Node once, as it will run skills. */
export async function openSandbox(o: SandboxOptions): Promise<Sandbox> {
  const node = process.execPath;
  const libraries = await librariesOf(node);
  const around: Sandbox['around'] = (slot, command, { newSession = false } = {}) => {
    const state = stateOf({ data: o.hub }, slot);
    // bwrap binds what is there.
    mkdirSync(state, { recursive: true, mode: 0o700 });
    return [
      ...['/bin/sh', '-c', shell, 'sh', 'bwrap', '--unshare-all', '--die-with-parent', '--cap-drop', 'ALL'],
      // One that the house starts has a session of its own already, and must stay in its group to be ended with it.
      ...(newSession ? ['--new-session'] : []),
      ...['--clearenv', ...Object.entries(o.env).flatMap(([name, value]) => ['--setenv', name, value])],
      ...['--proc', '/proc', '--dev', '/dev'],
      ...given('--ro-bind', [...libraries, node, join(o.dist, 'services/skill-host')]),
      // Says that the code beside it is made of modules.
      ...given('--ro-bind-try', ['/etc/ld.so.cache', join(dirname(o.dist), 'package.json')]),
      ...given('--ro-bind', [o.skills, join(o.hub, 'skills')]),
      ...given('--ro-bind-try', [o.socket]),
      ...given('--bind', [state]),
      ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', '/', '--', ...command],
    ];
  };
  const [sh, ...args] = around(1, [node, '-e', '0']) as [string, ...string[]];
  const env = { ...o.env };
  const there = await run('bwrap', ['--version'], { env }).catch(() => undefined);
  if (!there) return { around: (_, command) => [...command], fault: { reason: 'missing', said: '' } };
  const tried = await run(sh, args, { env, timeoutMs: 20_000 }).catch((e: Error) => ({
    code: -1,
    stderr: e.message,
  }));
  if (tried.code === 0) return { around, fault: undefined };
  const said = tried.stderr.trim().split('\n').slice(-2).join(' ').slice(0, 300);
  return { around: (_, command) => [...command], fault: { reason: 'unusable', said } };
}
