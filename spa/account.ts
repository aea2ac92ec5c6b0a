// The page of access: who is signed in, by which passkeys, to which hubs, and what happened. Root says it, so it stands
// also while the hub is away.
import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { type Account as All, account, say } from './account-root.ts';
import { Rows } from './account-rows.ts';
import { Trail } from './account-trail.ts';
import { errorOf } from './entrance.ts';
import { useFocusInside } from './focus.ts';
import { glyph } from './glyphs.ts';
import { Bones } from './open.ts';
import { sheet } from './owner.css';
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
  const box = useFocusInside();
  const load = async () => {
    const [now] = await Promise.all([account.all(), sheet]);
    setAll(now);
  };
  const order = (work: () => Promise<unknown>) => {
    setBusy(true);
    setTrouble('');
    void work()
      .then(load)
      .catch((e) => setTrouble(troubleText(e)))
      .finally(() => setBusy(false));
  };
  useEffect(() => {
    order(load);
    const timer = setInterval(() => void load().catch(() => {}), AGAIN);
    return () => clearInterval(timer);
  }, []);
  const note =
    trouble &&
    html`<div class="note bad" role="alert">${glyph('info')}<span>${trouble}</span>
      <button type="button" class="button quiet" disabled=${busy} onClick=${() => order(load)}>${say('again')}</button></div>`;
  if (!all) return note || html`<${Bones} title=${t('account')} />`;
  return html`<div class="v-stack manage" ref=${box}>
    <p class="soft">${say('lead')}</p>
    ${note}
    <${Rows} of=${all} still=${busy} order=${order} />
    <${Trail} of=${all} />
    <p class="soft small">${glyph('key')} ${say('lost')}</p>
  </div>`;
}
