// A tree drawn as the application draws it, with no hub behind it: what is typed shows at once, and what a tap asks for is
// told to whoever shows the tree. Not part of the application: previews and the reference page are made of it.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { overlayState } from '../firmware/ui/overlay.ts';
import { openOwn } from '../firmware/ui/own.ts';
import type { Tree } from '../firmware/ui/tree.ts';
import { evaluate } from '../firmware/ui/value.ts';
import { commandOf } from './doing.ts';
import { bounds, type Drawing, type Rows } from './drawing.ts';
import { View } from './render.ts';
import type { Icon } from './store.ts';

const icon = { skill_id: 'preview', modes: ['modal'] } as unknown as Icon;

export function Sample(o: {
  tree: Tree;
  /** The skill's state document. */
  state: unknown;
  asks(what: unknown): void;
  page: Rows['page'];
}) {
  const [own] = useState(openOwn);
  const [again] = useState<Rows['again']>(() => new Map());
  const [, draw] = useState(0);
  const state = () => overlayState(o.tree.state ?? {}, o.state);
  const act: Drawing['act'] = async (asked, given) => {
    const scope = { ...given, budget: { steps: bounds.steps } };
    if (asked.do === 'set') own.set(asked.at, evaluate(asked.value, scope), state());
    else o.asks(commandOf(icon, asked, scope) ?? asked);
    draw((n) => n + 1);
    return { done: true };
  };
  const drawing: Drawing = {
    scope: { state: own.over(state()), meta: o.tree.meta ?? {}, budget: { steps: bounds.steps } },
    left: { parts: bounds.parts },
    act,
    rows: { again, page: o.page },
  };
  return html`<${View} tree=${o.tree} drawing=${drawing} />`;
}
