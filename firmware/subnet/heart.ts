// What a member says to the hub that leads it: who it is, and then, again and again, that it is there.
import { toIngleError } from '../protocol/errors.ts';

/** Heartbeats come a little sooner than expected, by chance, so that members do not all speak at once. */
const SOONEST = 0.7;
const LATEST = 0.95;
/** After what the leading hub could not answer, milliseconds; twice as long each time. */
const PAUSE = { first: 1000, most: 30_000 };
/** Seconds a leading hub may name. */
const INTERVAL = { least: 1, most: 3600 };

export type Heart = ReturnType<typeof openHeart>;

/**
 * @param o.ask posts to the leading hub @param o.hello what this hub registers with
 * @param o.unknown the leading hub does not know who asks: the handshake has to begin anew
 */
export function openHeart(o: {
  ask(path: string, body: object): Promise<unknown>;
  hello(): object;
  unknown(): void;
}) {
  let timer: NodeJS.Timeout | undefined;
  /** Counts starts and stops: what was asked before one of them says nothing any more. */
  let life = 0;
  let reached = false;
  let failures = 0;

  async function beat(mine: number, path: string, body: object): Promise<void> {
    let wait = Math.min(PAUSE.most, PAUSE.first * 2 ** failures++);
    let next = path;
    try {
      const said = (await o.ask(path, body)) as { interval_s?: unknown } | null;
      if (mine !== life) return;
      reached = true;
      failures = 0;
      const given = Number(said?.interval_s);
      const interval = Math.min(INTERVAL.most, Math.max(INTERVAL.least, given || INTERVAL.least));
      wait = interval * 1000 * (SOONEST + Math.random() * (LATEST - SOONEST));
      next = '/api/subnet/heartbeat';
    } catch (e) {
      if (mine !== life) return;
      reached = false;
      const { code } = toIngleError(e);
      // A hub whose API is away is back soon; one that does not take the channel's papers any more needs new ones.
      if (code === 'unauthenticated' || code === 'assertion_required') return o.unknown();
      if (code === 'not_found' || code === 'forbidden') next = '/api/subnet/register';
    }
    timer = setTimeout(() => void beat(mine, next, next.endsWith('register') ? o.hello() : {}), wait);
  }
  function stop(): void {
    life++;
    reached = false;
    clearTimeout(timer);
  }
  return {
    get reached(): boolean {
      return reached;
    },
    /** The channel is open to this hub. */
    start(): void {
      stop();
      void beat(life, '/api/subnet/register', o.hello());
    },
    stop,
  };
}
