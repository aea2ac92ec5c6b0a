// Network namespaces of a test: a middle one, and others each on a cable of its own to it. Needs root rights.
import { type ChildProcess, type SpawnOptions, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
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

const INSIDE = 'INGLE_TEST_NET';

/** Whether this process runs there already. */
export const isInOwnNet = (): boolean => process.env[INSIDE] !== undefined;

/**
 * Runs this file in a network of its own: the process that was started only waits for that one, and ends as it does.
 * @param o.mounts what it mounts is its own as well
 */
export async function inOwnNet(o: { mounts?: boolean } = {}): Promise<void> {
  if (isInOwnNet()) return void (await must('ip', ['link', 'set', 'lo', 'up']));
  const words = [
    '--net',
    ...(o.mounts ? ['--mount'] : []),
    process.execPath,
    ...process.execArgv,
    ...process.argv.slice(1),
  ];
  const inside = child('unshare', words, { stdio: 'inherit', env: { ...process.env, [INSIDE]: '1' } });
  const [code] = await once(inside, 'exit');
  process.exit(code ?? 1);
}

export interface Net {
  readonly name: string;
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

/** What is dropped: all between two of them, or between one and these ports of the middle one. */
export type Cut = readonly [Net, Net | readonly number[]];

/**
 * Makes the middle one and one for each name; `remove` takes all away, and so does the end of this process.
 * @param o.here the middle one is this process's own (`inOwnNet`), and leads from each of the others to each
 */
export async function openNets<N extends string>(names: readonly N[], o: { here?: boolean } = {}) {
  const middle = `ingle-${process.pid}-mid`;
  const inMiddle = o.here ? [] : ['-n', middle];
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
    name: ns,
    address,
    middle: middleAddress,
    start: (program, args, o) => child('ip', ['netns', 'exec', ns, program, ...args], o),
    run: (program, args, o) =>
      run('ip', ['netns', 'exec', ns, program, ...args], { ...o, timeoutMs: 120_000 }),
    cable: async (plugged) => void (await ip('-n', ns, 'link', 'set', 'eth0', plugged ? 'up' : 'down')),
  });

  /** From now on this is dropped without a word, both ways, and nothing else is. */
  async function cut(...what: readonly Cut[]): Promise<void> {
    const drops = what.flatMap(([{ address: a }, b]) => {
      if ('address' in b)
        return [`came ip saddr ${a} ip daddr ${b.address}`, `came ip saddr ${b.address} ip daddr ${a}`];
      const ports = `{ ${b.join(', ')} }`;
      return [`came ip saddr ${a} tcp dport ${ports}`, `goes ip daddr ${a} tcp sport ${ports}`];
    });
    await must('nft', [
      ['flush table ip ingle', ...drops.map((d) => `add rule ip ingle ${d} drop`)].join('; '),
    ]);
  }
  async function lead(): Promise<void> {
    writeFileSync('/proc/sys/net/ipv4/ip_forward', '1');
    const chain = (name: string, hook: string) =>
      `add chain ip ingle ${name} { type filter hook ${hook} priority 0; }`;
    await must('nft', [
      ['add table ip ingle', chain('came', 'prerouting'), chain('goes', 'output')].join('; '),
    ]);
  }

  try {
    if (o.here) await lead();
    else await add(middle);
    const nets = {} as Record<N, Net>;
    for (const [i, name] of names.entries()) {
      const ns = `ingle-${process.pid}-${name}`;
      await add(ns);
      const veth = ['type', 'veth', 'peer', 'name', 'eth0', 'netns', ns];
      await ip(...inMiddle, 'link', 'add', `to-${name}`, ...veth);
      const [theirs, ours] = [`10.77.${i + 1}.2`, `10.77.${i + 1}.1`];
      await ip(...inMiddle, 'address', 'add', `${ours}/24`, 'dev', `to-${name}`);
      await ip('-n', ns, 'address', 'add', `${theirs}/24`, 'dev', 'eth0');
      await ip(...inMiddle, 'link', 'set', `to-${name}`, 'up');
      await ip('-n', ns, 'link', 'set', 'eth0', 'up');
      if (o.here) await ip('-n', ns, 'route', 'add', 'default', 'via', ours);
      nets[name] = inside(ns, ours, theirs);
    }
    return { nets, middle: inside(middle, '', ''), cut, remove: drop };
  } catch (e) {
    drop();
    throw e;
  }
}
