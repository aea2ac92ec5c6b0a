// The focus stays in the window when what had it goes: keys are heard there.
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/** @param trouble what was not done and why: its note comes into sight, as what was pressed may be far below it */
export function useFocusInside(trouble?: unknown) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (trouble) box.current?.querySelector('.bad')?.scrollIntoView({ block: 'nearest' });
  }, [trouble]);
  useLayoutEffect(() => {
    if (document.activeElement === document.body)
      box.current?.closest<HTMLElement>('.window')?.focus({ preventScroll: true });
  });
  return box;
}

/** Tab goes round inside a modal window. */
export function keepInside(e: KeyboardEvent, box: HTMLElement): void {
  const all = [
    ...box.querySelectorAll<HTMLElement>(
      'button:not([disabled]), select, input, textarea, a[href], summary, iframe, [tabindex="0"]',
    ),
  ].filter((x) => x.offsetParent);
  const [first, last] = [all[0], all.at(-1)];
  const at = document.activeElement;
  if (!first || (e.shiftKey ? at === first || at === box : at === last)) {
    e.preventDefault();
    (e.shiftKey ? last : first)?.focus();
  }
}
