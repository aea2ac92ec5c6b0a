// What every page here shares: markup, texts, a frame with the step and a heading that takes the focus.
import htm from 'htm';
import { type ComponentChildren, h, type VNode } from 'preact';
import { pickLanguage, translator } from '../firmware/text/i18n.ts';
import { reasonKey, reasonTexts } from '../firmware/text/reasons.ts';
import { wizardTexts } from '../firmware/text/wizard.ts';

export const html = htm.bind(h) as unknown as (s: TemplateStringsArray, ...v: unknown[]) => VNode;
export const language = pickLanguage(navigator.languages ?? [navigator.language]);
export const t = translator(wizardTexts, language);
const reasons = translator(reasonTexts, language);

/** The maker's words; the hub writes them into the page it serves. */
export const own: { title?: string; support?: string } =
  JSON.parse(document.body.dataset['words'] ?? '{}')[language] ?? {};

/** Why a network was not joined, with the next step. */
export const why = (reason: string): string => reasons(reasonKey(reason));

export function message(e: unknown): string {
  return e instanceof Error && 'code' in e ? t('error', { message: e.message }) : t('lost');
}

/** At once, with the page: an effect comes later and would take the focus from what a person types into by then. */
const focused = (e: HTMLElement | null) => e?.focus();

/** One page: which step it is, its heading, its content. Readers hear the heading on each change. */
export function Page(p: { step: number; title: string; children?: ComponentChildren }): VNode {
  return html`
    <div class="bar" role="img" aria-label=${t('step_of', { n: p.step })}>
      ${[1, 2, 3].map((n) => html`<i class=${n <= p.step ? 'on' : ''}></i>`)}
    </div>
    ${own.title && html`<p class="soft">${own.title}</p>`}
    <h1 key=${p.title} ref=${focused} tabindex="-1">${p.title}</h1>
    ${p.children}
    ${own.support && html`<p class="soft">${own.support}</p>`}
  `;
}

export function Note(p: { kind?: 'good' | 'bad'; children?: ComponentChildren }): VNode {
  return html`<p class="note ${p.kind ?? ''}" role=${p.kind === 'bad' ? 'alert' : 'status'}>${p.children}</p>`;
}
