// The hubs of the subnet: each with what it is and when it was heard, and how a member is let go.
import { html } from 'htm/preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { glyph } from './glyphs.ts';
import { calledHere } from './hubs-here.ts';
import { type Node, nameOf, say } from './hubs-hub.ts';
import { ago } from './text.ts';

const tones = { here: 'ok', joined: 'warn', gone: 'bad', left: '' } as const;

/** The question before a hub is let go: it has the focus, and Escape is No. */
function Sure(o: { name: string; still: boolean; yes(): void; no(): void }) {
  const box = useRef<HTMLParagraphElement>(null);
  useLayoutEffect(() => box.current?.focus(), []);
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key !== 'Escape') return;
    e.preventDefault();
    // The window would close.
    e.stopPropagation();
    o.no();
  };
  return html`<div class="note bad sure" role="alertdialog" aria-labelledby="sure" onKeyDown=${onKeyDown}>
    <p id="sure" tabindex="-1" ref=${box}>${say('sure', { name: o.name })}</p>
    <div class="v-row"><button type="button" class="button" disabled=${o.still} onClick=${o.yes}>${say('let_go')}</button>
      <button type="button" class="button second" onClick=${o.no}>${say('keep')}</button></div>
  </div>`;
}

/** A member knows of the hub that leads no more than its id: this browser or root may know what it is called. */
function useName(node: Node): string {
  const [called, call] = useState('');
  const isNameless = node.role === 'hub' && !node.name;
  useEffect(() => {
    if (isNameless) void calledHere(node.hub_id).then(call);
  }, [node.hub_id, isNameless]);
  return nameOf(called ? { ...node, name: called } : node);
}

function One(o: { node: Node; self: boolean; still: boolean; letGo: ((n: Node) => void) | null }) {
  const { node, letGo } = o;
  const { hub_id, state, role, version, since, last_heard } = node;
  const [asking, ask] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const name = useName(node);
  const heard = last_heard ? say('heard', { when: ago(last_heard * 1000) }) : say('unheard');
  const about = [
    o.self && say('this_hub'),
    say(role === 'hub' ? 'leads' : 'member'),
    version,
    !o.self &&
      role === 'member' &&
      (state === 'left' && since ? say('since', { when: ago(since * 1000) }) : heard),
  ];
  const go = () => {
    ask(false);
    letGo?.(node);
  };
  const keep = () => {
    ask(false);
    queueMicrotask(() => button.current?.focus());
  };
  return html`<li class="v-card" data-node=${hub_id} data-state=${state}>
    <div class="node"><div><h4>${name}</h4><p class="soft">${about.filter(Boolean).join(' · ')}</p></div>
      <span class=${`pill ${tones[state]}`}>${say(state)}</span></div>
    ${state === 'gone' && html`<p class="small">${say('is_gone')}</p>`}
    ${
      letGo &&
      (asking
        ? html`<${Sure} name=${name} still=${o.still} no=${keep} yes=${go} />`
        : html`<div class="v-row"><button type="button" class="button quiet danger" ref=${button} disabled=${o.still}
            aria-label=${say('let_go_of', { name })} onClick=${() => ask(true)}>${say('let_go')}</button></div>`)
    }
  </li>`;
}

/** @param o.nodes the hub that is asked first, as it tells them */
export function List(o: { nodes: readonly Node[]; still: boolean; letGo(n: Node): void }) {
  const leads = o.nodes[0]?.role !== 'member';
  const isMember = (n: Node, place: number) => leads && place > 0 && n.state !== 'left';
  return html`<section class="v-stack" aria-labelledby="hubs-title">
    <h3 id="hubs-title">${say('list_title')}</h3>
    <ul class="v-stack">${o.nodes.map(
      (node, place) =>
        html`<${One} key=${node.hub_id} node=${node} self=${place === 0} still=${o.still}
          letGo=${isMember(node, place) ? o.letGo : null} />`,
    )}</ul>
    ${o.nodes.length < 2 && html`<p class="soft">${glyph('info')} ${say('alone')}</p>`}
  </section>`;
}
