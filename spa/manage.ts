// The page of installed skills: a package goes to the hub, is looked at, tried, taken back or removed.
import { html } from 'htm/preact';
import { useRef, useState } from 'preact/hooks';
import { useAsked } from './asked.ts';
import { failed } from './entrance.ts';
import { useFocusInside } from './focus.ts';
import { glyph } from './glyphs.ts';
import { hub, type Installed, isMoving, type Listed } from './manage-hub.ts';
import { List } from './manage-list.ts';
import { Review } from './manage-review.ts';
import { say, stateText } from './manage-text.ts';
import { Upload } from './manage-upload.ts';
import { Bones } from './open.ts';
import { ask } from './question.ts';
import { toast } from './store.ts';
import { t, titleOf } from './text.ts';

interface Looked {
  skill_id: string;
  version: string;
}

export function Manage() {
  const [listed, setListed] = useState<Listed | null>(null);
  const [looked, look] = useState<Looked | null>(null);
  const watched = useRef<Looked | null>(null);
  const box = useFocusInside();

  const show = (next: Listed) => {
    setListed(next);
    const w = watched.current;
    const now = w && next.skills.find((s) => s.skill_id === w.skill_id);
    if (!w || (now && isMoving(now))) return;
    watched.current = null;
    if (now?.version === w.version) toast(say('installed', { title: titleOf(now), version: w.version }));
  };
  const soon = listed?.skills.some(isMoving) ?? false;
  const { gate, away, still, load, order } = useAsked({ title: t('manage'), list: hub.list, show, soon });

  if (!listed) return gate.question || html`<${Bones} title=${t('manage')} />`;
  const follow = (skill_id: string, version: string, work: () => Promise<unknown>) =>
    order(async () => {
      await work();
      watched.current = { skill_id, version };
    });
  const skill = looked && listed.skills.find((s) => s.skill_id === looked.skill_id);
  const kept = skill?.prepared.find((p) => p.version === looked?.version);
  const orders = {
    still,
    look: (s: Installed, version: string) => look({ skill_id: s.skill_id, version }),
    log: (s: Installed) => gate.ask(() => hub.log(s.skill_id)),
    rollback: (s: Installed) => follow(s.skill_id, s.previous!, () => hub.rollback(s.skill_id)),
    async remove(s: Installed) {
      const title = titleOf(s);
      const question = {
        title: say('remove_of', { title }),
        text: say('remove_sure', { title }),
        yes: say('remove'),
      };
      if (await ask(question))
        order(async () => {
          await hub.remove(s.skill_id);
          toast(say('removed', { title: titleOf(s) }));
        });
    },
  };
  // What was begun here, a chosen file too, stays behind the question.
  return html`${gate.question}<div class="v-stack manage" ref=${box} hidden=${gate.shut}>
    <p class="soft">${say('lead')}</p>
    ${away && html`<div class="note warn" role="status">${glyph('offline')}<span>${say('offline')}</span></div>`}
    ${listed.developer && html`<div class="note warn">${glyph('alarm')}<span>${say('developer')}</span></div>`}
    ${listed.sandbox && listed.sandbox !== 'there' && html`<div class="note warn" data-sandbox=${listed.sandbox}>${glyph('alarm')}<span>${stateText(listed.developer ? 'sandbox_open' : `sandbox_${listed.sandbox}`)}</span></div>`}
    <${Upload} still=${still} ask=${gate.ask} taken=${(next: Looked) => {
      look(next);
      void load().catch(failed);
    }} />
    ${
      skill &&
      kept &&
      !isMoving(skill) &&
      html`<${Review} skill=${skill} kept=${kept} still=${still} close=${() => look(null)}
      install=${() => {
        look(null);
        follow(skill.skill_id, kept.version, () => hub.activate(skill.skill_id, kept.version));
      }}
      trust=${(key: string, name: string) => order(() => hub.trust(key, name, skill.skill_id))}
      discard=${() =>
        order(async () => {
          await hub.discard(skill.skill_id, kept.version);
          look(null);
          toast(say('discarded', { title: titleOf(skill), version: kept.version }));
        })} />`
    }
    <${List} skills=${listed.skills} orders=${orders} />
  </div>`;
}
