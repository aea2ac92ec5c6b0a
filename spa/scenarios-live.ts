// What a part of the page shows of the hub, asked for again while somebody looks: often while something runs.
import { useEffect, useRef, useState } from 'preact/hooks';
import { type IngleError, toIngleError } from '../firmware/protocol/errors.ts';
import { useApp } from './store.ts';

/** How often the hub is asked while a run is open, and otherwise, milliseconds. */
const SOON = 3000;
const LATER = 15_000;

export interface Live {
  /** Asks now. */
  again(): Promise<void>;
  /** Why the last question had no answer. */
  error: IngleError | null;
}

/**
 * @param about what is asked for; another is asked for at once
 * @param ask asks the hub and shows what it answers
 * @param isSoon whether a run is open
 */
export function useLive(about: string, ask: () => Promise<void>, isSoon: boolean): Live {
  const { link } = useApp();
  const [error, setError] = useState<IngleError | null>(null);
  const now = useRef(ask);
  now.current = ask;
  const again = async () => {
    try {
      await now.current();
      setError(null);
    } catch (e) {
      setError(toIngleError(e));
    }
  };
  const isUp = link === 'up';
  useEffect(() => {
    if (isUp) void again();
  }, [about, isUp]);
  useEffect(() => {
    if (!isUp) return;
    const look = () => {
      if (!document.hidden) void again();
    };
    const timer = setInterval(look, isSoon ? SOON : LATER);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [isUp, isSoon, about]);
  return { again, error };
}
