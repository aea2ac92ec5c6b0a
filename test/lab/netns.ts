// Network namespaces of a test: a middle one, and others each on a cable of its own to it. Needs root rights.
import { type ChildProcess, type SpawnOptions, spawnSync } from 'node:child_process';
import { must, type Ran, run } from '../../firmware/system/exec.ts';
import { child } from './child.ts';

/** Why namespaces cannot be had here; '' when they can. */
export async function noNets(): Promise<string> {
  if (process.getuid?.() !== 0) return 'needs root rights';
  const r = await run('unshare', [
    '--net',
    'ip',
    'link',
    'add',
    'x0',
    'type',
    'veth',
    'peer',
    'name',
    'x1',
  ]).catch(() => undefined);
  return r?.code === 0 ? '' : 'needs network namespaces and ip';
}

export interface Net {
  /** Its address, and the middle one's on its cable. */
  readonly address: string;
  readonly middle: string;
  /** Starts a program in it, which dies with the test. */
  start(program: string, args: readonly string[], o?: SpawnOptions): ChildProcess;
  /** Runs a program in it to its end. */
  run(program: string, args: readonly string[], o?: { cwd?: string }): Promise<Ran>;
  /** Pulls its cable, or plugs it in. */
  cable(plugged: boolean): Promise<void>;
}

/** Makes the middle one and one for each name; `remove` takes all away, and so does the end of this process. */
export async function openNets<N extends string>(names: readonly N[]) {
  const middle = `ingle-${process.pid}-mid`;
  const made: string[] = [];
  const drop = () => {
    for (const ns of made.splice(0)) spawnSync('ip', ['netns', 'del', ns]);
  };
  process.once('exit', drop);
  const ip = (...words: string[]) => must('ip', words);
  async function add(ns: string): Promise<void> {
    await ip('netns', 'add', ns);
    made.push(ns);
    await ip('-n', ns, 'link', 'set', 'lo', 'up');
  }
  const inside = (ns: string, middleAddress: string, address: string): Net => ({
    address,
    middle: middleAddress,
    start: (program, args, o) => child('ip', ['netns', 'exec', ns, program, ...args], o),
    run: (program, args, o) =>
      run('ip', ['netns', 'exec', ns, program, ...args], { ...o, timeoutMs: 120_000 }),
    cable: async (plugged) => void (await ip('-n', ns, 'link', 'set', 'eth0', plugged ? 'up' : 'down')),
  });

  try {
    await add(middle);
    const nets = {} as Record<N, Net>;
    for (const [i, name] of names.entries()) {
      const ns = `ingle-${process.pid}-${name}`;
      await add(ns);
      await ip(
        '-n',
        middle,
        'link',
        'add',
        `to-${name}`,
        'type',
        'veth',
        'peer',
        'name',
        'eth0',
        'netns',
        ns,
      );
      const [theirs, ours] = [`10.77.${i + 1}.2`, `10.77.${i + 1}.1`];
      await ip('-n', middle, 'address', 'add', `${ours}/24`, 'dev', `to-${name}`);
      await ip('-n', ns, 'address', 'add', `${theirs}/24`, 'dev', 'eth0');
      await ip('-n', middle, 'link', 'set', `to-${name}`, 'up');
      await ip('-n', ns, 'link', 'set', 'eth0', 'up');
      nets[name] = inside(ns, ours, theirs);
    }
    return { nets, middle: inside(middle, '', ''), remove: drop };
  } catch (e) {
    drop();
    throw e;
  }
}
