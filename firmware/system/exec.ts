// The only door to other programs: run one to its end, or keep one running. Never through a shell.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { IngleError } from '../protocol/errors.ts';

export interface Ran {
  code: number;
  stdout: Buffer;
  stderr: string;
}

export interface RunOptions {
  timeoutMs?: number;
  input?: string | Uint8Array;
  env?: Record<string, string>;
  cwd?: string;
  /** Most bytes of stdout kept; a program that says more is killed. */
  maxBytes?: number;
  signal?: AbortSignal;
}

/**
 * Runs a program to its end; any exit code settles.
 * @throws IngleError `not_supported` when it is not installed, `timeout` when it is killed at `timeoutMs`.
 */
export function run(program: string, args: readonly string[], o: RunOptions = {}): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = start(program, args, { env: o.env, cwd: o.cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    const out: Buffer[] = [];
    let size = 0;
    let err = '';
    let failure: IngleError | undefined;
    const kill = (e: IngleError) => {
      failure ??= e;
      child.kill('SIGKILL');
    };
    const timer = setTimeout(
      () => kill(new IngleError('timeout', `${program} took longer than ${o.timeoutMs ?? 30_000} ms.`)),
      o.timeoutMs ?? 30_000,
    );
    const aborted = () => kill(new IngleError('timeout', `${program} was stopped.`));
    o.signal?.addEventListener('abort', aborted, { once: true });
    if (o.signal?.aborted) aborted();
    child.stdout!.on('data', (d: Buffer) => {
      size += d.length;
      if (size > (o.maxBytes ?? 64 * 1024 * 1024))
        kill(new IngleError('too_large', `${program} says too much.`));
      else out.push(d);
    });
    child.stderr!.on('data', (d: Buffer) => {
      if (err.length < 65_536) err += d.toString();
    });
    child.stdin!.on('error', () => {});
    child.stdin!.end(o.input);
    child.on('error', (e: NodeJS.ErrnoException) => {
      failure ??=
        e.code === 'ENOENT'
          ? new IngleError('not_supported', `The program "${program}" is not installed.`, { program })
          : new IngleError('internal', `${program}: ${e.message}`);
      done(-1);
    });
    child.on('close', (code) => done(code ?? -1));
    function done(code: number): void {
      clearTimeout(timer);
      o.signal?.removeEventListener('abort', aborted);
      if (failure) reject(failure);
      else resolve({ code, stdout: Buffer.concat(out), stderr: err });
    }
  });
}

/** Like `run`, but a non-zero exit is an error with the program's own words. */
export async function must(program: string, args: readonly string[], o: RunOptions = {}): Promise<Buffer> {
  const r = await run(program, args, o);
  if (r.code !== 0) {
    const said = r.stderr.trim().split('\n').slice(-3).join(' ').slice(0, 400);
    throw new IngleError('internal', `${program} failed (${r.code})${said ? `: ${said}` : ''}`, {
      program,
      code: r.code,
    });
  }
  return r.stdout;
}

/** Starts a program that keeps running. The caller owns its end. */
export function start(program: string, args: readonly string[], o: SpawnOptions = {}): ChildProcess {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], LC_ALL: 'C', ...o.env };
  for (const name of ['XDG_RUNTIME_DIR', 'PULSE_SERVER', 'PIPEWIRE_REMOTE', 'DBUS_SYSTEM_BUS_ADDRESS'])
    if (process.env[name] !== undefined && !(name in env))
      (env as Record<string, unknown>)[name] = process.env[name];
  return spawn(program, [...args], { ...o, env, shell: false });
}

/** Ends a child: SIGTERM, then SIGKILL after `graceMs`. Settles when it is gone. */
export function stop(child: ChildProcess, graceMs = 3000): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined)
    return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
    child.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
    child.kill('SIGTERM');
  });
}
