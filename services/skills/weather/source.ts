// Where a place's weather comes from: what is kept while it is fresh, then one provider after the other.
import type { Json, SkillContext } from '../../../firmware/skills/sdk/skill.ts';
import { type Asked, after, afterFailure, mayAsk } from '../../../firmware/weather/pace.ts';
import { type Provider, providers } from '../../../firmware/weather/providers.ts';
import { cut, type Place, type Report, simulated } from '../../../firmware/weather/report.ts';

export interface Found {
  report: Report;
  /** `old`: nobody answered just now; `simulated`: nobody ever did, or there is no place. */
  kind: 'real' | 'old' | 'simulated';
  credit: string;
}

/** What is kept of a place. */
interface Seen {
  asked: Record<string, Asked>;
  answer?: { provider: string; report: Report };
}

/** Where what is kept lies: on the disk, or in memory only. */
type Shelf = Pick<SkillContext['storage'], 'keys' | 'delete' | 'set'> & { get(key: string): unknown };

/** Places of which answers are kept on a shelf, beside the house's. */
const KEPT = 8;
const keyOf = (p: Place) => `seen ${cut(p.lat)} ${cut(p.lon)}`;

function memory(): Shelf {
  const kept = new Map<string, Json>();
  return {
    ...{ get: (key) => kept.get(key), keys: () => [...kept.keys()] },
    ...{ set: async (key, value) => void kept.set(key, value), delete: async (key) => void kept.delete(key) },
  };
}

/** @param home where the house is, whose answers make way for no other's */
export function weatherSource(
  ctx: Pick<SkillContext, 'storage' | 'fetch' | 'log'>,
  now: () => number,
  home: () => Place | undefined,
) {
  const passing = memory();
  const isHome = (key: string) => {
    const at = home();
    return at !== undefined && key === keyOf(at);
  };

  async function keep(shelf: Shelf, key: string, seen: Seen): Promise<void> {
    const others = shelf.keys().filter((k) => k.startsWith('seen ') && k !== key && !isHome(k));
    const most = isHome(key) ? KEPT : KEPT - 1;
    for (const old of others.slice(0, Math.max(0, others.length - most))) await shelf.delete(old);
    await shelf.set(key, seen as unknown as Json);
  }

  /** Asks one provider; false: it has no answer. */
  async function ask(p: Provider, place: Place, seen: Seen): Promise<boolean> {
    const before = seen.asked[p.id];
    const isKept = seen.answer?.provider === p.id && before?.modified;
    try {
      const r = await ctx.fetch(
        p.url(place),
        isKept ? { headers: { 'if-modified-since': before.modified! } } : {},
      );
      if (!r.ok && !(r.status === 304 && isKept)) throw new Error(`it answered ${r.status}`);
      if (r.status !== 304) seen.answer = { provider: p.id, report: p.read(r.json(), now()) };
      seen.asked[p.id] = { ...(isKept ? { modified: before.modified! } : {}), ...after(r.headers, now()) };
      return true;
    } catch (cause) {
      ctx.log.warn('a weather service has no answer', { provider: p.id, why: (cause as Error).message });
      seen.asked[p.id] = afterFailure(before, now(), Math.random());
      return false;
    }
  }

  /** @param once nobody has settled on this place: of it nothing is written to the disk */
  return async (place: Place | undefined, once = false): Promise<Found> => {
    if (!place) return { report: simulated(now()), kind: 'simulated', credit: '' };
    const key = keyOf(place);
    const shelf: Shelf = once && !isHome(key) ? passing : ctx.storage;
    const seen: Seen = (shelf.get(key) as Seen | undefined) ?? { asked: {} };
    let isFresh = false;
    for (const p of providers) {
      if (!mayAsk(seen.asked[p.id], now())) {
        isFresh ||= seen.answer?.provider === p.id && seen.asked[p.id]?.failures === 0;
        if (isFresh) break;
        continue;
      }
      isFresh = await ask(p, place, seen);
      await keep(shelf, key, seen);
      if (isFresh) break;
    }
    const { answer } = seen;
    if (!answer) return { report: simulated(now()), kind: 'simulated', credit: '' };
    const credit = providers.find((p) => p.id === answer.provider)?.credit ?? '';
    return { report: answer.report, kind: isFresh ? 'real' : 'old', credit };
  };
}
