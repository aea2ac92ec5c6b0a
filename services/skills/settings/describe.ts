// What the services tell, as the state of the screen. Pure.
import type { audio1 } from '../../../firmware/audio/contract.ts';
import type { Json, JsonObject } from '../../../firmware/skills/sdk/skill.ts';
import { isAbsent } from '../../../firmware/system/bus-errors.ts';
import type { Caller } from '../../../firmware/system/contract.ts';
import { audioTexts } from '../../../firmware/text/audio.ts';
import {
  type Language,
  type Localized,
  localized,
  localizer,
  translator,
} from '../../../firmware/text/i18n.ts';
import { reasonKey, reasonTexts } from '../../../firmware/text/reasons.ts';
import type { uplink1 } from '../../../firmware/uplink/contract.ts';
import type { wifi1 } from '../../../firmware/wifi/contract.ts';
import { settingsText } from './texts.ts';

type Said<C, M extends keyof C> = C[M] extends (...a: never[]) => Promise<infer R> ? R : never;
export type Wifi = Said<Caller<typeof wifi1>, 'Status'>;
export type Networks = Said<Caller<typeof wifi1>, 'Scan'>['networks'];
export type Link = Said<Caller<typeof uplink1>, 'Status'>;
export type Browsers = Said<Caller<typeof uplink1>, 'ListBrowsers'>['browsers'];
export type Devices = Said<Caller<typeof audio1>, 'Enumerate'>;
export type Probed = Said<Caller<typeof audio1>, 'Probe'>;

/** Ids of the speaker and the microphone in use. */
export interface Pair {
  sink: string;
  source: string;
}

/** What a service said, or why it did not. */
export type Asked<T> = { said: T } | { trouble: Localized };

const t = localizer(settingsText);
const date = (seconds: number | bigint, l: Language) =>
  new Date(Number(seconds) * 1000).toLocaleDateString(l, { year: 'numeric', month: 'short', day: 'numeric' });

/** Asks a service; what goes wrong is told where its answer would stand. */
export async function asked<T>(work: Promise<T>): Promise<Asked<T>> {
  try {
    return { said: await work };
  } catch (cause) {
    return { trouble: t(isAbsent(cause) ? 'absent' : 'away') };
  }
}

export const joinedIn = (w: Wifi): string => w.detail.station?.ssid ?? '';

export function wifiState(w: Wifi, note: Localized | ''): JsonObject {
  const ssid = joinedIn(w);
  const text = w.radios === 0 ? t('noRadio') : ssid ? t('joined', { ssid }) : t('notJoined');
  return { text, ssid, note } as unknown as JsonObject;
}

export const networksState = (networks: Networks): Json[] =>
  networks.map(({ ssid, signal, security }) => ({ ssid, text: `${ssid} · ${signal} % · ${security}` }));

/** How joining ended. */
export const outcomeOf = (ssid: string, ok: boolean, reason: string): Localized =>
  ok
    ? t('joinedNow', { ssid })
    : t('notJoinedNow', (l) => ({ ssid, reason: translator(reasonTexts, l)(reasonKey(reason)) }));

export const volumeOf = (d: Devices, sink: string): number => {
  const found = d.sinks.find((s) => s.id === sink);
  return !found || found.muted ? 0 : Math.round(100 * Math.min(1, found.volume));
};

/** The choices of a volume, with the present one among them. */
export const volumesOf = (now: number): number[] =>
  [...new Set([0, 25, 50, 75, 100, now])].sort((a, b) => a - b);

export function soundState(d: Devices, pair: Pair, note: Localized | ''): JsonObject {
  return { ...pair, volume: String(volumeOf(d, pair.sink)), note } as unknown as JsonObject;
}

export function verdictOf({ reason, sink_id }: Probed): Localized {
  if (reason === 'ok' && sink_id) return t('testedWell');
  const key = [`verdict_${reason}`, reason].find((k) => Object.hasOwn(audioTexts.en, k)) as
    | keyof typeof audioTexts.en
    | undefined;
  return t('testedBad', (l) => ({ reason: key ? translator(audioTexts, l)(key) : '' }));
}

export const browsersState = (browsers: Browsers): Json[] =>
  browsers.map((b) => ({
    id: b.id,
    name: b.label,
    text: t('seen', (l) => ({ paired: date(b.paired_at, l), seen: date(b.seen_at, l) })) as unknown as Json,
  }));

/** @param now Unix seconds */
export function hubState(s: Link, now: number): JsonObject {
  const until = Number(s.expires_at);
  return {
    id: s.hub_id || '-',
    root: t(s.connected ? 'connected' : 'disconnected'),
    until: until > 0 ? localized((l) => date(until, l)) : '-',
    note: until > 0 ? t(until > now ? 'renewed' : 'expired') : '',
  } as unknown as JsonObject;
}
