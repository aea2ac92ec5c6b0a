// What became of what a control asked for: each follows the command it caused, by its id, over a reload too.
import { html } from 'htm/preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { toIngleError } from '../firmware/protocol/errors.ts';
import { changes } from './icons.ts';
import { errorText, t } from './text.ts';

/** `why` is a sentence for a person. */
export interface OpState {
  id: string;
  is: 'pending' | 'done' | 'failed';
  why?: string;
}

/** How long "done" is shown, milliseconds. */
const SHOWN = 4000;
const ops = new Map<string, OpState>();
const followers = new Set<() => void>();

function put(control: string, state: OpState | null): void {
  if (state) ops.set(control, state);
  else ops.delete(control);
  for (const f of [...followers]) f();
}

/** A control's command is on its way; a newer one of the same control takes its place. */
export function began(control: string, id: string, done: Promise<unknown>): void {
  const put1 = (s: OpState | null) => {
    if (ops.get(control)?.id === id) put(control, s);
  };
  put(control, { id, is: 'pending' });
  done.then(
    () => {
      put1({ id, is: 'done' });
      setTimeout(() => put1(null), SHOWN);
    },
    (e) => put1({ id, is: 'failed', why: errorText(toIngleError(e).code) }),
  );
}

/** The state of what `control` asked for last; undefined where nothing is under way or to be told. */
export function useOp(control: string): OpState | undefined {
  const [, draw] = useState(0);
  useLayoutEffect(() => {
    const f = () => draw((n) => n + 1);
    followers.add(f);
    // What an earlier page left.
    if (!ops.has(control))
      void changes().then((box) => {
        const op = box.pending.find((p) => p.path === control);
        if (op && !ops.has(control)) began(control, op.id, box.outcome(op.id));
      });
    return () => followers.delete(f);
  }, [control]);
  return ops.get(control);
}

/** What stands beside a control: why not, with another try. What is done is said, and marked on the control itself. */
export function Op({ of, again }: { of: OpState | undefined; again: () => void }) {
  if (of?.is === 'done') return html`<span class="did" role="status">${t('op_done')}</span>`;
  if (of?.is === 'failed')
    return html`<span role="status">${t('op_failed', { why: of.why ?? '' })} <button type="button" class="button quiet" onClick=${again}>${t('retry')}</button></span>`;
  return null;
}
