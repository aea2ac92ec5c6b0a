// A package on its way to the hub. While that is not reached the file stays chosen.
import { html } from 'htm/preact';
import { useRef, useState } from 'preact/hooks';
import { type IngleError, toIngleError } from '../firmware/protocol/errors.ts';
import { glyph } from './glyphs.ts';
import { hub, MOST_MIB } from './manage-hub.ts';
import { say } from './manage-text.ts';
import { errorText } from './text.ts';

/** Refusals whose own words say more than their code does. */
const spoken = ['forbidden', 'conflict', 'invalid_request', 'too_large', 'not_supported'];

const refusedText = (e: IngleError) =>
  e.details?.['reason'] === 'unsigned'
    ? say('not_signed', { command: 'ingle skill developer on' })
    : say('not_taken', { message: spoken.includes(e.code) ? e.message : errorText(e.code) });

export function Upload(o: {
  still: boolean;
  /** Asks the hub, for the passkey before that where the hub wants it. */
  ask<R>(work: () => Promise<R>): Promise<R>;
  taken(what: { skill_id: string; version: string }): void;
}) {
  const [file, setFile] = useState<File | null>(null);
  const [share, setShare] = useState<number | null>(null);
  const [error, setError] = useState('');
  const [over, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);

  async function send(chosen: File): Promise<void> {
    setFile(chosen);
    setError('');
    if (chosen.size > MOST_MIB * 2 ** 20) return setError(say('no_file', { most: MOST_MIB }));
    const { name } = chosen;
    let bytes: Uint8Array;
    try {
      bytes = new Uint8Array(await chosen.arrayBuffer());
    } catch {
      return setError(say('file_gone', { name }));
    }
    setShare(0);
    try {
      const taken = await o.ask(() => hub.prepare(bytes, setShare));
      o.taken({ skill_id: taken.skill.skill_id, version: taken.package.version });
      setFile(null);
    } catch (cause) {
      const e = toIngleError(cause);
      const away = ['unavailable', 'hub_offline', 'timeout'].includes(e.code);
      if (!away) setFile(null);
      setError(away ? say('kept', { name }) : refusedText(e));
    }
    setShare(null);
  }
  const take = (list: FileList | null | undefined) => {
    const [chosen] = list ?? [];
    if (chosen && share === null) void send(chosen);
  };
  const name = file?.name ?? '';
  const percent = Math.floor((share ?? 0) * 100);
  return html`<section class=${`v-card drop${over ? ' over' : ''}`} data-upload=${share === null ? 'idle' : 'busy'}
    onDragOver=${(e: DragEvent) => {
      e.preventDefault();
      setOver(true);
    }}
    onDragLeave=${() => setOver(false)}
    onDrop=${(e: DragEvent) => {
      e.preventDefault();
      setOver(false);
      take(e.dataTransfer?.files);
    }}>
    <div class="v-row center">
      <button type="button" class="button" disabled=${share !== null} onClick=${() => input.current?.click()}>${say('choose')}</button>
      ${
        error &&
        file &&
        share === null &&
        html`<button type="button" class="button second" disabled=${o.still} onClick=${() => send(file)}>${glyph('refresh')}${say('resend')}</button>`
      }
    </div>
    <input type="file" hidden ref=${input} accept=".ingle-skill" onChange=${(e: Event) => {
      const chosen = e.target as HTMLInputElement;
      take(chosen.files);
      // The same file can be chosen again.
      chosen.value = '';
    }} />
    <div class="slot" aria-live="polite">
      ${
        share !== null
          ? html`<div class="note"><span class="spin"></span><span>${share < 1 ? say('sending', { name, percent }) : say('checking', { name })}</span></div>`
          : error
            ? html`<div class="note bad" role="alert">${glyph('info')}<span>${error}</span></div>`
            : html`<p class="soft small">${say('drop')}</p>`
      }
    </div>
  </section>`;
}
