// What begins by itself in the next seven days, day by day, in the time of who looks.
import { html } from 'htm/preact';
import { glyph } from './glyphs.ts';
import { faceOf } from './scenarios-face.ts';
import { type Job, say } from './scenarios-hub.ts';
import type { Page } from './scenarios-page.ts';
import { clockOf, dayOf, lengthOf, nameOf } from './scenarios-words.ts';

/** Jobs that begin so often in a week are told once. */
const OFTEN = 50;

interface At {
  at: number;
  job: Job;
}

/** Midnight of a day here. */
const midnight = (at: number) => new Date(at).setHours(0, 0, 0, 0);

/** By day, in order; days on which nothing begins are there too. */
export function byDay(jobs: readonly Job[], now: number): [day: number, all: At[]][] {
  const all = jobs.flatMap((job) => job.times.map((at) => ({ at, job }))).sort((a, b) => a.at - b.at);
  return Array.from({ length: 7 }, (_, i) => {
    const day = new Date(now);
    day.setHours(0, 0, 0, 0);
    day.setDate(day.getDate() + i);
    return [day.getTime(), all.filter((x) => midnight(x.at) === day.getTime())];
  });
}

export function Week({ page }: { page: Page }) {
  const jobs = page.known.jobs.filter((j) => j.enabled && j.times.length > 0);
  const often = jobs.filter((j) => j.times.length >= OFTEN);
  const days = byDay(
    jobs.filter((j) => !often.includes(j)),
    Date.now(),
  );
  const { scenarios } = page.known;
  const iconOf = (id: string) => scenarios.find((s) => s.id === id)?.icon;
  const way = (j: Job, key: string, when: string) =>
    html`<li key=${key}><button type="button" class="way" id=${`week-${key}`} onClick=${() => page.go({ at: 'one', id: j.scenario_id })}>${faceOf(iconOf(j.scenario_id))}
      <span><b>${nameOf(scenarios, j.scenario_id)}</b><span class="soft small">${when}</span></span>${glyph('right')}</button></li>`;
  if (jobs.length === 0)
    return html`<div class="v-empty"><div class="face">${glyph('play')}</div><h3>${say('week_none')}</h3><p>${say('week_none_lead')}</p>
      <button type="button" class="button second" onClick=${() => page.go({ at: 'list' })}>${say('tab_list')}</button></div>`;
  return html`<p class="soft">${say('week_lead')}</p>
    ${
      often.length > 0 &&
      html`<section class="v-card" aria-labelledby="often"><h3 id="often">${say('often')}</h3><ul class="rows">${often.map(
        (j) =>
          way(
            j,
            `often-${j.job_id}`,
            say('often_every', { time: lengthOf(j.times[1]! - j.times[0]!), next: clockOf(j.times[0]!) }),
          ),
      )}</ul></section>`
    }
    ${days.map(
      ([
        day,
        all,
      ]) => html`<section class="v-card" key=${day} aria-labelledby=${`day-${day}`} data-day=${new Date(day).getDay()}><h3 id=${`day-${day}`}>${dayOf(day)}</h3>
        ${all.length === 0 ? html`<p class="soft">${say('day_none')}</p>` : html`<ul class="rows">${all.map(({ at, job }) => way(job, `${at}-${job.job_id}`, clockOf(at)))}</ul>`}</section>`,
    )}`;
}
