// The page of access: who is signed in, by which passkeys, to which hubs, and what happened. Root says it, so it stands
// also while the hub is away.
import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { LetIn } from './account-command.ts';
import { type Account as All, account, say } from './account-root.ts';
import { Rows } from './account-rows.ts';
import { Trail } from './account-trail.ts';
import { errorOf } from './entrance.ts';
import { useFocusInside } from './focus.ts';
import { glyph } from './glyphs.ts';
import { Bones } from './open.ts';
import { sheet } from './owner.css';
import { session } from './sid.ts';
import { errorText, t } from './text.ts';

/** How often root is asked while the page is open, milliseconds. */
const AGAIN = 30_000;

const told = ['invalid_device_code', 'conflict', 'unavailable', 'unauthenticated', 'rate_limited'] as const;

/** Why root did not do it, and what to do. */
function troubleText(e: unknown): string {
  const { code } = errorOf(e);
  const known = told.find((c) => c === code);
  return known ? say(`no_${known}`) : say('no_other', { message: errorText(code) });
}

export function Account() {
  const [all, setAll] = useState<All | null>(null);
  const [trouble, setTrouble] = useState('');
  const [busy, setBusy] = useState(false);
  const box = useFocusInside(trouble);
  const asked = useRef(0);
  const shown = useRef(0);
  const load = async () => {
    const nth = ++asked.current;
    const [now] = await Promise.all([account.all(), sheet]);
    // An answer that comes late would bring back what has gone meanwhile.
    if (nth < shown.current) return;
    shown.current = nth;
    setAll(now);
  };
  const tell = (e: unknown) => setTrouble(troubleText(e));
  const order = async (work: () => Promise<unknown>): Promise<boolean> => {
    setBusy(true);
    setTrouble('');
    try {
      await work();
      // It may have been the end of this very session.
      if (session()) await load().catch(tell);
      return true;
    } catch (e) {
      tell(e);
      return false;
    } finally {
      setBusy(false);
    }
  };
  const look = () => order(async () => {});
  useEffect(() => {
    void look();
    const timer = setInterval(() => void load().catch(() => {}), AGAIN);
    return () => clearInterval(timer);
  }, []);
  const note =
    trouble &&
    html`<div class="note bad" role="alert">${glyph('info')}<span>${trouble}</span>
      <button type="button" class="button quiet" disabled=${busy} onClick=${look}>${say('again')}</button></div>`;
  if (!all) return note || html`<${Bones} title=${t('account')} />`;
  return html`<div class="v-stack manage" ref=${box}>
    <p class="soft">${say('lead')}</p>
    ${note}
    <${Rows} of=${all} still=${busy} order=${order} />
    <${LetIn} changed=${look} />
    <${Trail} of=${all} />
    <p class="soft small">${glyph('key')} ${say('lost')}</p>
  </div>`;
}
