// A Redis of its own on a free port, that keeps nothing.
import { type ChildProcess, execFile } from 'node:child_process';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { freePort } from '../../services/cli/house/runtime.ts';
import { child, ended } from './child.ts';
import { until } from './wait.ts';

export interface Redis {
  url: string;
  port: number;
  pid(): number;
  /** What redis-cli answers to a command. */
  say(...words: string[]): Promise<string>;
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  /** kill -9: it forgets everything. */
  kill(): Promise<void>;
  /** Starts it again after `kill`. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * @param o.open at every address of this network, for tests that have one of their own (netns.ts)
 * @param o.port a free one unless given
 */
export async function startRedis(o: { open?: boolean; port?: number } = {}): Promise<Redis> {
  const port = o.port ?? (await freePort('127.0.0.1'));
  let server: ChildProcess;
  const answers = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
  const start = async () => {
    const at = o.open ? ['--bind', '0.0.0.0', '--protected-mode', 'no'] : ['--bind', '127.0.0.1'];
    const words = ['--port', String(port), ...at, '--save', '', '--appendonly', 'no'];
    server = child('redis-server', words, { stdio: 'ignore' });
    await until(answers, 'Redis');
  };
  await start();
  const kill = async () => void (await ended(server, 'SIGKILL', 'Redis'));
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    pid: () => server.pid!,
    say: async (...words) =>
      (await promisify(execFile)('redis-cli', ['-p', String(port), ...words])).stdout.trim(),
    signal: (name) => void server.kill(name),
    kill,
    start,
    stop: kill,
  };
}
