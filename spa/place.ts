// Where windows stand on a desk and how large they are, as this browser remembers it. Whole on the screen, always.

/** CSS pixels from the left top of the page. */
export interface Place {
  x: number;
  y: number;
  w: number;
  h: number;
}

export const placesKey = 'ingle.windows';
const LEAST = { w: 320, h: 256 };
/** A desk, where windows stand as they are put. */
export const wide = matchMedia('(min-width: 64rem)');

/** The place nearest to one that lies whole in a page of this size. Pure. */
export function clamped(p: Place, page: { w: number; h: number }): Place {
  const between = (least: number, v: number, most: number) =>
    Math.max(least, Math.min(v, Math.max(least, most)));
  const w = Math.min(between(LEAST.w, p.w, page.w), page.w);
  const h = Math.min(between(LEAST.h, p.h, page.h), page.h);
  return { x: between(0, p.x, page.w - w), y: between(0, p.y, page.h - h), w, h };
}

/** The places that are remembered, by the windows' names. */
export function places(): Record<string, Place> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(placesKey) ?? '{}');
    return Object(kept) as Record<string, Place>;
  } catch {
    return {};
  }
}

export function forgetPlaces(): void {
  try {
    localStorage.removeItem(placesKey);
  } catch {}
}

export const pageSize = () => ({ w: innerWidth, h: innerHeight });

/** Puts a window where it was left, where there is room for that. */
export function lay(box: HTMLElement, name: string): void {
  const kept = wide.matches ? places()[name] : undefined;
  const isPlace = kept && [kept.x, kept.y, kept.w, kept.h].every(Number.isFinite);
  const p = isPlace ? clamped(kept, pageSize()) : null;
  const px = (n: number | undefined) => (n === undefined ? '' : `${n}px`);
  Object.assign(box.style, {
    ...{ position: p ? 'fixed' : '', left: px(p?.x), top: px(p?.y) },
    ...{ width: px(p?.w), height: px(p?.h) },
  });
}

/** The same now and whenever the page has another size. @returns what ends it */
export function stay(box: HTMLElement, name: string): () => void {
  const again = () => lay(box, name);
  again();
  addEventListener('resize', again);
  return () => removeEventListener('resize', again);
}
