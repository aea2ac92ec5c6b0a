// The focus stays in the window when what had it goes: keys are heard there.
import { useLayoutEffect, useRef } from 'preact/hooks';

export function useFocusInside() {
  const box = useRef<HTMLDivElement>(null);
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
  ].filter((x) => x.offsetParent !== null);
  const [first, last] = [all[0], all.at(-1)];
  if (!first || !last) {
    e.preventDefault();
    return;
  }
  const at = document.activeElement;
  if (e.shiftKey ? at === first || at === box : at === last) {
    e.preventDefault();
    (e.shiftKey ? last : first).focus();
  }
}
