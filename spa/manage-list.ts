// The installed skills, each with its state and what can be done with it.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { failed } from './entrance.ts';
import { glyph } from './glyphs.ts';
import { type Installed, isMoving, type LogLines, offered } from './manage-hub.ts';
import { say, stateText } from './manage-text.ts';
import { app } from './store.ts';
import { titleOf } from './text.ts';

export interface Orders {
  /** Nothing can be asked of the hub now. */
  still: boolean;
  look(s: Installed, version: string): void;
  rollback(s: Installed): void;
  remove(s: Installed): void;
  /** @throws IngleError what the hub answered */
  log(s: Installed): Promise<LogLines>;
}

const timeOf = (at: number | null) =>
  at === null ? '' : new Intl.DateTimeFormat(app().language, { timeStyle: 'medium' }).format(at * 1000);

function Lines({ title, lines }: { title: string; lines: LogLines }) {
  if (lines.length === 0) return html`<p class="soft">${say('log_none')}</p>`;
  // It scrolls by itself, so keys have to reach it.
  return html`<ol class="small log" tabindex="0" aria-label=${say('log_of', { title })}>
    ${lines.map(({ at, level, text }, i) => html`<li key=${i} data-level=${level}><span class="soft">${timeOf(at)}</span> ${text}</li>`)}
  </ol>`;
}

function Moving({ skill }: { skill: Installed }) {
  const words =
    skill.state === 'trial'
      ? say('trying', { version: skill.trying ?? '' })
      : say(skill.state === 'returning' ? 'returning' : 'removing');
  return html`<div class="note" role="status"><span class="spin"></span><span>${words}</span></div>`;
}

function Fault({ skill }: { skill: Installed }) {
  const { version, reason, message } = skill.fault!;
  return html`<div class="note bad" role="alert">${glyph('info')}<span>
    ${say('fault', { version, reason: stateText(`reason_${reason}`) })}
    ${skill.version && ` ${say('fault_back', { version: skill.version })}`}
    <br /><span class="small">${say('fault_said', { message })}</span></span></div>`;
}

function One({ skill, orders }: { skill: Installed; orders: Orders }) {
  const title = titleOf(skill);
  const [lines, tell] = useState<LogLines | null>(null);
  const log = () => (lines ? tell(null) : orders.log(skill).then(tell, failed));
  const moving = isMoving(skill);
  const off = orders.still || moving;
  const who = skill.publisher ? (skill.publisher.name ?? skill.publisher.id) : null;
  const about = [
    skill.version && say('version', { version: skill.version }),
    stateText(`state_${skill.state}`),
    who,
    skill.off ? stateText(`off_${skill.off}`) : skill.state === 'active' && !skill.available && say('away'),
  ];
  return html`<li class="v-card" data-installed=${skill.skill_id} data-state=${skill.state}>
    <div><h4>${title}</h4>
      <p class="soft">${about.filter(Boolean).join(' · ')}${skill.unsigned && html` · <strong>${say('unsigned')}</strong>`}</p></div>
    ${moving && html`<${Moving} skill=${skill} />`}
    ${!moving && skill.fault && html`<${Fault} skill=${skill} />`}
    <div class="v-row">
      ${offered(skill).map(
        ({ version }) =>
          html`<button type="button" class="button second" key=${version} disabled=${off} aria-label=${`${title}: ${say('look', { version })}`}
            onClick=${() => orders.look(skill, version)}>${say('look', { version })}</button>`,
      )}
      ${
        skill.previous &&
        html`<button type="button" class="button second" disabled=${off} onClick=${() => orders.rollback(skill)}
          aria-label=${say('rollback_of', { title, version: skill.previous })}>${glyph('left')}${say('rollback', { version: skill.previous })}</button>`
      }
      ${
        skill.version &&
        html`<button type="button" class="button second" disabled=${!lines && orders.still} aria-expanded=${lines !== null}
          aria-label=${`${title}: ${say('log')}`} onClick=${log}>${glyph('logs')}${say('log')}</button>`
      }
      <button type="button" class="button quiet danger" disabled=${orders.still || skill.state === 'removing'} aria-label=${say('remove_of', { title })}
        onClick=${() => orders.remove(skill)}>${glyph('trash')}${say('remove')}</button>
    </div>
    ${lines && html`<${Lines} title=${title} lines=${lines} />`}
  </li>`;
}

export function List({ skills, orders }: { skills: readonly Installed[]; orders: Orders }) {
  const mine = skills.filter((s) => s.state !== 'image');
  const system = skills.filter((s) => s.state === 'image');
  return html`<section class="v-stack" aria-labelledby="mine-title">
      <h3 id="mine-title">${say('mine')}</h3>
      ${
        mine.length === 0
          ? html`<p class="soft">${say('none')}</p>`
          : html`<ul class="v-stack">${mine.map((s) => html`<${One} key=${s.skill_id} skill=${s} orders=${orders} />`)}</ul>`
      }
    </section>
    <section class="v-stack tight" aria-labelledby="system-title">
      <h3 id="system-title">${say('system')}</h3>
      <ul>${system.map((s) => html`<li class="soft" key=${s.skill_id}>${titleOf(s)}${s.version && ` · ${s.version}`}</li>`)}</ul>
    </section>`;
}
