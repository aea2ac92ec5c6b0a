// What the hub asks the passkey for, asked again once it was shown.
import { html } from 'htm/preact';
import { useRef, useState } from 'preact/hooks';
import { toIngleError } from '../firmware/protocol/errors.ts';
import { Elevate } from './elevate.ts';

export function useGate(title: string) {
  const [shut, setShut] = useState(false);
  /** Told when the passkey was accepted. */
  const passed = useRef<(() => void)[]>([]);
  const done = () => {
    setShut(false);
    for (const go of passed.current.splice(0)) go();
  };
  return {
    shut,
    question: shut && html`<${Elevate} title=${title} done=${done} />`,
    /** Asks the hub; where it wants the passkey first, once more after that. */
    async ask<R>(work: () => Promise<R>): Promise<R> {
      try {
        return await work();
      } catch (e) {
        if (toIngleError(e).code !== 'assertion_required') throw e;
        setShut(true);
        await new Promise<void>((go) => passed.current.push(go));
        return work();
      }
    },
  };
}
