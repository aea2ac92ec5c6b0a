// The versions of a scenario: which is used, what another one would make of people's settings, the way there and back.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { toIngleError } from '../firmware/protocol/errors.ts';
import { translator } from '../firmware/text/i18n.ts';
import { spaVersionsTexts } from '../firmware/text/spa-versions.ts';
import { useGate } from './gate.ts';
import { glyph } from './glyphs.ts';
import { ask } from './question.ts';
import { hub, type Scenario, type Version } from './scenarios-hub.ts';
import { useLive } from './scenarios-live.ts';
import type { Page } from './scenarios-page.ts';
import { problemOf } from './scenarios-told.ts';
import { timeOf, words } from './scenarios-words.ts';
import { app, toast } from './store.ts';
import { errorText, t } from './text.ts';

const say = (key: keyof (typeof spaVersionsTexts)['en'], values?: Record<string, string>) =>
  translator(spaVersionsTexts, app().language)(key, values);

/** What a version would make of what people changed; nothing where all of it stays. */
function Changes({ of: v, isRepaired }: { of: Version; isRepaired: boolean }) {
  const lines = v.changes.flatMap(({ user, name, problems }) =>
    problems.flatMap((p) => {
      const who = name ?? say(user === 'house' ? 'everybody' : 'you');
      const about = p.pointer.split('/').pop();
      return p.repaired === isRepaired ? [html`<li>${who}: <b>${about}</b> ${problemOf(p)}</li>`] : [];
    }),
  );
  if (lines.length === 0) return null;
  return html`<span>${say(isRepaired ? 'repaired' : 'unfit', { version: v.version })}</span><ul class="plain">${lines}</ul>`;
}

function fromOf(v: Version): string {
  if (v.installed_at === 0) return say('of_image');
  const when = say('installed', { when: timeOf(v.installed_at) });
  return v.publisher === '' ? `${when}, ${say('unsigned')}` : when;
}

export function Versions({ of: s, page }: { of: Scenario; page: Page; title: string }) {
  const name = words(s.name);
  const [versions, show] = useState<Version[]>([]);
  /** The version of which is told what it would change. */
  const [weighed, weigh] = useState('');
  /** The one that was used before. */
  const [before, setBefore] = useState('');
  const [trouble, setTrouble] = useState('');
  const gate = useGate(name);
  const { again, error } = useLive(
    `versions ${s.id} ${s.version}`,
    async () => show(await hub.versions(s.id)),
    false,
  );
  const use = (version: string) =>
    page.order(async () => {
      await hub.use(s.id, version);
      setBefore(s.version);
      weigh('');
    });
  /** Nothing is set aside before somebody has read what. */
  const start = (version: string) =>
    versions.find((v) => v.version === version)?.changes.length ? weigh(version) : use(version);
  const remove = async () => {
    const text = say(versions.some((v) => v.installed_at === 0) ? 'remove_image' : 'remove_all');
    if (!(await ask({ title: say('remove_title', { name }), text, yes: say('remove_do') }))) return;
    setTrouble('');
    try {
      await gate.ask(() => hub.uninstall(s.id));
      setBefore('');
      toast(say('removed', { name }));
    } catch (e) {
      setTrouble(errorText(toIngleError(e).code));
    }
    page.again();
    void again();
  };
  const rows = versions.map((v) => {
    const isOpen = weighed === v.version;
    return html`<li key=${v.version} data-version=${v.version}><span><b>${v.version}</b> <span class="soft small">${v.used ? `${say('used')} · ` : ''}${fromOf(v)}</span></span>
      ${
        !v.used &&
        html`<button type="button" class="button quiet" id=${`use-${v.version}`} disabled=${page.still} aria-label=${say('use_of', { version: v.version })}
        aria-expanded=${v.changes.length > 0 ? String(isOpen) : undefined} onClick=${() => (isOpen ? weigh('') : start(v.version))}>${say('use')}</button>`
      }</li>
      ${
        isOpen &&
        !v.used &&
        html`<li key="would" data-would><div class="note warn" role="status">${glyph('info')}<div class="v-stack tight">
          <${Changes} of=${v} isRepaired=${false} /><${Changes} of=${v} isRepaired=${true} /><span class="soft small">${say('undo_hint')}</span>
          <div class="v-row"><button type="button" class="button second" id="use-anyway" disabled=${page.still} onClick=${() => use(v.version)}>${say('use_anyway')}</button>
            <button type="button" class="button quiet" onClick=${() => weigh('')}>${say('leave')}</button></div></div></div></li>`
      }`;
  });
  const bad = trouble || (error ? errorText(error.code) : '');
  return html`<section class="v-card" aria-labelledby="versions"><h3 id="versions">${say('title')}</h3>
    ${versions.length > 1 && html`<p class="soft small">${say('lead')}</p>`}
    <div role="status">${
      before !== '' &&
      before !== s.version &&
      html`<div class="note ok">${glyph('check')}<div class="v-stack tight"><span>${say('using', { version: s.version })}</span>
        <div><button type="button" class="button second" id="use-back" disabled=${page.still} onClick=${() => start(before)}>${say('back', { version: before })}</button></div></div></div>`
    }</div>
    <ul class="rows">${rows}</ul>
    ${gate.question}
    ${
      bad !== '' &&
      html`<div class="note bad" role="alert">${glyph('info')}<div class="v-stack tight"><span>${bad}</span>
        <div><button type="button" class="button second" onClick=${() => void again()}>${t('retry')}</button></div></div></div>`
    }
    ${
      versions.some((v) => v.installed_at > 0) &&
      html`<div><button type="button" class="button quiet danger" disabled=${page.still} onClick=${remove}>${glyph('trash')}${say('remove')}</button></div>`
    }
  </section>`;
}
