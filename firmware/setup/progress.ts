// The progress of setup as all its channels hear it and say it.
import type { Bus } from '../system/bus.ts';
import { fromVariant } from '../system/contract.ts';
import { type Language, translator } from '../text/i18n.ts';
import { type SetupText, setupTexts } from '../text/setup.ts';
import { setup1 } from './contract.ts';

/** What `Progress` of io.ingle.Setup1 tells: a step, its state, a key of text/setup.ts, and that text's values. */
export type OnStep = (step: string, state: string, text: string, detail: Record<string, unknown>) => void;
/** Hears each step until the returned function is called. */
export type Progress = (f: OnStep) => () => void;

export function progressOf(bus: Pick<Bus, 'onSignal'>): Progress {
  return (f) => {
    let over = false;
    const stop = bus.onSignal(setup1, 'Progress', (p) => {
      // The daemon still sends for a moment after it was told to stop.
      if (!over) f(p.step, p.state, p.text, fromVariant(p.detail) as Record<string, unknown>);
    });
    return () => {
      over = true;
      void stop.then((s) => s());
    };
  };
}

/** A step in words. */
export function stepText(text: string, detail: Record<string, unknown>, language: Language): string {
  return translator(setupTexts, language)(text as SetupText, detail as Record<string, string | number>);
}
