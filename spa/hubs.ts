// The page of hubs: the owner sees who belongs to this home's subnet, invites a further hub, lets one go, and has this
// one join another home or leave it.
import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAsked } from './asked.ts';
import { useFocusInside } from './focus.ts';
import { glyph } from './glyphs.ts';
import { comer } from './hubs-comer.ts';
import { type Act, type Code, hub, type Node, nameOf, type Stage, say, troubleText } from './hubs-hub.ts';
import { Join, Leave } from './hubs-join.ts';
import { List } from './hubs-list.ts';
import { clock, Invited } from './invitation.ts';
import { Bones } from './open.ts';
import { toast } from './store.ts';
import { t } from './text.ts';

interface Expected {
  code: Code;
  /** Who belonged to the subnet when it was made. */
  then: readonly Node[];
}

const steps = ['wait', 'in', 'here'] as const;

/** The code, how long it is good, and how far the other hub has come. */
function Waiting({ code, came, close }: { code: Code; came: Node | undefined; close(): void }) {
  const left = () => code.expires_at * 1000 - Date.now();
  const [over, end] = useState(left() <= 0);
  useEffect(() => {
    end(left() <= 0);
    const timer = setTimeout(() => end(true), left());
    return () => clearTimeout(timer);
  }, [code]);
  // As one word of the shell.
  const command = `ingle subnet join ${code.code.replace(' ', '-')}`;
  const now = came ? 1 : 0;
  return html`<${Invited} id="hub" title=${say('code_title')} copies=${command} close=${close}
    words=${{ copy: say('copy'), copied: say('copied'), done: say('done') }}>
    ${
      over && !came
        ? html`<div class="note warn" role="status">${glyph('info')}<span>${say('over')}</span></div>`
        : html`<p>${say('code_lead')}</p>
          <p><code class="command" data-code>${command}</code></p>
          <p>${say('code_app')}<br /><strong class="code" data-digits>${code.code}</strong></p>
          <p class="small soft">${say('code_link')}<br /><span class="link">${code.link}</span></p>
          <p class="soft small">${say('code_until', { time: clock(code.expires_at) })}</p>
          <ol class="steps" aria-live="polite">${steps.map(
            (
              step,
              i,
            ) => html`<li data-is=${i < now ? 'done' : i === now ? 'now' : 'next'} aria-current=${i === now ? 'step' : undefined}>
            <span class="dot">${i < now && glyph('check')}</span>${say(`step_${step}`)}</li>`,
          )}</ol>`
    }
  <//>`;
}

export function Hubs() {
  const [nodes, setNodes] = useState<Node[] | null>(null);
  const [stage, setStage] = useState<Stage | null>(null);
  const [atHome, setAtHome] = useState(true);
  const [awaited, wait] = useState<Expected | null>(null);
  const [trouble, setTrouble] = useState('');
  const box = useFocusInside(trouble);
  const show = ({ nodes: next, stage: at, at_home }: Awaited<ReturnType<typeof hub.list>>) => {
    setNodes(next);
    // A hub that is older tells members by their role only.
    setStage(at ?? (next[0]?.role === 'member' ? 'in' : null));
    setAtHome(at_home ?? at === 'joining');
    wait((a) => {
      const came = a && comer(next, a.then);
      if (came?.state !== 'here') return a;
      toast(say('came', { name: nameOf(came) }));
      return null;
    });
  };
  const doing = useRef<Act>('invite');
  const asked = useAsked({
    ...{ title: t('hubs'), list: hub.list, show, soon: awaited !== null },
    trouble: (e) => setTrouble(troubleText(e, doing.current)),
  });
  const { gate, still } = asked;
  const order = (act: Act) => (work: () => Promise<unknown>) => {
    doing.current = act;
    setTrouble('');
    asked.order(work);
  };

  if (!nodes) return gate.question || html`<${Bones} title=${t('hubs')} />`;
  const invite = () =>
    order('invite')(async () => {
      const then = (await hub.list()).nodes;
      wait({ code: await hub.invite(), then });
    });
  const letGo = (n: Node) =>
    order('let_go')(async () => {
      await hub.letGo(n.hub_id);
      toast(say('went', { name: nameOf(n) }));
    });
  const isAlone = nodes.every((n, place) => place === 0 || n.state === 'left');
  return html`${gate.question}<div class="v-stack manage" ref=${box} hidden=${gate.shut}>
    <p class="soft">${say('lead')}</p>
    ${asked.away && html`<div class="note warn" role="status">${glyph('offline')}<span>${say('offline')}</span></div>`}
    ${trouble && html`<div class="note bad" role="alert">${glyph('info')}<span>${trouble}</span></div>`}
    ${awaited && html`<${Waiting} code=${awaited.code} came=${comer(nodes, awaited.then)} close=${() => wait(null)} />`}
    <${List} nodes=${nodes} still=${still} letGo=${letGo} />
    ${
      stage
        ? html`<p class="soft" role="status">${glyph('info')} ${say(`stage_${stage}`)}</p>
          <${Leave} still=${still} order=${order('leave')} isAtHome=${atHome} />`
        : html`<section class="v-stack" aria-labelledby="invite-title"><h3 id="invite-title">${say('invite_title')}</h3>
          <p class="soft">${say('invite_lead')}</p>
          <div class="v-row"><button type="button" class="button" disabled=${still} onClick=${invite}>${say('invite')}</button></div></section>
          ${isAlone && html`<${Join} still=${still} order=${order('join')} />`}`
    }
  </div>`;
}
