// A PostgreSQL of its own on a free port.
import { appendFileSync, chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { must, run } from '../../firmware/system/exec.ts';
import { freePort } from '../../services/cli/house/runtime.ts';
import { child } from './child.ts';
import { tried, until } from './wait.ts';

const BIN = '/usr/lib/postgresql/15/bin';

export interface Postgres {
  port: number;
  /** Of a database of this name. */
  url(database: string, host?: string): string;
  /** Asks the database `postgres`. @returns rows, a line each, with `|` between columns */
  ask(sql: string): Promise<string>;
  /** The server and the processes of its connections. */
  pids(): Promise<number[]>;
  /** Sends a signal to the server and to the processes of its connections. */
  signal(name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): Promise<void>;
  /** Starts it again after SIGKILL. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * @param o.flush as Debian sets it, fsync and synchronous_commit on; without, a power cut would cost what it said
 * @param o.open at every address of this network, for tests that have one of their own (netns.ts)
 * @param o.port a free one unless given
 */
export async function startPostgres(o: { flush: boolean; open?: boolean; port?: number }): Promise<Postgres> {
  const folder = mkdtempSync(join(tmpdir(), 'ingle-postgres-'));
  chmodSync(folder, 0o755);
  const data = join(folder, 'data');
  // It refuses to run as root.
  const as = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--'] : ['env'];
  const [first, ...rest] = as as [string, ...string[]];
  if (first === 'runuser') await must('install', ['-d', '-o', 'postgres', '-m', '0700', data]);
  const init = [join(BIN, 'initdb'), '-D', data, '-A', 'trust', '-U', 'postgres', '-N'];
  // A second, and minutes where other suites have both processors: the file's own time is the bound.
  await must(first, [...rest, ...init], { timeoutMs: 300_000 });
  if (o.open) appendFileSync(join(data, 'pg_hba.conf'), 'host all all samenet trust\n');
  const port = o.port ?? (await freePort('127.0.0.1'));
  const psql = ['-qAt', '-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', '-v', 'ON_ERROR_STOP=1'];
  const ask = async (sql: string) => (await must('psql', [...psql, '-c', sql])).toString().trim();
  let server: ReturnType<typeof child> | undefined;
  const start = async () => {
    const words = [
      join(BIN, 'postgres'),
      '-D',
      data,
      '-p',
      String(port),
      '-k',
      '',
      '-h',
      o.open ? '*' : '127.0.0.1',
      ...(o.flush ? [] : ['-F']),
    ];
    server = child(first, [...rest, ...words], { stdio: ['ignore', 'ignore', 'ignore'] });
    await until(
      tried(async () => {
        await ask('SELECT 1');
        return true;
      }),
      'PostgreSQL',
    );
  };
  const pids: Postgres['pids'] = async () => {
    const [pid] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
    const { stdout } = await run('pgrep', ['-P', pid!]);
    // 0 would be the processes of this test.
    return [pid, ...stdout.toString().split('\n')].map(Number).filter((p) => p > 0);
  };
  const signal: Postgres['signal'] = async (name) => {
    for (const pid of await pids())
      try {
        process.kill(pid, name);
      } catch {}
  };
  await start();
  return {
    port,
    url: (database, host = '127.0.0.1') => `postgresql://postgres@${host}:${port}/${database}`,
    ask,
    pids,
    signal,
    start,
    async stop() {
      await signal('SIGKILL').catch(() => {});
      server?.kill('SIGKILL');
      // A process of a connection that was only just begun ends by itself, and writes until then.
      rmSync(folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
    },
  };
}
