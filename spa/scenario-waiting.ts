// What changes of this browser that wait for the hub make of a view model, in their order. They lie in the outbox, so a
// reload without a network shows them again.
import { patched } from '../firmware/ui/patch.ts';
import { failed } from './entrance.ts';
import { changes } from './icons.ts';

/** A document may come a moment after the answer; until then its change is shown on, milliseconds. */
const LINGER = 1500;

interface Shown {
  id: string;
  meanwhile: unknown;
}

/** @param changed is told when there is something else to show */
export function openWaiting(changed: () => void) {
  let box: Awaited<ReturnType<typeof changes>> | undefined;
  let before: Shown[] = [];
  let done: (Shown & { until: number })[] = [];
  changes().then((b) => {
    box = b;
    changed();
  }, failed);

  function now(): Shown[] {
    const waiting = (box?.pending ?? []).flatMap(({ id, body }): Shown[] => {
      const { meanwhile } = Object(body) as { meanwhile?: unknown };
      return meanwhile ? [{ id, meanwhile }] : [];
    });
    for (const b of before)
      if (!waiting.some((w) => w.id === b.id)) {
        done.push({ ...b, until: Date.now() + LINGER });
        setTimeout(changed, LINGER + 50);
      }
    before = waiting;
    done = done.filter((d) => d.until > Date.now());
    return [...done, ...waiting];
  }

  return {
    /** The view model as it will be. A change that has no place in it any more is left out. */
    over(viewModel: Record<string, unknown>): Record<string, unknown> {
      let made: { viewModel: Record<string, unknown> } = { viewModel };
      for (const { meanwhile } of now())
        try {
          made = patched(made, meanwhile) as typeof made;
        } catch {}
      return made.viewModel;
    },
  };
}
