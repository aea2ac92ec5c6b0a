// A window is moved by its header and sized by its corner; by keys it is both at the button for it.
import { clamped, lay, type Place, pageSize, places, placesKey } from './place.ts';

/** One press of an arrow, pixels. */
const STEP = 32;

/** Windows that are remembered. */
const MOST = 64;

/** Remembers the place of a window, or forgets it. */
function keepPlace(name: string, place: Place | null): void {
  const { [name]: _, ...others } = places();
  const next = [...Object.entries(others), ...(place ? [[name, place] as const] : [])].slice(-MOST);
  try {
    localStorage.setItem(placesKey, JSON.stringify(Object.fromEntries(next)));
  } catch {}
}

const placeNow = (box: HTMLElement): Place => {
  const { left: x, top: y, width: w, height: h } = box.getBoundingClientRect();
  return { x, y, w, h };
};

/** @returns what ends it */
export function movable(box: HTMLElement, name: string): () => void {
  const stop = new AbortController();
  const put = (p: Place) => {
    keepPlace(name, clamped(p, pageSize()));
    lay(box, name);
  };
  const pull = (e: PointerEvent, next: (from: Place, dx: number, dy: number) => Place) => {
    if (e.button !== 0) return;
    e.preventDefault();
    const from = placeNow(box);
    const end = new AbortController();
    const { signal } = end;
    addEventListener('pointermove', (m) => put(next(from, m.clientX - e.clientX, m.clientY - e.clientY)), {
      signal,
    });
    for (const over of ['pointerup', 'pointercancel'] as const)
      addEventListener(over, () => end.abort(), { signal });
  };
  const move = (p: Place, dx: number, dy: number) => ({ ...p, x: p.x + dx, y: p.y + dy });
  const size = (p: Place, dx: number, dy: number) => ({ ...p, w: p.w + dx, h: p.h + dy });
  const { signal } = stop;
  const header = box.querySelector<HTMLElement>(':scope > header')!;
  const grip = box.querySelector<HTMLElement>('.grip');
  const corner = box.querySelector<HTMLElement>('.corner');
  header.addEventListener(
    'pointerdown',
    (e) => {
      if (!(e.target as Element).closest('button')) pull(e, move);
    },
    { signal },
  );
  header.addEventListener(
    'dblclick',
    () => {
      keepPlace(name, null);
      lay(box, name);
    },
    { signal },
  );
  corner?.addEventListener('pointerdown', (e) => pull(e, size), { signal });
  grip?.addEventListener(
    'keydown',
    (e) => {
      const by = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] }[
        e.key
      ];
      if (!by) return;
      e.preventDefault();
      put((e.shiftKey ? size : move)(placeNow(box), by[0]!, by[1]!));
    },
    { signal },
  );
  return () => stop.abort();
}
