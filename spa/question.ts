// A question before something that cannot be taken back. It begins at the way that changes nothing.
import { html } from 'htm/preact';
import { openDialog } from './dialog.ts';
import { say } from './settings-text.ts';

/** @returns whether the person wants it; Escape and a tap beside it are no */
export async function ask(o: { title: string; text: string; yes: string }): Promise<boolean> {
  const attributes = {
    class: 'question',
    role: 'alertdialog',
    'aria-labelledby': 'question-title',
    'aria-describedby': 'question-text',
  };
  const answer = await openDialog<boolean>(
    attributes,
    (close) => html`<div class="v-stack">
      <h2 id="question-title">${o.title}</h2>
      <p id="question-text">${o.text}</p>
      <div class="v-row end">
        <button type="button" class="button second" autofocus onClick=${() => close(false)}>${say('cancel')}</button>
        <button type="button" class="button danger" onClick=${() => close(true)}>${o.yes}</button>
      </div>
    </div>`,
  );
  return answer === true;
}
