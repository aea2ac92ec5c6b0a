// What the page of scenarios asks the hub to do: one thing at a time, why it was not done, and where the focus is then.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { toIngleError } from '../firmware/protocol/errors.ts';
import { hub, type Known, say } from './scenarios-hub.ts';
import type { Page, Trouble } from './scenarios-page.ts';
import { isOver } from './scenarios-told.ts';
import { nameOf } from './scenarios-words.ts';
import { toast } from './store.ts';
import { errorText } from './text.ts';

/** @param again asks for what there is now */
export function useOrders(again: () => Promise<void>) {
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  /** The control that was used last: it is out of order meanwhile, which takes the focus from it. */
  const pressed = useRef('');
  useLayoutEffect(() => {
    const at = document.activeElement;
    if (!busy && (at === document.body || at?.classList.contains('window')))
      document.getElementById(pressed.current)?.focus();
  }, [busy]);
  const forget = () => setTrouble(null);
  const lookAgain = () => {
    forget();
    void again();
  };
  const order: Page['order'] = (work, help) => {
    forget();
    pressed.current = document.activeElement?.id ?? '';
    setBusy(true);
    void work()
      .then(again, async (e) => {
        const { code } = toIngleError(e);
        // What helps depends on what there is now.
        await again();
        setTrouble(
          help?.(code) ?? { text: errorText(code), way: { text: say('look_again'), go: lookAgain } },
        );
      })
      .finally(() => setBusy(false));
  };
  return { order, busy, trouble, forget, pressed };
}

/** Orders that begin a run, which is then watched. */
export function startsOf(
  o: Pick<Page, 'order' | 'go'> & { again(): Promise<void>; known(): Known },
): Pick<Page, 'start' | 'replay'> {
  const watch = async (id: string) => {
    await o.again();
    o.go({ at: 'run', id });
  };
  const notStarted = (id: string): Trouble => {
    const { runs, scenarios } = o.known();
    const open = runs.find((r) => r.scenario_id === id && !isOver(r));
    return open
      ? {
          text: say('runs_already'),
          way: { text: say('watch'), go: () => o.go({ at: 'run', id: open.run_id }) },
        }
      : {
          text: say('cannot_start', { name: nameOf(scenarios, id) }),
          way: { text: say('settings_open'), go: () => o.go({ at: 'one', id }) },
        };
  };
  return {
    start: (id) =>
      o.order(
        async () => watch(await hub.start(id)),
        (code) => (code === 'conflict' ? notStarted(id) : undefined),
      ),
    replay: (letter, from) =>
      o.order(
        async () => {
          const run = await hub.replay(letter, from);
          toast(say('replaying'));
          await watch(run);
        },
        (code) =>
          code === 'conflict'
            ? { text: say('cannot_replay'), way: { text: say('tab_runs'), go: () => o.go({ at: 'runs' }) } }
            : undefined,
      ),
  };
}
