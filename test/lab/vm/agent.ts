// Talks with the agent in a machine of the lab, over a socket that is a serial port there.
import type { ChildProcess } from 'node:child_process';
import { connect, type Socket } from 'node:net';

/**
 * How long a machine may take until it answers, milliseconds. QEMU's firmware stands still now and then before it has
 * read the kernel; in a restart its watchdog starts it anew after five minutes, and then a boot follows, or two.
 */
export const BOOT_MS = Number(process.env['INGLE_VM_BOOT_MS'] ?? 900_000);

export interface Said {
  code: number;
  stdout: string;
  stderr: string;
}

export interface Agent {
  /** Runs a bash command line. @param input bytes for its stdin */
  run(cmd: string, timeoutMs: number, input?: string | Uint8Array): Promise<Said>;
  /** Runs it again and again until it exits 0, within this time of the machine. */
  until(cmd: string, timeoutMs: number): Promise<Said>;
  put(path: string, data: string | Uint8Array, mode: number): Promise<Said>;
  /** Settles when the agent has come up once more than now: the machine restarted. */
  again(timeoutMs: number): Promise<void>;
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Connects to the port of a machine that was just started. */
export async function dial(path: string, child: ChildProcess): Promise<Socket> {
  for (;;) {
    if (child.exitCode !== null) throw new Error('QEMU ended before it began');
    const socket = await new Promise<Socket | undefined>((resolve) => {
      const s = connect(path, () => resolve(s));
      s.on('error', () => resolve(undefined));
    });
    if (socket) return socket;
    await sleep(50);
  }
}

/** A word of bash, whatever is in it, on one line. */
const word = (text: string) => `$'${text.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`;
const base64 = (data: string | Uint8Array) => Buffer.from(data).toString('base64');
/** The output that guest/agent.sh wrote so. */
const plain = (said: string) =>
  said.startsWith('=')
    ? Buffer.from(said.slice(1), 'base64').toString()
    : said.slice(1).replace(/\\(.)/g, (_, c: string) => ({ n: '\n', t: '\t' })[c] ?? c);
const seconds = (ms: number) => String(Math.ceil(ms / 1000));

/** Speaks with the agent in the machine; settles once the agent has said it is there. */
export async function agent(socket: Socket, gone: Promise<void>): Promise<Agent> {
  const waiting = new Map<number, (s: Said) => void>();
  let rest = '';
  let id = 0;
  let off = false;
  const hellos = new Set<() => void>();
  const drop = (why: string) => {
    for (const answer of waiting.values()) answer({ code: -1, stdout: '', stderr: why });
    waiting.clear();
  };
  const next = () => new Promise<void>((resolve) => hellos.add(resolve));
  const up = next();
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      // Cut off by a restart, it is no answer.
      const [, number, code, stdout, stderr] = /^(\d+)\t(\d+)\t([-=][^\t]*)\t([-=][^\t]*)$/.exec(line) ?? [];
      if (!number) continue;
      if (number === '0') {
        // Whoever still waits asked the boot before.
        drop('the machine restarted');
        for (const hello of hellos) hello();
        hellos.clear();
      }
      waiting.get(Number(number))?.({ code: Number(code), stdout: plain(stdout!), stderr: plain(stderr!) });
      waiting.delete(Number(number));
    }
  });
  void gone.then(() => {
    off = true;
    socket.destroy();
    drop('the machine went off');
  });
  const within = async (what: Promise<void>, timeoutMs: number) => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('the machine did not come up in time')), timeoutMs);
    });
    const died = gone.then(() => {
      throw new Error('the machine went off while booting');
    });
    try {
      await Promise.race([what, late, died]);
    } finally {
      clearTimeout(timer);
    }
  };
  await within(up, BOOT_MS);
  const ask = (...order: string[]) =>
    new Promise<Said>((resolve) => {
      if (off) return resolve({ code: -1, stdout: '', stderr: 'the machine is off' });
      const mine = ++id;
      waiting.set(mine, resolve);
      socket.write(`${mine} ${order.join(' ')}\n`);
    });
  return {
    again: (timeoutMs) => within(next(), timeoutMs),
    run: (cmd, timeoutMs, input) =>
      ask('run', seconds(timeoutMs), word(cmd), ...(input === undefined ? [] : [base64(input)])),
    until: (cmd, timeoutMs) => ask('until', seconds(timeoutMs), word(cmd)),
    put: (path, data, mode) => ask('put', mode.toString(8), word(path), base64(data)),
  };
}
