// What a running house leaves for others to find: <data>/house.json, and the ports it chose.
import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { IngleError } from '../../../firmware/protocol/errors.ts';

export interface Running {
  pid: number;
  /** Start time of that process in clock ticks, so that a reused pid is not taken for it. */
  born: string;
  origin: string;
  root: string;
  /** D-Bus address of the private bus. */
  bus: string;
  api: string;
  /** Folder of the hub's state. */
  hub: string;
  /** Folder of the skills it carries. */
  skills: string;
  /** False while its processes are still coming up. */
  up: boolean;
}

const fileOf = (data: string) => join(data, 'house.json');

/** Field 22 of /proc/<pid>/stat (proc(5)); '' when there is no such process. */
export function bornOf(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

/** The house that runs on this data, if its process lives. */
export function findRunning(data: string): Running | undefined {
  let r: Running;
  try {
    r = JSON.parse(readFileSync(fileOf(data), 'utf8')) as Running;
  } catch {
    return undefined;
  }
  return typeof r.pid === 'number' && r.born !== '' && bornOf(r.pid) === r.born ? r : undefined;
}

/** Makes this process the one that runs on `data`. @throws IngleError `conflict` when another does. */
export function claim(data: string, r: Omit<Running, 'pid' | 'born' | 'up'>): void {
  const text = JSON.stringify({ pid: process.pid, born: bornOf(process.pid), ...r, up: false });
  for (;;)
    try {
      writeFileSync(fileOf(data), text, { flag: 'wx', mode: 0o600 });
      return;
    } catch (e) {
      if ((e as NodeJS.ErrnoException).code !== 'EEXIST') throw e;
      const other = findRunning(data);
      if (other) throw new IngleError('conflict', 'running', { pid: other.pid, origin: other.origin });
      rmSync(fileOf(data), { force: true });
    }
}

/** Says that everything of this house has come up. */
export function arrived(data: string): void {
  const text = JSON.stringify({ ...findRunning(data), up: true });
  writeFileSync(`${fileOf(data)}.new`, text, { mode: 0o600 });
  renameSync(`${fileOf(data)}.new`, fileOf(data));
}

export function unclaim(data: string): void {
  if (findRunning(data)?.pid === process.pid) rmSync(fileOf(data), { force: true });
}

/** Makes the data folder, private to this user. @throws the file system's error. */
export function makeData(data: string): void {
  makeFolder(data);
  const probe = join(data, `.write-${process.pid}`);
  writeFileSync(probe, '');
  rmSync(probe);
}

/**
 * Makes a folder and those above it, private to this user. Node's own recursive mkdir never ends where the system
 * answers ENOENT for a folder whose parent is there (/proc).
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  if (!existsSync(dirname(path))) makeFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

/** Tries to listen: '' when the port is free, else the system's error code. */
export function portState(port: number, host: string): Promise<string> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (e: NodeJS.ErrnoException) => resolve(e.code ?? 'ERROR'));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve('')));
  });
}

/**
 * A port nobody listens on, from outside the range the system takes ports of outgoing connections from
 * (net.ipv4.ip_local_port_range): one of those could be gone by the time somebody listens on it, or listens again.
 */
export async function freePort(host: string): Promise<number> {
  const [least, most] = outgoingPorts();
  for (;;) {
    const port = randomInt(20_000, 65_536);
    if ((port < least || port > most) && (await portState(port, host)) === '') return port;
  }
}

function outgoingPorts(): [least: number, most: number] {
  try {
    const text = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8');
    const [least, most] = text.trim().split(/\s+/).map(Number) as [number, number];
    if (least - 20_000 + (65_535 - most) >= 1000) return [least, most];
  } catch {}
  return [0, 0];
}

/** The local API's port: the one of last time while it is free, so that bookmarks and clients stay right. */
export async function apiPort(data: string): Promise<number> {
  const file = join(data, 'api-port');
  const last = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  if (Number.isInteger(last) && last > 1023 && last < 65536 && (await portState(last, '127.0.0.1')) === '')
    return last;
  const port = await freePort('127.0.0.1');
  writeFileSync(file, String(port));
  return port;
}
