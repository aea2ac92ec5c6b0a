// Plans a scenario: once, every day, or on some days of the week.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { hub, type Scenario, say } from './scenarios-hub.ts';
import type { Page } from './scenarios-page.ts';
import { weekday } from './scenarios-words.ts';
import { toast } from './store.ts';

const kinds = ['once', 'daily', 'weekly'] as const;
type Kind = (typeof kinds)[number];
/** Days as cron has them, the week from Monday on. */
const week = [1, 2, 3, 4, 5, 6, 0];

/** What the hub is asked for; undefined while something is missing or over. */
function wanted(kind: Kind, at: string, time: string, days: readonly number[]): object | undefined {
  if (kind === 'once') {
    const ms = new Date(at).getTime();
    return ms > Date.now() ? { at: new Date(ms).toISOString() } : undefined;
  }
  const [, hour, minute] = /^(\d\d):(\d\d)$/.exec(time) ?? [];
  if (hour === undefined || (kind === 'weekly' && days.length === 0)) return undefined;
  const on = kind === 'daily' ? '*' : [...days].sort().join(',');
  // The clock of who plans it, wherever the hub stands.
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return { cron: `${Number(minute)} ${Number(hour)} * * ${on}`, zone };
}

export function Plan({ of: s, page }: { of: Scenario; page: Page }) {
  const [kind, setKind] = useState<Kind>('once');
  const [at, setAt] = useState('');
  const [time, setTime] = useState('08:00');
  const [days, setDays] = useState<number[]>([1, 2, 3, 4, 5]);
  const job = wanted(kind, at, time, days);
  const typed = (set: (text: string) => void) => (e: Event) => set((e.target as HTMLInputElement).value);
  const turn = (day: number) => setDays(days.includes(day) ? days.filter((d) => d !== day) : [...days, day]);
  const send = (e: Event) => {
    e.preventDefault();
    if (!job) return;
    page.order(async () => {
      await hub.plan({ scenario_id: s.id, ...job });
      toast(say('plan_done'));
    });
  };
  return html`<form onSubmit=${send} class="v-stack" data-plan>
    <div class="field"><label for="plan-kind">${say('plan_kind')}</label>
      <select class="select" id="plan-kind" value=${kind} onChange=${(e: Event) => setKind((e.target as HTMLSelectElement).value as Kind)}>
        ${kinds.map((k) => html`<option value=${k} selected=${k === kind}>${say(`plan_${k}`)}</option>`)}</select></div>
    ${
      kind === 'once'
        ? html`<div class="field"><label for="plan-at">${say('plan_at')}</label>
          <input class="input" type="datetime-local" id="plan-at" value=${at} onInput=${typed(setAt)} /></div>`
        : html`<div class="field"><label for="plan-time">${say('plan_time')}</label>
          <input class="input" type="time" id="plan-time" value=${time} onInput=${typed(setTime)} /></div>`
    }
    ${
      kind === 'weekly' &&
      week.map(
        (day) => html`<div class="setting" key=${day}><label for=${`plan-day-${day}`}>${weekday(day)}</label>
          <input type="checkbox" class="switch" role="switch" id=${`plan-day-${day}`} checked=${days.includes(day)} onChange=${() => turn(day)} /></div>`,
      )
    }
    <div><button type="submit" class="button second" id="plan-do" disabled=${page.still || !job}>${say('plan_do')}</button></div>
  </form>`;
}
