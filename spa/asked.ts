// What a page of the owner's shows of the hub: asked for again while it is in sight, and the orders that change it.
import { useEffect, useState } from 'preact/hooks';
import { failed } from './entrance.ts';
import { useGate } from './gate.ts';
import { sheet } from './owner.css';
import { useApp } from './store.ts';

/** How often the hub is asked while something is awaited, and otherwise, milliseconds. */
const SOON = 1000;
const LATER = 10_000;

export interface Asked {
  /** The hub asks for the passkey: the question, and whether it hides the page. */
  gate: ReturnType<typeof useGate>;
  /** The hub is not reached. */
  away: boolean;
  /** Nothing can be asked of the hub now. */
  still: boolean;
  /** Asks now. @throws IngleError what the hub answered */
  load(): Promise<void>;
  /** Asks the hub for something that changes what is shown, and then asks again. */
  order(work: () => Promise<unknown>): void;
}

/**
 * @param o.title of the page, for the question
 * @param o.list asks the hub, and `show` is told the answer
 * @param o.soon something is awaited
 * @param o.trouble is told why an order came to nothing; else a short word says so
 */
export function useAsked<L>(o: {
  title: string;
  list(): Promise<L>;
  show(now: L): void;
  soon: boolean;
  trouble?: (e: unknown) => void;
}): Asked {
  const { link } = useApp();
  const [busy, setBusy] = useState(false);
  const gate = useGate(o.title);
  const away = link !== 'up';
  const load = async () => {
    const [now] = await Promise.all([gate.ask(o.list), sheet]);
    o.show(now);
  };
  useEffect(() => {
    if (away || gate.shut) return;
    // A hub that does not answer is asked again; the status bar says how it is reached.
    const quiet = () => void load().catch(() => {});
    quiet();
    const timer = setInterval(quiet, o.soon ? SOON : LATER);
    return () => clearInterval(timer);
  }, [away, gate.shut, o.soon]);
  return {
    ...{ gate, away, load },
    still: away || busy,
    order(work) {
      setBusy(true);
      void gate
        .ask(work)
        .then(load)
        .catch(o.trouble ?? failed)
        .finally(() => setBusy(false));
    },
  };
}
