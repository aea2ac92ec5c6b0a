// Contrast of a maker's colour with the grounds it is seen on (WCAG 2.2, 1.4.3), and the palette made of it. Pure.
import type { Palette } from '../text/brand.ts';

/** The least contrast of text, WCAG 2.2 level AA. */
export const leastContrast = 4.5;

/** Grounds of the setup pages and the application on which the accent is text. */
const grounds = {
  light: ['#f7f3ec', '#faf7f2', '#fffdf9', '#ffffff'],
  dark: ['#14110e', '#171513', '#1d1915', '#26211b'],
} as const;
const texts = ['#ffffff', '#1a1410'] as const;

type Scheme = keyof typeof grounds;

function parts(colour: string): [number, number, number] {
  const n = Number.parseInt(colour.slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}

/** Relative luminance, 0 to 1 (WCAG 2.2, "relative luminance"). */
function luminance(colour: string): number {
  const [r, g, b] = parts(colour).map((c) => {
    const s = c / 255;
    return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Contrast of two colours (`#rrggbb`), 1 to 21. */
export function contrast(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/** `share` of `b` in `a`. */
export function mix(a: string, b: string, share: number): string {
  const [x, y] = [parts(a), parts(b)];
  const channel = (i: number) => Math.round(x[i]! * (1 - share) + y[i]! * share);
  return `#${[0, 1, 2].map((i) => channel(i).toString(16).padStart(2, '0')).join('')}`;
}

/** The palette of an accent. */
export function paletteOf(accent: string, scheme: Scheme): Palette {
  const on = contrast(texts[0], accent) >= contrast(texts[1], accent) ? texts[0] : texts[1];
  return {
    accent,
    strong: mix(accent, scheme === 'light' ? '#000000' : '#ffffff', 0.2),
    on,
    tint: mix(accent, scheme === 'light' ? '#ffffff' : '#14110e', scheme === 'light' ? 0.9 : 0.86),
  };
}

/** The weakest contrast at which a palette of `accent` would be read, and the ground it is on. */
export function weakest(accent: string, scheme: Scheme): { ratio: number; ground: string } {
  const p = paletteOf(accent, scheme);
  const pairs: [string, string][] = [
    ...[...grounds[scheme], p.tint].map((ground): [string, string] => [accent, ground]),
    [p.on, accent],
    [p.on, p.strong],
  ];
  return pairs
    .map(([a, ground]) => ({ ratio: contrast(a, ground), ground }))
    .reduce((least, now) => (now.ratio < least.ratio ? now : least));
}

/** The nearest colour to `accent`, darker or lighter, that is readable in `scheme`. */
export function readable(accent: string, scheme: Scheme): string {
  for (let share = 0; share <= 1; share += 0.02) {
    const tried = mix(accent, scheme === 'light' ? '#000000' : '#ffffff', share);
    if (weakest(tried, scheme).ratio >= leastContrast) return tried;
  }
  return scheme === 'light' ? '#000000' : '#ffffff';
}
