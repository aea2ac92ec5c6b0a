// Consumption of a made-up home: quiet nights, a breakfast, a long evening; the same for everybody who asks again. Pure.

/** Days that can be asked for. */
export const DAYS = 60;

/** kWh of each hour of an ordinary day. */
const ordinary = [
  0.18, 0.16, 0.15, 0.15, 0.16, 0.2, 0.42, 0.68, 0.55, 0.34, 0.3, 0.33, 0.45, 0.38, 0.31, 0.32, 0.4, 0.62,
  0.88, 0.95, 0.82, 0.66, 0.44, 0.26,
];

/** 0 to 1, by what it is of (FNV-1a). */
function drawn(of: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < of.length; i++) h = Math.imul(h ^ of.charCodeAt(i), 0x01000193) >>> 0;
  return (h % 1000) / 1000;
}

const round = (kwh: number) => Math.round(kwh * 100) / 100;
export const sum = (hours: readonly { kWh: number }[]): number =>
  round(hours.reduce((all, h) => all + h.kWh, 0));
const two = (n: number) => String(n).padStart(2, '0');

/** The day of a time by the hub's clock, as `2026-11-24`. */
export const dayOf = (at: Date): string =>
  `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;

export interface Hour {
  /** `07:00`. */
  hour: string;
  kWh: number;
}

export const hoursOf = (date: string): Hour[] =>
  ordinary.map((kwh, hour) => ({
    hour: `${two(hour)}:00`,
    kWh: round(kwh * (0.7 + 0.6 * drawn(`${date} ${hour}`))),
  }));

/** The 24 hours up to the one under way. */
export const lastDay = (now: Date): Hour[] =>
  Array.from({ length: 24 }, (_, i) => {
    const at = new Date(now.getTime() - (23 - i) * 3_600_000);
    return hoursOf(dayOf(at))[at.getHours()]!;
  });

/** The days before now, the newest first. */
export function daysBefore(now: Date): { date: string; kWh: number; peak: string }[] {
  return Array.from({ length: DAYS }, (_, i) => {
    const date = dayOf(new Date(now.getFullYear(), now.getMonth(), now.getDate() - i - 1, 12));
    const hours = hoursOf(date);
    const peak = hours.reduce((most, h) => (h.kWh > most.kWh ? h : most));
    return { date, kWh: sum(hours), peak: peak.hour };
  });
}
