// What somebody would say to the hub, written here or spoken in its room, and what began with it.
import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type ErrorCode, toIngleError } from '../firmware/protocol/errors.ts';
import { glyph } from './glyphs.ts';
import { hub, isHousehold, isOwner, type Key, type Meant, say } from './scenarios-hub.ts';
import type { Page } from './scenarios-page.ts';
import { nameOf } from './scenarios-words.ts';
import { errorText } from './text.ts';

/** What came of it. */
interface Came {
  tone: 'ok' | 'warn' | 'bad';
  text: string;
  way?: { text: string; go(): void };
}

const microphone = html`<svg class="i" viewBox="0 0 24 24" aria-hidden="true"><path
  d="M12 3.5a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0v-5a3 3 0 0 0-3-3zM5.5 11a6.5 6.5 0 0 0 13 0M12 17.5v3.5" /></svg>`;

/** Why nothing was done. */
const reasons: Record<'write' | 'listen', Partial<Record<ErrorCode, Key>>> = {
  write: { conflict: 'ask_cannot' },
  listen: { not_found: 'ask_no_mic', not_supported: 'ask_no_mic', conflict: 'ask_busy' },
};

/** @param text what was written; of what was spoken the answer says it */
function cameOf(page: Page, m: Meant, text: string): Came | null {
  if (m.run_id !== '') {
    const name = nameOf(page.known.scenarios, m.scenario_id);
    const go = () => page.go({ at: 'run', id: m.run_id });
    return { tone: 'ok', text: say('ask_begun', { name }), way: { text: say('watch'), go } };
  }
  // Whoever says stop sees what it did.
  if (m.intent === 'voice.stop') return null;
  if (m.intent !== '') return { tone: 'warn', text: say('ask_nothing', { text }) };
  if (text === '') return { tone: 'warn', text: say(m.heard ? 'ask_unclear' : 'ask_silent') };
  const teach = { text: say('ask_teach'), go: () => page.go({ at: 'teach' }) };
  return { tone: 'warn', text: say('ask_unknown', { text }), ...(isOwner() ? { way: teach } : {}) };
}

export function Ask({ page }: { page: Page }) {
  const [doing, setDoing] = useState<'write' | 'listen' | null>(null);
  const [came, setCame] = useState<Came | null>(null);
  const [waking, setWaking] = useState<Awaited<ReturnType<typeof hub.waking>> | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const listening = useRef(false);
  /** Told to stop: that nothing was heard then is no news. */
  const stopped = useRef(false);
  // Who does not learn it can still tell the hub something.
  useEffect(() => void (isHousehold() && hub.waking().then(setWaking, () => {})), []);
  // Nobody leaves the microphone open behind them.
  useEffect(() => () => void (listening.current && hub.hush().catch(() => {})), []);

  async function ask(how: 'write' | 'listen', meant: () => Promise<Meant & { text: string }>): Promise<void> {
    setDoing(how);
    setCame(null);
    stopped.current = false;
    listening.current = how === 'listen';
    try {
      const m = await meant();
      if (!stopped.current || m.run_id !== '') setCame(cameOf(page, m, m.text));
      // What was typed meanwhile stays.
      if (m.run_id !== '' && field.current?.value.trim() === m.text) field.current.value = '';
    } catch (e) {
      const { code } = toIngleError(e);
      const key = reasons[how][code];
      if (!stopped.current) setCame({ tone: 'bad', text: key ? say(key) : errorText(code) });
    } finally {
      listening.current = false;
      setDoing(null);
      page.again();
    }
  }
  const write = (e: Event) => {
    e.preventDefault();
    const text = field.current!.value.trim();
    if (text !== '' && !doing) void ask('write', async () => ({ ...(await hub.understand(text)), text }));
  };
  const listen = () => {
    if (doing === null) return void ask('listen', hub.listen);
    stopped.current = true;
    hub.hush().catch(() => {
      stopped.current = false;
    });
  };

  return html`<div class="v-card" role="group" aria-labelledby="ask-head"><h3 id="ask-head">${say('ask_title')}</h3>
    <form class="with" onSubmit=${write}>
      <input class="input" id="ask" ref=${field} maxlength="500" autocomplete="off" enterkeyhint="go" aria-label=${say('ask_label')}
        placeholder=${say('ask_hint')} />
      <button class="button second" id="ask-do" disabled=${page.still || doing === 'listen'} aria-busy=${doing === 'write'}>${say('ask_do')}</button>
      ${
        isHousehold() &&
        html`<button type="button" class="button second" id="ask-speak" disabled=${page.still || doing === 'write'} onClick=${listen}>${microphone}${say(
          doing === 'listen' ? 'ask_stop' : 'ask_speak',
        )}</button>`
      }</form>
    ${waking?.on && html`<p class="muted" id="ask-phrase">${say(waking.trouble ? 'ask_deaf' : 'ask_phrase', { phrase: waking.phrase })}</p>`}
    <div role="status">${doing === 'listen' && html`<div class="note"><span class="spin"></span><span>${say('ask_listening')}</span></div>`}${
      came &&
      html`<div class=${`note ${came.tone}`} data-came=${came.tone}>${glyph(came.tone === 'ok' ? 'check' : 'info')}<div class="v-stack tight"><span>${came.text}</span>
        ${came.way && html`<div><button type="button" class="button second" id="ask-way" onClick=${came.way.go}>${came.way.text}</button></div>`}</div></div>`
    }</div>
  </div>`;
}
