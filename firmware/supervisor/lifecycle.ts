// Whether the hub takes new work: running, draining, stopping. It lives as long as its process; a restart ends a drain.
import type { Endpoint, Method } from '../protocol/endpoint/endpoint.ts';
import { IngleError } from '../protocol/errors.ts';
import type { Log } from '../system/log.ts';
import { machine, type Table } from '../system/machine.ts';

export type LifeState = 'running' | 'draining' | 'stopping';
type Event = 'drain' | 'resume' | 'stop';
/** Who wants no new work: the owner, an update before its restart, or the end of everything. */
export type Why = 'owner' | 'update' | 'shutdown';

export const lifeTable: Table<LifeState, Event> = {
  running: { drain: 'draining', stop: 'stopping' },
  draining: { resume: 'running', stop: 'stopping' },
  stopping: {},
};

const says: Record<Why, string> = {
  update: 'The hub is restarting for an update. Try again in a minute.',
  shutdown: 'The hub is shutting down. Try again once it is back.',
  owner: 'The hub takes no changes now. Try again later, or end it: POST /api/admin/drain {"on": false}.',
};
/** The first that holds is what is told. */
const weight: readonly Why[] = ['shutdown', 'update', 'owner'];

export interface Lifecycle {
  /** Times in Unix seconds; `until` is when a drain ends by itself. */
  view(): { state: LifeState; since: number; why: Why | null; until: number | null };
  /** Takes no new changes until `resume`, or for `ms`. */
  drain(why: Why, ms?: number): void;
  resume(why: Why): void;
  /** The process ends; nothing leads back. */
  stop(): void;
  /** @throws IngleError `unavailable` for a change that may not begin now */
  admit(method: Method, endpoint: Pick<Endpoint, 'path' | 'safe'>): void;
}

export function lifecycle(log: Log): Lifecycle {
  const reasons = new Map<Why, { until: number | null; timer: NodeJS.Timeout | undefined }>();
  let since = Date.now() / 1000;
  const m = machine<LifeState, Event>({
    name: 'lifecycle',
    table: lifeTable,
    initial: 'running',
    log,
    onEnter: () => {
      since = Date.now() / 1000;
    },
  });
  const first = () => weight.find((why) => reasons.has(why)) ?? null;

  function resume(why: Why): void {
    clearTimeout(reasons.get(why)?.timer);
    if (reasons.delete(why) && reasons.size === 0) m.fire('resume');
  }

  return {
    view() {
      const why = first();
      return { state: m.state, since, why, until: (why && reasons.get(why)?.until) ?? null };
    },
    drain(why, ms) {
      clearTimeout(reasons.get(why)?.timer);
      const timer = ms === undefined ? undefined : setTimeout(() => resume(why), ms);
      timer?.unref();
      reasons.set(why, { until: ms === undefined ? null : (Date.now() + ms) / 1000, timer });
      if (m.state === 'running') m.fire('drain');
    },
    resume,
    stop: () => void m.fire('stop'),
    admit(method, { path, safe }) {
      if (m.state === 'running' || method === 'GET' || safe || path.startsWith('/api/admin/')) return;
      const why = first();
      const at = why && reasons.get(why)?.until;
      const left = at ? Math.max(1, Math.ceil(at - Date.now() / 1000)) : 60;
      throw new IngleError('unavailable', says[why ?? 'shutdown'], { retry_after: Math.min(left, 60) });
    },
  };
}
