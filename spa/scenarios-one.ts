// One scenario: what it is set to, whose skills it uses, what it would do, what it did.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { glyph } from './glyphs.ts';
import { Bones } from './open.ts';
import { ask } from './question.ts';
import { faceOf } from './scenarios-face.ts';
import {
  type Action,
  type Changed,
  hub,
  isHousehold,
  isManager,
  isOwner,
  type Rehearsed,
  type Scenario,
  say,
} from './scenarios-hub.ts';
import { isSwitched, RunNow, Switch, Wants } from './scenarios-list.ts';
import { useLive } from './scenarios-live.ts';
import type { Page } from './scenarios-page.ts';
import { Plan } from './scenarios-plan.ts';
import { RunRow } from './scenarios-run.ts';
import { InOut, Params, Sealed, Slots, Steps } from './scenarios-settings.ts';
import { doesOf } from './scenarios-told.ts';
import { Versions } from './scenarios-versions.ts';
import { mayRun, nextOf, startsOf, timeOf, words } from './scenarios-words.ts';
import { app, toast } from './store.ts';
import { errorText, t } from './text.ts';

/** What it would do, step by step, once somebody asks. */
function Rehearsal({ of: s, page }: { of: Scenario; page: Page }) {
  const [steps, setSteps] = useState<Rehearsed[] | null>(null);
  const look = () => page.order(async () => setSteps(await hub.rehearse(s.id)));
  return html`<section class="v-card" aria-labelledby="would"><h3 id="would">${say('would')}</h3>
    <p class="soft small">${say('would_lead')}</p>
    ${
      s.unbound.length > 0
        ? html`<p>${say('would_unbound')}</p>`
        : html`<div><button type="button" class="button second" disabled=${page.still} onClick=${look}>${say(steps ? 'would_again' : 'would_do_it')}</button></div>`
    }
    <div aria-live="polite">${steps && html`<ol class="would">${steps.map((r, i) => html`<li key=${i} data-does=${r.does}>${doesOf(r, s)}</li>`)}</ol>`}</div>
  </section>`;
}

/** What its author says of it: the readme, of which a heading, paragraphs, bullets and bold words are understood. */
function Readme({ of }: { of: Changed }) {
  const all = of.readmes ?? { en: of.readme };
  const language = app().language in all ? app().language : 'en';
  const text = all[language]!;
  const bold = (line: string) =>
    line.split(/\*\*(.+?)\*\*/).map((part, i) => (i % 2 ? html`<b>${part}</b>` : part.replace(/`/g, '')));
  const lines = text.split(/\r?\n/).filter((l) => l.trim() !== '' && !/^#/.test(l));
  const bullets = lines.filter((l) => /^\s*[-*] /.test(l));
  const others = lines.filter((l) => !/^\s*[-*] /.test(l));
  if (lines.length === 0) return null;
  return html`<section class="v-card" aria-labelledby="readme"><h3 id="readme">${say('readme')}</h3>
    ${others.map((l) => html`<p lang=${language}>${bold(l)}</p>`)}
    ${bullets.length > 0 && html`<ul class="plain" lang=${language}>${bullets.map((l) => html`<li>${bold(l.replace(/^\s*[-*] /, ''))}</li>`)}</ul>`}</section>`;
}

/** Times somebody has planned, each of which can be taken back. */
function Planned({ of: s, page }: { of: Scenario; page: Page }) {
  const jobs = page.known.jobs.filter((j) => j.scenario_id === s.id && !j.job_id.startsWith('trigger.'));
  const mayPlan = isHousehold() && s.unbound.length === 0;
  if (jobs.length === 0 && !mayPlan) return null;
  const take = async (job_id: string, when: string) => {
    if (await ask({ title: say('unplan'), text: say('unplan_sure', { when }), yes: say('unplan') }))
      page.order(async () => {
        await hub.unplan(job_id);
        toast(say('unplanned'));
      });
  };
  return html`<section class="v-card" aria-labelledby="planned"><h3 id="planned">${say('planned')}</h3>
    <ul class="rows">${jobs.map((j) => {
      const when = j.next_at ? timeOf(j.next_at) : say('next_none');
      return html`<li key=${j.job_id}><span>${when}</span><button type="button" class="button quiet" disabled=${page.still}
        aria-label=${`${say('unplan')}: ${when}`} onClick=${() => take(j.job_id, when)}>${say('unplan')}</button></li>`;
    })}</ul>
    ${mayPlan && html`<${Plan} of=${s} page=${page} />`}</section>`;
}

function Runs({ of: s, page }: { of: Scenario; page: Page }) {
  const runs = page.known.runs.filter((r) => r.scenario_id === s.id).slice(0, 10);
  return html`<section class="v-card" aria-labelledby="recent"><h3 id="recent">${say('recent')}</h3>
    ${
      runs.length === 0
        ? html`<p class="soft">${say('recent_none')}</p>`
        : html`<ul class="rows">${runs.map((r) => html`<${RunRow} key=${r.run_id} run=${r} page=${page} isHere=${true} />`)}</ul>`
    }</section>`;
}

export function One({ id, page }: { id: string; page: Page }) {
  const [now, setNow] = useState<Changed | null>(null);
  const [actions, setActions] = useState<Action[]>([]);
  const s = page.known.scenarios.find((x) => x.id === id);
  const load = async () => {
    if (!isHousehold()) return;
    const [changed, offered] = await Promise.all([hub.changed(id), hub.actions()]);
    setNow(changed);
    setActions(offered);
  };
  const { again, error } = useLive(`one ${id} ${s?.version}`, load, false);
  if (!s)
    return html`<div class="v-empty"><h3 id="scenarios-head" tabindex="-1">${say('gone')}</h3><p>${say('gone_lead')}</p>
      <button type="button" class="button second" onClick=${() => page.go({ at: 'list' })}>${say('tab_list')}</button></div>`;
  /** Sends a change over what was looked at, and shows what came of it. */
  const change = (what: object, refused = say('bad_value')) =>
    page.order(
      async () => {
        setNow(await hub.change(id, { ...what, rev: now!.rev }));
        toast(say('saved', { name: words(s.name) }));
      },
      (code) =>
        code === 'conflict'
          ? { text: say('changed_meanwhile'), way: { text: say('look_again'), go: () => void again() } }
          : code === 'invalid_request'
            ? { text: refused }
            : undefined,
    );
  const next = nextOf(page.known.jobs, id);
  const starts = startsOf(s);
  return html`<div class="scene">${faceOf(s.icon)}<div><h3 id="scenarios-head" tabindex="-1">${words(s.name)}</h3><p>${words(s.doc)}</p></div></div>
    <${Wants} of=${s} page=${page} isHere=${true} />
    <div class="v-row"><${RunNow} of=${s} page=${page} /></div>
    <section class="v-card" aria-labelledby="when"><h3 id="when">${say('starts')}</h3>
      ${
        isSwitched(s) &&
        html`<div class="setting"><label for=${`on-${id}`}>${say('switch')}</label><${Switch} of=${s} page=${page} /></div>`
      }
      <ul class="plain">${(starts.length > 0 ? starts : [say('by_hand')]).map((line) => html`<li>${line}</li>`)}</ul>
      ${isHousehold() && html`<p>${say('next')}: <b>${next ? timeOf(next) : s.enabled ? say('next_none') : say('is_off')}</b></p>`}
      <p class="soft small">${say('may_run')}: ${mayRun(s)} · ${say(s.multiUser ? 'for_each' : 'for_house')} · ${say('version', { version: s.version })}</p>
    </section>
    ${
      isHousehold() &&
      (now
        ? html`<${Slots} of=${s} now=${now} actions=${actions} page=${page} change=${change} />
          <${Sealed} key=${now.rev} of=${s} now=${now} still=${page.still} change=${change} />
          <${Params} key=${`params ${now.rev}`} of=${s} now=${now} still=${page.still} change=${change} />
          <${InOut} key=${`io ${now.rev}`} of=${s} now=${now} still=${page.still} change=${change} />
          <${Steps} of=${s} now=${now} still=${page.still} change=${change} />`
        : error
          ? html`<div class="note bad" role="alert">${glyph('info')}<div class="v-stack tight"><span>${errorText(error.code)}</span>
            <div><button type="button" class="button second" onClick=${() => void again()}>${t('retry')}</button></div></div></div>`
          : html`<${Bones} title=${words(s.name)} />`)
    }
    <${Planned} of=${s} page=${page} />
    <${Rehearsal} of=${s} page=${page} />
    <${Runs} of=${s} page=${page} />
    ${isOwner() && html`<${Versions} key=${id} of=${s} page=${page} title=${words(s.name)} />`}
    ${now && html`<${Readme} of=${now} />`}
    ${!isManager() && !s.multiUser && isHousehold() && html`<p class="soft small">${say('house_note')}</p>`}`;
}
