// Draws a ui/v0 view: nodes to elements, bindings to values. What it does not know it says, and draws the rest.
import { html } from 'htm/preact';
import { Component, type ComponentChildren, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { evaluate, type Scope } from '../firmware/ui/binding.ts';
import type { Action, ViewNode } from '../firmware/ui/schema.ts';
import { LineChart } from './chart.ts';
import { face, glyph } from './glyphs.ts';
import { Op, useOp } from './op.ts';
import { shown, t } from './text.ts';

export interface Drawing {
  scope: Scope;
  /**
   * Does an action, with what a person gave; settles when the hub has done it or it is safe in the outbox.
   * @param o.secret it is asked for at once and kept nowhere
   * @returns false when it was not done
   */
  act(
    action: Action,
    given?: Record<string, string>,
    o?: { secret?: boolean; control?: string },
  ): Promise<boolean>;
}

/** A part that cannot be drawn takes nothing else down with it. */
class Guard extends Component<{ children?: ComponentChildren; stamp: unknown }, { broken: unknown }> {
  override state = { broken: undefined as unknown };
  override componentDidCatch(): void {
    this.setState({ broken: this.props.stamp });
  }
  override render() {
    return this.state.broken !== undefined && this.state.broken === this.props.stamp
      ? html`<div class="v-note">${t('node_bad')}</div>`
      : this.props.children;
  }
}

export function View(o: { layout: ViewNode; drawing: Drawing }) {
  return html`<${Guard} stamp=${o.layout}>${draw(o.layout, o.drawing, 0)}<//>`;
}

const text = (value: string | undefined, d: Drawing) =>
  value === undefined ? '' : shown(evaluate(value, d.scope, shown));
/** Gaps on the design's own steps, so that no inline style is needed. */
const gapClass = (gap: number | undefined) =>
  gap === undefined ? '' : ` g${Math.min(6, Math.round((gap < 4 ? gap * 8 : gap) / 4))}`;
const kids = (n: ViewNode, d: Drawing, depth: number) =>
  [...(n.child ? [n.child] : []), ...(Array.isArray(n.children) ? n.children : [])].map((c) =>
    draw(c, d, depth + 1),
  );

type Draw = (n: ViewNode, d: Drawing, depth: number) => VNode | VNode[] | null;
const draws: Record<string, Draw> = {
  title: (n, d) => html`<h3 class="v-title">${text(n.text, d)}</h3>`,
  text: (n, d) => html`<p>${text(n.text, d)}</p>`,
  badge: (n, d) => html`<span class="pill v-badge">${text(n.text, d)}</span>`,
  metric: (n, d) => html`<dl class="v-metric"><dt>${text(n.label, d)}</dt><dd>${text(n.value, d)}</dd></dl>`,
  stack: (n, d, depth) => html`<div class=${`v-stack${gapClass(n.gap)}`}>${kids(n, d, depth)}</div>`,
  row: (n, d, depth) =>
    html`<div class=${`v-row${gapClass(n.gap)} ${n.justify ?? ''}`}>${kids(n, d, depth)}</div>`,
  card: (n, d, depth) =>
    html`<section class=${`v-card${gapClass(n.gap)}`}>${n.title !== undefined && html`<h3>${text(n.title, d)}</h3>`}${kids(n, d, depth)}</section>`,
  table: (n, d) => html`<${Table} node=${n} d=${d} />`,
  'chart.line': (n, d) =>
    html`<${LineChart} series=${n.series ?? []} title=${text(n.title ?? n.label, d)} scope=${d.scope} />`,
  button: (n, d) => html`<${Press} node=${n} d=${d} />`,
  select: (n, d) => html`<${Choose} node=${n} d=${d} />`,
  form: (n, d) => html`<${Fill} node=${n} d=${d} />`,
  empty: (n, d) =>
    html`<div class="v-empty">${n.icon && html`<div class="face">${face(n.icon)}</div>`}<p>${text(n.text ?? n.title, d)}</p></div>`,
};

function draw(n: ViewNode, d: Drawing, depth: number): VNode | VNode[] | null {
  if (n === null || typeof n !== 'object' || depth > 32)
    return html`<div class="v-note">${t('node_bad')}</div>`;
  const type = String(n.type);
  if (!Object.hasOwn(draws, type)) return html`<div class="v-note">${t('not_supported', { type })}</div>`;
  return draws[type]!(n, d, depth);
}

function Table({ node, d }: { node: ViewNode; d: Drawing }) {
  const rows = node.rows === undefined ? [] : evaluate(node.rows, d.scope);
  const columns = node.columns ?? [];
  if (!Array.isArray(rows) || rows.length === 0) return html`<div class="v-empty">${t('no_rows')}</div>`;
  const cell = (row: unknown, key: string): unknown =>
    row !== null && typeof row === 'object' && Object.hasOwn(row, key)
      ? (row as Record<string, unknown>)[key]
      : undefined;
  return html`<div class="v-table" tabindex="0" role="region" aria-label=${text(node.title ?? node.label, d) || columns.map((c) => text(c.label, d)).join(', ')}>
    <table>
      <thead><tr>${columns.map((c) => html`<th scope="col">${text(c.label, d)}</th>`)}</tr></thead>
      <tbody>${rows.slice(0, 500).map(
        (row: unknown) =>
          html`<tr>${columns.map((c) => {
            const value = cell(row, c.key);
            return html`<td class=${typeof value === 'number' ? 'n' : ''}>${shown(value)}</td>`;
          })}</tr>`,
      )}</tbody>
    </table>
  </div>`;
}

function Press({ node, d }: { node: ViewNode; d: Drawing }) {
  const [pressed, setPressed] = useState(false);
  const control = controlOf(node);
  const op = useOp(control);
  const busy = pressed || op?.is === 'pending';
  const press = async () => {
    if (pressed || !node.action) return;
    setPressed(true);
    await d.act(node.action, undefined, { control }).finally(() => setPressed(false));
  };
  return html`<button type="button" class="button second" aria-busy=${busy ? 'true' : undefined} onClick=${press}>
    ${busy ? html`<span class="spin"></span>` : node.icon === 'refresh' && glyph('refresh')}${text(node.label, d)}</button><${Op} of=${op} again=${press} />`;
}

/** Names a control by what it does, the same after a reload. */
const controlOf = (node: ViewNode) => JSON.stringify([node.label, node.action]);

function Choose({ node, d }: { node: ViewNode; d: Drawing }) {
  const now = node.bind === undefined ? undefined : evaluate(node.bind, d.scope);
  const change = (e: Event & { currentTarget: HTMLSelectElement }) => {
    if (node.action) void d.act(node.action, { value: e.currentTarget.value });
  };
  return html`<label class="field"><span>${text(node.label, d)}</span>
    <select class="select" value=${String(now ?? '')} onChange=${change}>
      ${(node.options ?? []).map((o) => html`<option value=${o.value}>${text(o.label, d)}</option>`)}
    </select></label>`;
}

function Fill({ node, d }: { node: ViewNode; d: Drawing }) {
  const [typed, setTyped] = useState<Record<string, string>>({});
  const [sending, setSending] = useState(false);
  const control = controlOf(node);
  const op = useOp(control);
  const busy = sending || op?.is === 'pending';
  const fields = Array.isArray(node.fields) ? node.fields : [];
  const values = Object.fromEntries(fields.map((f) => [f.key, typed[f.key] ?? text(f.value, d)]));
  const secret = fields.some((f) => f.secret);
  const send = async (e?: Event) => {
    e?.preventDefault();
    if (sending || !node.action) return;
    setSending(true);
    const done = await d.act(node.action, values, { secret, control }).finally(() => setSending(false));
    if (done) setTyped({});
  };
  return html`<form class="v-form" onSubmit=${send}>
    ${fields.map(
      (f) => html`<label class="field"><span>${text(f.label, d)}</span>
        <input class="input" type=${f.secret ? 'password' : 'text'} maxlength="256" autocomplete="off" value=${values[f.key]}
          onInput=${(e: Event & { currentTarget: HTMLInputElement }) => setTyped({ ...typed, [f.key]: e.currentTarget.value })} /></label>`,
    )}
    <button class="button second" aria-busy=${busy ? 'true' : undefined}>${busy && html`<span class="spin"></span>`}${text(node.label, d)}</button>
    <${Op} of=${op} again=${send} />
  </form>`;
}
