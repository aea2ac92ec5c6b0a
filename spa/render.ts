// Draws a render tree: nodes to elements, values to words. What it does not know it says, and draws the rest.
import { html } from 'htm/preact';
import { Component, type ComponentChildren, type FunctionComponent, type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Capability, Inline, Node, Tree, Value } from '../firmware/ui/tree.ts';
import { evaluate, holds, isLazy, toNumber } from '../firmware/ui/value.ts';
import { controlOf, type Drawing, inRow, type Of, say } from './drawing.ts';
import { face, glyph } from './glyphs.ts';
import { Op, useOp } from './op.ts';
import { table } from './table.ts';
import { t } from './text.ts';

const EACH = 500;
const DEPTH = 60;
/** What a node brings by itself; a tree that needs more has another frame. */
const byNode: readonly Capability[] = ['chart', 'input', 'tabs'];

const note = (says: string) => html`<div class="v-note">${says}</div>`;

/** A part that cannot be drawn takes nothing else down with it. */
class Guard extends Component<{ children?: ComponentChildren; stamp: unknown }, { broken: unknown }> {
  override state = { broken: undefined as unknown };
  override componentDidCatch(): void {
    this.setState({ broken: this.props.stamp });
  }
  override render() {
    return this.state.broken !== undefined && this.state.broken === this.props.stamp
      ? note(t('node_bad'))
      : this.props.children;
  }
}

/** A part that comes when it is first drawn; something of its size stands there until then. */
function later<P extends object>(
  size: string,
  load: () => Promise<FunctionComponent<P>>,
): FunctionComponent<P> {
  let here: FunctionComponent<P> | undefined;
  return function Later(props) {
    const [failed, fail] = useState<boolean | null>(null);
    useEffect(() => {
      if (here) return;
      load().then(
        (part) => {
          here = part;
          fail(false);
        },
        () => fail(true),
      );
    }, []);
    if (here) return html`<${here} ...${props} />`;
    return failed ? note(t('node_bad')) : html`<div class=${`bone ${size}`} aria-busy="true"></div>`;
  };
}
const Chart = later('v-bone-chart', () => import('./chart.ts').then((m) => m.ChartOf));
const Tabs = later('', () => import('./tabs.ts').then((m) => m.Tabs));
const Form = later('', () => import('./form.ts').then((m) => m.sheet.then(() => m.Form)));
const Input = later('', () => import('./form.ts').then((m) => m.sheet.then(() => m.Input)));
const Many = later('v-bone-chart', () => import('./rows.ts').then((m) => m.sheet.then(() => m.Many)));
const Beyond = later('v-bone-chart', () => import('./beyond.ts').then((m) => m.sheet.then(() => m.Beyond)));

export function View({ tree, drawing }: { tree: Tree; drawing: Drawing }) {
  const { header = [], main } = tree;
  return html`<${Guard} stamp=${tree}>${
    tree.needs.every((c) => byNode.includes(c))
      ? html`<div class="v-stack">${[...header, ...main].map((n) => draw(n, drawing))}</div>`
      : html`<${Beyond} tree=${tree} drawing=${drawing} draw=${draw} />`
  }<//>`;
}

/** Gaps on the design's own steps, so that no inline style is needed. */
const gapClass = (gap: number | undefined) =>
  gap === undefined ? '' : ` g${Math.min(6, Math.round(gap / 4))}`;
const all = (nodes: readonly Node[], d: Drawing, depth: number) => nodes.map((n) => draw(n, d, depth + 1));
/** A part with a life of its own. */
const part = (C: FunctionComponent<never>, n: Node, d: Drawing) =>
  html`<${Guard} stamp=${n}><${C} n=${n} d=${d} draw=${draw} /><//>`;

const marks = { strong: 'strong', em: 'em', code: 'code', strike: 's' } as const;

function inline(i: Inline, d: Drawing): unknown {
  if (i === null || typeof i !== 'object') return say(i, d);
  if ('br' in i) return html`<br />`;
  if (!('mark' in i || 'act' in i)) return say(i, d);
  const of = i.of.map((one) => inline(one, d));
  if ('mark' in i) return html`<${marks[i.mark]}>${of}<//>`;
  const { act } = i;
  if (act.do === 'go' && /^(https?:|mailto:)/.test(act.href ?? ''))
    return html`<a href=${act.href} target="_blank" rel="noopener noreferrer">${of}</a>`;
  return html`<button type="button" class="v-link" onClick=${() => d.act(act, d.scope)}>${of}</button>`;
}

type Draws = { [K in Node['is']]?: (n: Of<K>, d: Drawing, depth: number) => unknown };
const draws: Draws = {
  title: (n, d) => html`<h3 class=${`v-title t${n.level ?? 1}`}>${say(n.text, d)}</h3>`,
  text: (n, d) => html`<p>${n.of.map((i) => inline(i, d))}</p>`,
  badge: (n, d) => html`<span class=${`pill v-badge ${n.tone ?? ''}`}>${say(n.text, d)}</span>`,
  metric: (n, d) =>
    html`<dl class="v-metric"><dt>${say(n.label, d)}</dt><dd>${say(n.value, d)}${n.unit !== undefined && ` ${say(n.unit, d)}`}</dd></dl>`,
  stack: (n, d, depth) => html`<div class=${`v-stack${gapClass(n.gap)}`}>${all(n.children, d, depth)}</div>`,
  row: (n, d, depth) =>
    html`<div class=${`v-row${gapClass(n.gap)} ${n.justify ?? ''}`}>${all(n.children, d, depth)}</div>`,
  card: (n, d, depth) =>
    html`<section class=${`v-card${gapClass(n.gap)}`}>${n.title !== undefined && html`<h3>${say(n.title, d)}</h3>`}${all(n.children, d, depth)}</section>`,
  list: (n, d, depth) =>
    html`<${n.ordered ? 'ol' : 'ul'} class="v-list">${n.items.map((item) => html`<li>${all(item, d, depth)}</li>`)}<//>`,
  quote: (n, d, depth) => html`<blockquote class="v-stack">${all(n.children, d, depth)}</blockquote>`,
  code: (n, d) => html`<pre class="v-code" tabindex="0"><code>${say(n.text, d)}</code></pre>`,
  rule: () => html`<hr class="v-rule" />`,
  each(n, d, depth) {
    const items = evaluate(n.of, d.scope);
    if (!Array.isArray(items) || items.length === 0) return n.none ? draw(n.none, d, depth + 1) : null;
    return items.slice(0, EACH).map((row: unknown, i) => draw(n.child, inRow(d, row, i), depth + 1));
  },
  table: (n, d, depth) => (!isLazy(n.rows) && table(n, d, draw, depth)) || part(Many, n, d),
  chart: (n, d) => part(Chart, n, d),
  button: (n, d) => part(Press, n, d),
  input: (n, d) => part(Input, n, d),
  form: (n, d) => part(Form, n, d),
  tabs: (n, d) => part(Tabs, n, d),
  progress(n, d) {
    const of = (v: Value | undefined) => toNumber(v === undefined ? undefined : evaluate(v, d.scope));
    const [value, max] = [of(n.value), of(n.max ?? 100)];
    const known = Number.isFinite(value) && max > 0;
    return html`<label class="field"><span>${say(n.label, d)}</span><progress class="v-progress" max=${known ? max : 1} value=${known ? Math.max(0, Math.min(max, value)) : undefined}></progress></label>`;
  },
  empty: (n, d) =>
    html`<div class="v-empty">${n.icon && html`<div class="face">${face(n.icon)}</div>`}<p>${say(n.text, d)}</p>${n.act && part(Press, { is: 'button', label: n.label ?? '', act: n.act }, d)}</div>`,
  note: (n) =>
    html`<div class="v-note">${t('node_bad')}${n.says && html` <code>${n.pointer}</code> ${n.says}`}</div>`,
};

/** One node; of a drawing that is larger than a page can be, the end is left out. */
function draw(n: Node, d: Drawing, depth = 0): unknown {
  if (--d.left.parts < 0) return d.left.parts === -1 ? note(t('too_much')) : null;
  try {
    if (depth > DEPTH) return note(t('node_bad'));
    if (!holds(n.when, d.scope)) return null;
    const one = (Object.hasOwn(draws, n.is) ? draws[n.is] : d.more?.get(n.is)) as
      | ((...a: unknown[]) => VNode)
      | undefined;
    return one ? one(n, d, depth) : note(t('not_supported', { type: String(n.is).slice(0, 50) }));
  } catch {
    return note(t('node_bad'));
  }
}

const tones = { plain: 'second', primary: '', danger: 'second danger' };

function Press({ n, d }: { n: Of<'button'>; d: Drawing }) {
  const [pressed, setPressed] = useState(false);
  const control = controlOf(n, d);
  const op = useOp(control);
  const busy = pressed || op?.is === 'pending';
  const press = async () => {
    if (pressed) return;
    setPressed(true);
    await d.act(n.act, d.scope, { control }).finally(() => setPressed(false));
  };
  return html`<button type="button" class=${`button ${tones[n.tone ?? 'plain']}`} aria-busy=${busy ? 'true' : undefined} onClick=${press}>
    ${busy ? html`<span class="spin"></span>` : n.icon === 'refresh' && glyph('refresh')}${say(n.label, d)}</button><${Op} of=${op} again=${press} />`;
}
