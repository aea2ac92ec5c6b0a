// Who wants what, and what that comes to: subscriptions that renew and end, merged over all of them. Pure.
import { IngleError } from '../protocol/errors.ts';
import { covers } from './area.ts';
import type { Stream } from './request.ts';
import type { Wanted } from './wanted.ts';

/** Subscriptions of a skill, and of one owner among them. */
export const MOST = { all: 64, owner: 16 } as const;

export interface Subscription {
  id: string;
  owner_id: string;
  /** Milliseconds since 1970. */
  renewed: number;
  streams: readonly Stream[];
}

type What = Pick<Stream, 'topic' | 'area' | 'format'>;
const pick = ({ topic, area, format }: What): What => ({
  topic,
  ...(area ? { area } : {}),
  ...(format === undefined ? {} : { format }),
});
/** What a stream is about, as one text. */
export const keyOf = ({ topic, format, area: a }: What): string =>
  JSON.stringify([topic, format ?? null, a ? [a.lat, a.lon, a.radius_km] : null]);
const aboutOf = (streams: readonly What[]) => streams.map(keyOf).sort().join();

/** When a stream ends. A clock that was set back makes none last longer than from now. */
const endOf = (s: Subscription, stream: Stream, now: number) => Math.min(s.renewed, now) + stream.ttl_ms;

/** The subscriptions of which something still lasts. */
export const living = (all: readonly Subscription[], now: number): Subscription[] =>
  all.filter((s) => s.streams.some((stream) => endOf(s, stream, now) > now));

/**
 * With a subscription added, or renewed: the same owner asking about the same streams, whose period and ttl may be others.
 * @throws IngleError `conflict` when there are too many
 */
export function subscribed(
  all: readonly Subscription[],
  a: { id: string; owner_id: string; streams: readonly Stream[] },
  now: number,
): { all: Subscription[]; id: string } {
  const there = living(all, now);
  const isSame = (s: Subscription) => s.owner_id === a.owner_id && aboutOf(s.streams) === aboutOf(a.streams);
  const known = there.find(isSame);
  const others = there.filter((s) => s !== known);
  const own = others.filter((s) => s.owner_id === a.owner_id).length;
  if (!known && (others.length >= MOST.all || own >= MOST.owner))
    throw new IngleError(
      'conflict',
      'There are too many subscriptions. Let some end, or ask for several streams in one.',
    );
  const id = known?.id ?? a.id;
  return { all: [...others, { ...a, id, renewed: now }], id };
}

/** All that is wanted now. What a larger area covers is part of it. */
export function merged(all: readonly Subscription[], now: number): Wanted[] {
  const streams = all.flatMap((s) =>
    s.streams.map((stream) => ({ stream, until: endOf(s, stream, now) })).filter(({ until }) => until > now),
  );
  streams.sort((a, b) => (b.stream.area?.radius_km ?? 0) - (a.stream.area?.radius_km ?? 0));
  const out: Wanted[] = [];
  for (const { stream, until } of streams) {
    const into = servedBy(out, stream);
    if (into) {
      into.period_ms = Math.min(into.period_ms, stream.period_ms);
      into.until = Math.max(into.until, until);
    } else out.push({ ...pick(stream), period_ms: stream.period_ms, until });
  }
  return out;
}

/** Which of what is wanted serves a stream. */
export const servedBy = <W extends What>(wanted: readonly W[], s: What): W | undefined =>
  wanted.find((w) => w.topic === s.topic && w.format === s.format && covers(w.area, s.area));

/** When something is due next, by when it was told last. A clock that was set back makes nobody wait longer. */
export function dueAt(w: Wanted, told: number | undefined, now: number): number {
  return told === undefined ? now : Math.min(told, now) + w.period_ms;
}
