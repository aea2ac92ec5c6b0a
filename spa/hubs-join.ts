// The way into the subnet of another hub, by its code, and out of it. Both end what this browser was let in for.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { toIngleError } from '../firmware/protocol/errors.ts';
import { hub, say } from './hubs-hub.ts';
import { leave } from './leave.ts';
import { ask } from './question.ts';
import { session } from './sid.ts';
import { toast } from './store.ts';

/** What the page gives: whether orders can be given, and how. */
interface Orders {
  still: boolean;
  order(work: () => Promise<unknown>): void;
}

/** What was pasted may be the whole command that the other hub shows. */
export const inviteOf = (typed: string): string => typed.replace(/^.*\bsubnet\s+join\s+/s, '').trim();

/** How many are forgotten, where the hub says so. */
function losesOf(e: unknown): { browsers: number; people: number } | undefined {
  const { code, details } = toIngleError(e);
  return code === 'conflict'
    ? (details?.['loses'] as { browsers: number; people: number } | undefined)
    : undefined;
}

/**
 * Done, the hub no longer knows this browser and its owner's session is over, often before the answer comes: then
 * nothing of the hub stays here, and the way back is a new code.
 */
async function parting(work: Promise<unknown>, said: string): Promise<void> {
  try {
    await work;
  } catch (e) {
    if (session()) throw e;
  }
  await leave(true);
  toast(said);
}

/** Asks the hub, which first says what would be lost, and goes on if the owner wants that. */
async function join(invite: string, begun: () => void): Promise<void> {
  const e = await hub.join(invite, false).then(
    () => undefined,
    (cause) => cause,
  );
  if (e === undefined) return parting(Promise.resolve(), say('has_joined'));
  const loses = losesOf(e);
  if (!loses) throw e;
  const question = { title: say('join_sure_title'), text: say('join_sure', loses), yes: say('join') };
  if (!(await ask(question))) return;
  begun();
  await parting(hub.join(invite, true), say('has_joined'));
}

/** Offered on a hub that is alone. */
export function Join({ still, order }: Orders) {
  const [typed, type] = useState('');
  const [asking, setAsking] = useState(false);
  const invite = inviteOf(typed);
  const send = (e: Event) => {
    e.preventDefault();
    order(async () => {
      try {
        await join(invite, () => setAsking(true));
      } finally {
        setAsking(false);
      }
    });
  };
  return html`<section class="v-stack" aria-labelledby="join-title"><h3 id="join-title">${say('join_title')}</h3>
    <p class="soft">${say('join_lead')}</p>
    <form class="field" onSubmit=${send}><label for="join">${say('join_code')}</label>
      <div class="with"><input class="input" id="join" autocomplete="off" autocapitalize="off" spellcheck=${false} required
        maxlength="512" value=${typed} aria-describedby="join-hint"
        onInput=${(e: Event) => type((e.target as HTMLInputElement).value)} />
      <button type="submit" class="button second" disabled=${still || invite === ''}>${say('join')}</button></div>
      <p class="soft small" id="join-hint" role="status">${say(asking ? 'join_wait' : 'join_hint')}</p></form>
  </section>`;
}

/** Offered on a member. */
export function Leave({ still, order }: Orders) {
  const go = async () => {
    if (!(await ask({ title: say('leave_sure_title'), text: say('leave_sure'), yes: say('leave') }))) return;
    order(() => parting(hub.leave(), say('left_home')));
  };
  return html`<section class="v-stack" aria-labelledby="leave-title"><h3 id="leave-title">${say('leave_title')}</h3>
    <p class="soft">${say('leave_lead')}</p>
    <div class="v-row"><button type="button" class="button second" disabled=${still} onClick=${go}>${say('leave')}</button></div>
  </section>`;
}
