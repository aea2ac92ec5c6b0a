// `ingle hub stop | restart`: what runs comes to its end first, then the processes; on a flashed hub systemd does it.
import { join, resolve } from 'node:path';
import { IngleError } from '../../../firmware/protocol/errors.ts';
import { supervisor1 } from '../../../firmware/supervisor/contract.ts';
import { connect } from '../../../firmware/system/bus.ts';
import { must } from '../../../firmware/system/exec.ts';
import { readToken } from '../../../firmware/system/token.ts';
import { findHouse } from '../find.ts';
import { bornOf, findRunning, type Running } from '../house/runtime.ts';
import { here, isFlashed } from '../place.ts';
import type { Say } from '../say.ts';

/** What still runs may take so long; then it is ended as it is, milliseconds. */
const DRAIN_MS = 10_000;
/** The house ends its processes within this time; each has 3 s, and the bus goes last. */
const END_MS = Number(process.env['INGLE_END_MS'] ?? 15_000);
const BACK_MS = 60_000;
const LOOK_MS = 200;

interface Life {
  state: string;
  work: { requests: number; streams: number; commands: number };
}
/** Where the API is, and the state of the hub it belongs to. */
interface At {
  api: string;
  data: string;
}

const pause = () => new Promise((done) => setTimeout(done, LOOK_MS));

/** @throws whatever keeps the API from answering */
async function ask(at: At, method: string, path: string, body?: object): Promise<Life> {
  const r = await fetch(at.api + path, {
    method,
    headers: { 'x-service-token': readToken(join(at.data, 'api', 'token')) },
    signal: AbortSignal.timeout(3000),
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!r.ok) throw new Error(`status ${r.status}`);
  return (await r.json()) as Life;
}

/** Lets nothing new begin and waits for what runs. An API that does not answer holds nobody up. */
async function drain(at: At, say: Say): Promise<void> {
  let told = -1;
  try {
    let life = await ask(at, 'POST', '/api/admin/drain', { on: true, seconds: 120 });
    for (const end = performance.now() + DRAIN_MS; performance.now() < end; ) {
      const work = life.work.requests + life.work.commands;
      if (work !== told) {
        say.event({ event: 'draining', ...life.work });
        say.line(say.text('hubDrains', { work }));
        told = work;
      }
      if (work === 0) return;
      await pause();
      life = await ask(at, 'GET', '/api/admin/lifecycle');
    }
  } catch (e) {
    say.event({ event: 'unanswered', why: (e as Error).message });
    say.line(say.text('hubNoAnswer'));
  }
}

/** The running house that is meant. @throws IngleError `unavailable` */
function running(data: string | undefined, say: Say): Running {
  const house = data === undefined ? findHouse() : findRunning(resolve(data));
  if (!house) throw new IngleError('unavailable', say.text('hubNone'));
  return house;
}

async function bySystemd(what: 'stop' | 'restart', say: Say): Promise<void> {
  if (process.getuid?.() !== 0) throw new IngleError('forbidden', say.text('hubBySystemd', { what }));
  await drain(await here(), say);
  await must('systemctl', [what, 'ingle.target'], { timeoutMs: 120_000 });
}

/** Whether the process is still the one that began then; its number may be another's by now. */
const lives = (house: Running) => bornOf(house.pid) === house.born;

async function gone(house: Running): Promise<boolean> {
  for (const end = performance.now() + END_MS; performance.now() < end; await pause())
    if (!lives(house)) return true;
  return false;
}

function signal(house: Running, name: NodeJS.Signals): void {
  try {
    if (lives(house)) process.kill(house.pid, name);
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code !== 'ESRCH') throw e;
  }
}

/** @param data folder of the house; without it the one hereabouts */
export async function stopHub(say: Say, data: string | undefined): Promise<void> {
  if (data === undefined && isFlashed()) await bySystemd('stop', say);
  else {
    const house = running(data, say);
    await drain({ api: house.api, data: house.hub }, say);
    say.event({ event: 'ending', pid: house.pid });
    say.line(say.text('hubEnding', { pid: house.pid }));
    signal(house, 'SIGTERM');
    if (!(await gone(house))) {
      signal(house, 'SIGKILL');
      await gone(house);
      say.event({ event: 'killed', pid: house.pid });
      say.line(say.text('hubKilled', { pid: house.pid }));
    }
  }
  say.event({ event: 'stopped' });
  say.line(say.text('hubStopped'));
}

export async function restartHub(say: Say, data: string | undefined): Promise<void> {
  if (data === undefined && isFlashed()) await bySystemd('restart', say);
  else {
    const house = running(data, say);
    const at = { api: house.api, data: house.hub };
    await drain(at, say);
    const bus = await connect(house.bus);
    try {
      // The house itself is asked, as its API may be what has to be restarted.
      await bus.client(supervisor1).Shutdown({ what: 'restart' });
    } finally {
      bus.close();
    }
    await back(at, say);
  }
  say.event({ event: 'restarted' });
  say.line(say.text('hubRestarted'));
}

/** Settles when a new API answers; the one before drains until it ends. */
async function back(at: At, say: Say): Promise<void> {
  for (const end = performance.now() + BACK_MS; performance.now() < end; await pause()) {
    const life = await ask(at, 'GET', '/api/admin/lifecycle').catch(() => undefined);
    if (life?.state === 'running') return;
  }
  throw new IngleError('unavailable', say.text('hubNotBack', { logs: join(at.data, '..', 'log') }));
}
