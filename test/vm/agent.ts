// Talks with the agent in a machine of the lab, over a socket that is a serial port there.
import type { ChildProcess } from 'node:child_process';
import { connect, type Socket } from 'node:net';

export interface Said {
  code: number;
  stdout: string;
  stderr: string;
}

export interface Agent {
  ask(request: Record<string, unknown>): Promise<Said>;
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
      if (!line.startsWith('{')) continue;
      const a = JSON.parse(line) as { id: number; code: number; stdout: string; stderr: string };
      if (a.id === 0) {
        // Whoever still waits asked the boot before.
        drop('the machine restarted');
        for (const hello of hellos) hello();
        hellos.clear();
      }
      const text64 = (t: string) => Buffer.from(t, 'base64').toString();
      waiting.get(a.id)?.({ code: a.code, stdout: text64(a.stdout), stderr: text64(a.stderr) });
      waiting.delete(a.id);
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
  await within(up, Number(process.env['INGLE_VM_BOOT_MS'] ?? 420_000));
  return {
    again: (timeoutMs) => within(next(), timeoutMs),
    ask: (request) =>
      new Promise((resolve) => {
        if (off) return resolve({ code: -1, stdout: '', stderr: 'the machine is off' });
        const mine = ++id;
        waiting.set(mine, resolve);
        socket.write(`${JSON.stringify({ id: mine, ...request })}\n`);
      }),
  };
}
