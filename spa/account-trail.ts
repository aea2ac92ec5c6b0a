// What happened to the account, newest first: read page by page, and saved as a file.
import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import type { Entry } from '../firmware/protocol/account.ts';
import { type Account, account, hubName, moment, passkeyName, say } from './account-root.ts';
import { failed } from './entrance.ts';
import { useFocusInside } from './focus.ts';

const deeds = [
  ...(['code_taken', 'passkey_added', 'passkey_renamed', 'passkey_removed', 'signed_in'] as const),
  ...([
    'counter_went_back',
    'signed_out',
    'session_ended',
    'session_renamed',
    'hub_renamed',
    'hub_keys_changed',
  ] as const),
  ...(['hub_removed', 'hub_offered', 'hub_kept', 'hub_given', 'hub_received'] as const),
  ...(['member_joined', 'member_left', 'command_allowed', 'command_denied'] as const),
] as const;

/** Hands a text over as a file. */
function save(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/x-ndjson' }));
  const a = Object.assign(document.createElement('a'), { href: url, download: name });
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** A part of the trail, newest first. `before`: where older ones begin, null where there are none. */
interface Part {
  entries: Entry[];
  before: number | null;
}

/** What is shown, with what is new on top; from the newest on where the two do not meet. */
function withNew(shown: Part | null, newest: Part): Part {
  const first = shown?.entries[0]?.n;
  const at = newest.entries.findIndex((e) => e.n === first);
  return shown && at >= 0
    ? { ...shown, entries: [...newest.entries.slice(0, at), ...shown.entries] }
    : newest;
}

export function Trail({ of }: { of: Account }) {
  const [shown, setShown] = useState<Part | null>(null);
  const { entries, before } = shown ?? { entries: null, before: null };
  const [busy, setBusy] = useState(false);
  const box = useFocusInside();
  const work = (what: () => Promise<void>) => {
    // A button that is out of order while it works would lose the focus.
    if (busy) return;
    setBusy(true);
    void what()
      .catch(failed)
      .finally(() => setBusy(false));
  };
  const older = () =>
    work(async () => {
      const next = await account.trail(before);
      setShown((now) => ({ ...next, entries: [...(now?.entries ?? []), ...next.entries] }));
    });
  // What is done here is in the trail at once.
  useEffect(() => {
    account
      .trail(null)
      .then((newest) => setShown((now) => withNew(now, newest)))
      .catch((e) => shown || failed(e));
  }, [of]);
  const keyName = (key: string) => {
    const p = of.passkeys.find((known) => known.browser_key_id === key);
    return p ? passkeyName(p) : say('former');
  };
  const nameOf = (id: string) => {
    const h = of.hubs.find((known) => known.hub_id === id);
    return h ? hubName(h) : id.startsWith('bk_') ? keyName(id) : id.slice(0, 12);
  };
  const who = (e: Entry) =>
    e.by_command
      ? say('by_command', { name: e.by_command })
      : e.by_hub
        ? say('by_hub', { name: nameOf(e.by_hub) })
        : e.browser_key_id
          ? keyName(e.browser_key_id)
          : say('by_browser');
  const what = (e: Entry) => {
    const deed = deeds.find((d) => d === e.what);
    return deed ? say(deed, { name: e.name || (e.about ? nameOf(e.about) : '') }) : e.what;
  };
  return html`<section class="v-stack" aria-labelledby="trail-title" ref=${box}><h3 id="trail-title">${say('trail')}</h3>
    <p class="soft small">${say('trail_lead')}</p>
    <ol class="rows" aria-busy=${entries === null ? 'true' : undefined}>${entries?.map(
      (e) => html`<li class="notice" key=${e.n} data-deed=${e.what}><span><b>${what(e)}</b>
        <span class="soft small">${[moment(e.at), who(e), e.place].filter(Boolean).join(' · ')}</span></span></li>`,
    )}</ol>
    <div class="v-row">
      ${before !== null && html`<button type="button" class="button second" aria-busy=${busy} onClick=${older}>${say('older')}</button>`}
      <button type="button" class="button second" aria-busy=${busy}
        onClick=${() => work(async () => save('ingle-access.jsonl', await account.file()))}>${say('save_trail')}</button>
    </div></section>`;
}
