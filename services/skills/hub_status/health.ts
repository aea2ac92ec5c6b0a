// How the hub is, in one sentence; and the samples of its chart, with the gaps of when nobody measured. Pure.
import { hubStatusText } from '../../../firmware/text/hub_status.ts';
import { type Localized, localized, localizer } from '../../../firmware/text/i18n.ts';

const t = localizer(hubStatusText);

export interface Measured {
  /** The link to root is up. */
  connected: boolean;
  /** Percent. */
  memory: number;
  /** Percent, newest last. */
  cpu: readonly number[];
  /** Services that somebody keeps running and that do not run, as a person knows them. */
  stopped: readonly string[];
}

/** From here on memory is short, and a processor that stays there for `BUSY_FOR` samples is busy; percent. */
const FULL = 92;
const BUSY = 90;
const BUSY_FOR = 8;

/** Everything that is not as it should be, the worst first. */
function troubles({ connected, memory, cpu, stopped }: Measured): Localized[] {
  const last = cpu.slice(-BUSY_FOR);
  return [
    ...stopped.map((service) => t('serviceDown', { service })),
    ...(connected ? [] : [t('notReached')]),
    ...(memory >= FULL ? [t('memoryFull')] : []),
    ...(last.length === BUSY_FOR && last.every((p) => p >= BUSY) ? [t('busy')] : []),
  ];
}

/** `alert` is empty while all is well. */
export function healthOf(m: Measured): { text: Localized; alert: Localized | '' } {
  const all = troubles(m);
  if (all.length === 0) return { text: t('allWell'), alert: '' };
  const text = localized((l) => all.map((one) => one.i18n[l]).join(' '));
  return { text, alert: text };
}

/** A point of the chart; null is a gap. */
export interface Sample {
  /** Milliseconds since 1970. */
  at: number;
  cpu: number | null;
  memory: number | null;
}

/** Every sample of so long is kept, then one each `APART`, for `LONG`; milliseconds. */
const RECENT = 2 * 60_000;
export const APART = 10 * 60_000;
const LONG = 6 * 3_600_000;

/** The samples with one more, as many as are kept. What is older than a moment is thinned; a pause becomes a gap. */
export function sampled(before: readonly Sample[], now: Sample): Sample[] {
  const measured = before.filter((s) => s.cpu !== null && s.at < now.at && s.at > now.at - LONG);
  const kept: Sample[] = [];
  for (const s of measured)
    if (s.at > now.at - RECENT || s.at - (kept.at(-1)?.at ?? 0) >= APART * 0.9) kept.push(s);
  return [...kept, now].flatMap((s, i, all) => {
    const last = all[i - 1];
    const isGap = last !== undefined && s.at - last.at > APART * 1.5;
    return isGap ? [{ at: s.at - 1, cpu: null, memory: null }, s] : [s];
  });
}
