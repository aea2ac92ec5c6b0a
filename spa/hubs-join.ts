// The way into the subnet of another hub, by its code, and out of it. Both end what this browser was let in for.
import { html } from 'htm/preact';
import { useRef, useState } from 'preact/hooks';
import { toIngleError } from '../firmware/protocol/errors.ts';
import { both, hub, say } from './hubs-hub.ts';
import { parting } from './parting.ts';
import { ask } from './question.ts';
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

const joined = () => ({ done: say('has_joined'), perhaps: both('perhaps_joined') });
const left = () => ({ done: say('left_home'), perhaps: both('perhaps_left') });

/** Asks the hub, which first says what would be lost, and goes on if the owner wants that. */
async function join(invite: string, begun: () => void): Promise<void> {
  const e = await hub.join(invite, false).then(
    () => undefined,
    (cause) => cause,
  );
  if (e === undefined) return parting(async () => {}, joined());
  const loses = losesOf(e);
  if (!loses) throw e;
  const question = { title: say('join_sure_title'), text: say('join_sure', loses), yes: say('join') };
  if (!(await ask(question))) return;
  begun();
  await parting(() => hub.join(invite, true), joined());
}

/** Offered on a hub that is alone. */
export function Join({ still, order }: Orders) {
  const [typed, type] = useState('');
  const [asking, setAsking] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const invite = inviteOf(typed);
  const send = (e: Event) => {
    e.preventDefault();
    order(async () => {
      try {
        await join(invite, () => setAsking(true));
      } finally {
        setAsking(false);
        // Its button was out of order when the question came, so that the focus had nowhere to go back to; the window may
        // have taken it meanwhile.
        if (document.activeElement?.matches('body, .window, :disabled')) field.current?.focus();
      }
    });
  };
  return html`<section class="v-stack" aria-labelledby="join-title"><h3 id="join-title">${say('join_title')}</h3>
    <p class="soft">${say('join_lead')}</p>
    <form class="field" onSubmit=${send}><label for="join">${say('join_code')}</label>
      <div class="with"><input class="input" id="join" ref=${field} autocomplete="off" autocapitalize="off" spellcheck=${false} required
        maxlength="512" value=${typed} aria-describedby="join-hint"
        onInput=${(e: Event) => type((e.target as HTMLInputElement).value)} />
      <button type="submit" class="button second" disabled=${still || invite === ''}>${say('join')}</button></div>
      <p class="soft small" id="join-hint" role="status">${say(asking ? 'join_wait' : 'join_hint')}</p></form>
  </section>`;
}

/** Nobody is forgotten by a hub that has not come as far as another home. */
async function stop(): Promise<void> {
  await hub.leave();
  toast(say('stopped'));
}

/** Offered on a member, and on a hub that is on its way in or out. */
export function Leave({ still, order, isAtHome }: Orders & { isAtHome: boolean }) {
  const go = async () => {
    const text = say(isAtHome ? 'stop_sure' : 'leave_sure');
    if (!(await ask({ title: say('leave_sure_title'), text, yes: say('leave') }))) return;
    order(isAtHome ? stop : () => parting(hub.leave, left()));
  };
  return html`<section class="v-stack" aria-labelledby="leave-title"><h3 id="leave-title">${say('leave_title')}</h3>
    <p class="soft">${say('leave_lead')}</p>
    <div class="v-row"><button type="button" class="button second" disabled=${still} onClick=${go}>${say('leave')}</button></div>
  </section>`;
}
