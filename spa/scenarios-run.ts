// What ran: the newest first, and one run as a line of time, with what can be done about it.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { glyph } from './glyphs.ts';
import { Bones } from './open.ts';
import { faceOf } from './scenarios-face.ts';
import { hub, isHousehold, type Line, type Run, type Scenario, type Step, say } from './scenarios-hub.ts';
import { useLive } from './scenarios-live.ts';
import type { Page } from './scenarios-page.ts';
import { beganBy, helpOf, isOver, standsOf, stepName, toldOf, waitsOf, whyOf } from './scenarios-told.ts';
import { lengthOf, nameOf, secondsOf, timeOf } from './scenarios-words.ts';
import { errorText, t } from './text.ts';

const toneOf = (r: Run) =>
  r.state === 'DONE'
    ? 'ok'
    : r.state === 'FAILED' || r.state === 'TIMEOUT'
      ? 'bad'
      : isOver(r)
        ? 'plain'
        : 'warn';

export function RunRow({ run, page, isHere = false }: { run: Run; page: Page; isHere?: boolean }) {
  const name = nameOf(page.known.scenarios, run.scenario_id);
  const when = timeOf(run.started_at);
  return html`<li data-run=${run.run_id} data-state=${run.state}><button type="button" class="way" id=${`go-${run.run_id}`} onClick=${() => page.go({ at: 'run', id: run.run_id })}>
    <span><b>${isHere ? when : name}</b><span class="soft small">${isHere ? beganBy(run.origin) : `${when} · ${beganBy(run.origin)}`}</span></span>
    <span class=${`pill ${toneOf(run)} stands`}>${standsOf(run)}</span>${glyph('right')}</button></li>`;
}

export function Runs({ page }: { page: Page }) {
  const { runs } = page.known;
  if (runs.length === 0)
    return html`<div class="v-empty"><div class="face">${glyph('play')}</div><h3>${say('runs_none')}</h3><p>${say('runs_none_lead')}</p></div>`;
  return html`<ul class="rows">${runs.map((r) => html`<${RunRow} key=${r.run_id} run=${r} page=${page} />`)}</ul>`;
}

/** Why it failed, and the next step. */
function Failed({ run, page, steps }: { run: Run; page: Page; steps: Step[] }) {
  const { error } = run;
  const letter = page.known.letters.find((l) => l.run_id === run.run_id);
  const s = page.known.scenarios.find((x) => x.id === run.scenario_id);
  if (!error || run.state === 'CANCELED') return null;
  const button = (
    key: 'replay_start' | 'replay_step' | 'run_now' | 'settings_open' | 'watch_replay',
    kind: string,
    go: () => void,
  ) =>
    html`<button type="button" class=${`button ${kind}`} id=${`${key}-${run.run_id}`} disabled=${key.startsWith('re') && page.still} onClick=${go}>${say(key)}</button>`;
  return html`<div class="note bad">${glyph('info')}<div class="v-stack tight">
    <b>${error.step ? say('failed_in', { step: stepName(error.step, steps, s) }) : say('failed')}</b>
    <span>${whyOf(error)}</span><span>${helpOf(error)}</span>
    <div class="v-row">
      ${letter?.replayed_by && button('watch_replay', 'second', () => page.go({ at: 'run', id: letter.replayed_by! }))}
      ${letter && !letter.replayed_by && letter.from_step && button('replay_step', 'second', () => page.replay(letter.id, 'step'))}
      ${letter && !letter.replayed_by && button('replay_start', 'second', () => page.replay(letter.id, 'start'))}
      ${!letter && s && s.unbound.length === 0 && button('run_now', 'second', () => page.start(s.id))}
      ${s && isHousehold() && button('settings_open', 'quiet', () => page.go({ at: 'one', id: s.id }))}
    </div></div></div>`;
}

/** Orders that a run in this state takes. */
function Orders({ run, page, again }: { run: Run; page: Page; again(): Promise<void> }) {
  const takes = {
    running: ['pause', 'stop'],
    paused: ['resume', 'stop'],
    ...{ stopping: [], stopped: [], failed: [] },
  } as const;
  const send = (what: 'pause' | 'resume' | 'stop') => () =>
    page.order(
      async () => {
        await hub.order(run.run_id, what);
        await again();
      },
      (code) => (code === 'conflict' ? { text: say('over_already') } : undefined),
    );
  const all = takes[run.instance];
  if (all.length === 0) return null;
  return html`<div><div class="v-row">${all.map(
    (what) =>
      html`<button type="button" key=${what} class="button second" disabled=${page.still} onClick=${send(what)}>${say(what)}</button>`,
  )}</div><p class="soft small">${say('stop_hint')}</p></div>`;
}

const marks = { ok: 'check', bad: 'close', warn: 'info', plain: 'dots' } as const;

function Timeline({ lines, steps, of }: { lines: Line[]; steps: Step[]; of: Scenario | undefined }) {
  const told = lines.flatMap((l) => {
    const what = toldOf(l, steps, of);
    return what ? [{ ...what, n: l.n, at: l.at }] : [];
  });
  if (told.length === 0) return html`<p class="soft">${say('timeline_none')}</p>`;
  return html`<ol class="timeline">${told.map(
    ({
      n,
      at,
      tone,
      text,
    }) => html`<li key=${n} data-tone=${tone}><span class="mark">${glyph(marks[tone])}</span>
      <span>${text}</span><time datetime=${new Date(at).toISOString()} class="soft small">${secondsOf(at)}</time></li>`,
  )}</ol>`;
}

export function OneRun({ id, page }: { id: string; page: Page }) {
  const [got, setGot] = useState<Got | null>(null);
  const [steps, setSteps] = useState<Step[]>([]);
  const load = async () => {
    const now = await hub.run(id);
    setGot(now);
    // The words of its steps are those of the scenario as it is set for who looks.
    if (steps.length === 0 && isHousehold())
      await hub.changed(now.run.scenario_id).then(
        (c) => setSteps(c.effective.steps),
        () => {},
      );
  };
  const { again, error } = useLive(`run ${id}`, load, !got || !isOver(got.run));
  const run = got?.run ?? page.known.runs.find((r) => r.run_id === id);
  const s = run && page.known.scenarios.find((x) => x.id === run.scenario_id);
  const took = run?.finished_at ? run.finished_at - run.started_at : null;
  const missing = !got && error;
  const title = run
    ? nameOf(page.known.scenarios, run.scenario_id)
    : say(missing ? (error.code === 'not_found' ? 'run_gone' : 'run_unread') : 'run');
  // The head stays the same element whatever comes: it has the focus.
  return html`<div class="scene">${faceOf(s?.icon)}<div><h3 id="scenarios-head" tabindex="-1">${title}</h3>
      ${run && html`<p class="soft small">${timeOf(run.started_at)} · ${beganBy(run.origin)}${took !== null && ` · ${say('took', { time: lengthOf(took) })}`}</p>`}</div>
      ${run && html`<span class=${`pill ${toneOf(run)} stands`} role="status" data-stands=${run.state}>${standsOf(run)}</span>`}</div>
    ${
      missing
        ? html`<p>${errorText(error.code)}</p><div class="v-row"><button type="button" class="button second" onClick=${() => void again()}>${t('retry')}</button>
          <button type="button" class="button quiet" onClick=${() => page.go({ at: 'runs' })}>${say('tab_runs')}</button></div>`
        : got
          ? html`<${Body} got=${got} steps=${steps} page=${page} again=${again} />`
          : html`<${Bones} title=${say('run')} />`
    }`;
}

interface Got {
  run: Run;
  journal: Line[];
}

function Body({ got, steps, page, again }: { got: Got; steps: Step[]; page: Page; again(): Promise<void> }) {
  const { run, journal } = got;
  const s = page.known.scenarios.find((x) => x.id === run.scenario_id);
  const waits = waitsOf(run, page.known);
  // A person can say that it has: a medicine is taken, and no device tells of that.
  const isOutside = run.waits?.for === 'event' && run.waits.topic?.startsWith('external.');
  const happened = () =>
    page.order(
      async () => {
        await hub.order(run.run_id, 'happened');
        await again();
      },
      (code) => (code === 'conflict' ? { text: say('over_already') } : undefined),
    );
  return html`
    ${
      waits &&
      html`<div class="note">${glyph('info')}<div class="v-stack tight"><span>${waits}</span>
        ${isOutside && html`<div><button type="button" class="button second" id=${`happened-${run.run_id}`} disabled=${page.still} onClick=${happened}>${say('happened')}</button></div>`}</div></div>`
    }
    <${Failed} run=${run} page=${page} steps=${steps} />
    <${Orders} run=${run} page=${page} again=${again} />
    <section class="v-card" aria-labelledby="timeline"><h4 id="timeline">${say('timeline')}</h4>
      <${Timeline} lines=${journal} steps=${steps} of=${s} />
      ${!isOver(run) && run.instance === 'running' && !waits && run.current_step && html`<p class="soft"><span class="spin"></span> ${say('now_at', { step: stepName(run.current_step, steps, s) })}</p>`}
    </section>
    ${
      s &&
      isOver(run) &&
      s.unbound.length === 0 &&
      run.state !== 'FAILED' &&
      run.state !== 'TIMEOUT' &&
      html`<div class="v-row"><button type="button" class="button second" disabled=${page.still} onClick=${() => page.start(s.id)}>${glyph('play')}${say('run_again')}</button>
        <button type="button" class="button quiet" id=${`of-${run.run_id}`} onClick=${() => page.go({ at: 'one', id: s.id })}>${say(isHousehold() ? 'settings_open' : 'open')}</button></div>`
    }`;
}
