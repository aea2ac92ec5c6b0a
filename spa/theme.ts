// Light, dark or as the device has it, and more contrast: this browser's choice, made by switching media rules.
export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export interface Choice {
  theme: Theme;
  contrast: boolean;
}

const key = 'ingle.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');
let chosen: Choice = { theme: 'system', contrast: false };
/** Rules and elements with a media query of ours, and what it says by itself. */
let found: { media: (query: string) => void; own: string }[] | undefined;

/** Style sheets of the page itself stand in its head before any script runs. */
function find(): NonNullable<typeof found> {
  const rules = [...document.styleSheets].flatMap((s) => [...s.cssRules]);
  const conditions = rules.filter(
    (r) => r instanceof CSSMediaRule && /scheme|contrast/.test(r.conditionText),
  );
  return [
    ...(conditions as CSSMediaRule[]).map((r) => ({
      media: (query: string) => {
        r.media.mediaText = query;
      },
      own: r.conditionText,
    })),
    ...[...document.querySelectorAll<HTMLMetaElement>('meta[media]')].map((m) => ({
      media: (query: string) => {
        m.media = query;
      },
      own: m.media,
    })),
  ];
}

/** The media query in force for one that a rule has by itself. */
export function queryFor(own: string, { theme, contrast }: Choice): string {
  if (own.includes('contrast')) return contrast ? 'all' : own;
  if (theme === 'system') return own;
  return own.includes(theme) ? 'all' : 'not all';
}

function apply(): void {
  found ??= find();
  for (const { media, own } of found) media(queryFor(own, chosen));
  document.documentElement.style.colorScheme = chosen.theme === 'system' ? '' : chosen.theme;
  // What is drawn in colours of its own draws itself anew.
  dispatchEvent(new Event('look'));
}

export const theme = (): Choice => chosen;
export const isDark = (): boolean => (chosen.theme === 'system' ? dark.matches : chosen.theme === 'dark');

export function startTheme(): void {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? 'null') as Partial<Choice> | null;
    if (!kept) return;
    chosen = { theme: themes.find((t) => t === kept.theme) ?? 'system', contrast: kept.contrast === true };
  } catch {
    return;
  }
  apply();
}

export function chooseTheme(choice: Partial<Choice>): void {
  chosen = { ...chosen, ...choice };
  apply();
  try {
    localStorage.setItem(key, JSON.stringify(chosen));
  } catch {}
}
