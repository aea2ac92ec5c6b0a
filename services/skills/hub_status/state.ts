// What was measured, as the state of the screen: numbers, and the words for them in every language. Pure.
import type { JsonObject } from '../../../firmware/skills/sdk/skill.ts';
import type { Caller } from '../../../firmware/system/contract.ts';
import { labelOf, type Unit } from '../../../firmware/system/units.ts';
import { hubStatusText } from '../../../firmware/text/hub_status.ts';
import { type Language, type Localized, localizer } from '../../../firmware/text/i18n.ts';
import type { uplink1 } from '../../../firmware/uplink/contract.ts';
import { healthOf } from './health.ts';
import type { Reading } from './meter.ts';

/** What ingle-uplink tells of the link to root. */
export type Link = Awaited<ReturnType<Caller<typeof uplink1>['Status']>>;

export interface Measured {
  /** The hub's own. */
  name: string;
  reading: Reading;
  /** Undefined where ingle-uplink does not answer. */
  link: Link | undefined;
  units: readonly Unit[];
  /** Bus names of services that somebody keeps running: one that does not run is a trouble. */
  kept: readonly string[];
  versions: { ingle: string; node: string; kernel: string; sqlite: string };
}

const t = localizer(hubStatusText);

const gigabytes = (kib: number, l: Language): string =>
  new Intl.NumberFormat(l, { maximumFractionDigits: 1 }).format((kib * 1024) / 1e9);

/** Seconds in the first hour only: later they would say little, and a line that gets one more digit may break in two. */
function uptimeText(seconds: number): Localized {
  const d = Math.floor(seconds / 86_400);
  const h = Math.floor(seconds / 3600) % 24;
  const m = Math.floor(seconds / 60) % 60;
  if (d > 0) return t('days', { d, h, m });
  return h > 0 ? t('hours', { h, m }) : t('minutes', { m, s: seconds % 60 });
}

function linkState(link: Link | undefined): JsonObject {
  const connected = link?.connected ?? false;
  return {
    connected,
    text: connected ? t('connected') : t('away'),
    // A socket is an end-to-end channel open now; a pending route is one of root's that leads here without one.
    sockets: link?.channels ?? 0,
    pending: link?.pending ?? 0,
  };
}

export function measuredState({ name, reading, link, units, kept, versions }: Measured): JsonObject {
  const { uptime, cpu, memory, samples } = reading;
  const health = healthOf({
    connected: link?.connected === true,
    memory: memory.percent,
    cpu: samples.flatMap((s) => s.cpu ?? []),
    stopped: units.filter((u) => !u.running && kept.includes(u.bus)).map(labelOf),
  });
  return {
    name,
    health: { ...health },
    uptime: { seconds: uptime, text: uptimeText(uptime) },
    cpu: { percent: cpu },
    memory: {
      ...memory,
      text: t('ofMemory', (l) => ({
        used: gigabytes(memory.used_kib, l),
        total: gigabytes(memory.total_kib, l),
      })),
    },
    versions,
    link: linkState(link),
    samples: samples.map((s) => ({ ...s })),
    services: units.map((u) => ({
      unit: labelOf(u),
      running: u.running,
      state: u.running ? t('running') : t('stopped'),
    })),
  };
}

/** A screen that nobody has refreshed yet. */
export const neverRefreshed = (): JsonObject => ({ count: 0, refreshed_at: null, text: t('never') });

/**
 * One refresh more than `before`, the `refresh` of a state.
 * @param at when, in ISO 8601
 */
export function refreshedAt(at: string, before: unknown): JsonObject {
  const count = ((before as { count?: number } | undefined)?.count ?? 0) + 1;
  const text = t('refreshed', (l) => ({ time: new Date(at).toLocaleTimeString(l), count }));
  return { count, refreshed_at: at, text };
}
