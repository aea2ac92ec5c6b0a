// A maker's name and colours, as the hub tells them to the setup pages and the application.
import type { Language } from './i18n.ts';

/** Four colours (`#rrggbb`) of one scheme; their contrast was checked when the device file was read. */
export interface Palette {
  /** Buttons, links, marks. */
  accent: string;
  /** The accent under a pointer. */
  strong: string;
  /** Text on the accent. */
  on: string;
  /** Ground behind accented text. */
  tint: string;
}

export interface Brand {
  /** Product name, in titles and beside the mark. */
  name: string;
  /** Null keeps the colours of the pages. */
  light: Palette | null;
  dark: Palette | null;
  /** Words that replace ours, a language at a time. */
  texts: Partial<Record<Language, { title?: string; support?: string }>>;
}

/** The brand of a hub whose maker names none. */
export const noBrand: Brand = { name: 'Ingle', light: null, dark: null, texts: {} };

/** Sets style sheet variables by `set`; `names` says what the page calls each colour. */
export function paint(
  brand: Brand,
  dark: boolean,
  names: Partial<Record<keyof Palette, string>>,
  set: (variable: string, value: string) => void,
): void {
  const palette = dark ? brand.dark : brand.light;
  for (const [part, name] of Object.entries(names)) set(name, palette?.[part as keyof Palette] ?? '');
}
