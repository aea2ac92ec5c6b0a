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
