// Step 1: which network. A list with signal, or a name typed by hand.
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call, type Network } from './api.ts';
import { html, message, Note, Page, t } from './view.ts';

export function NetworkStep(p: {
  failure: string;
  online: boolean;
  onJoin: (ssid: string, interrupts: boolean) => void;
  onSkip: () => void;
}): VNode {
  const [found, setFound] = useState<{ networks: Network[]; age_s: number } | null>(null);
  const [chosen, setChosen] = useState<Network | 'other' | null>(null);
  const [error, setError] = useState('');

  async function scan(fresh: boolean): Promise<void> {
    setFound(null);
    setError('');
    try {
      setFound(await call(`wifi/scan${fresh ? '?fresh=1' : ''}`));
    } catch (e) {
      setFound({ networks: [], age_s: 0 });
      setError(message(e));
    }
  }
  useEffect(() => void scan(false), []);

  if (chosen)
    return html`<${Credentials} network=${chosen} onBack=${() => setChosen(null)} onJoin=${p.onJoin} />`;
  return html`<${Page} step=${1} title=${t('network')}>
    <p>${t('network_intro')}</p>
    ${p.failure && html`<${Note} kind="bad">${p.failure}<//>`}
    ${error && html`<${Note} kind="bad">${error}<//>`}
    <ul aria-busy=${found === null}>
      ${found === null && html`<li><p role="status">${t('scanning')}</p></li>`}
      ${found?.networks.length === 0 && html`<li><p>${t('none_found')}</p></li>`}
      ${found?.networks.map(
        (n) => html`<li key=${n.ssid}>
          <button type="button" onClick=${() => setChosen(n)}>
            <b>${n.ssid}</b>
            ${n.security === 'open' && html`<span class="soft">${t('open_network')}</span>`}
            <${Signal} percent=${n.signal} />
          </button>
        </li>`,
      )}
      ${found && html`<li><button type="button" onClick=${() => setChosen('other')}><b>${t('other_network')}</b></button></li>`}
    </ul>
    ${found && found.age_s > 5 && html`<p class="soft">${t('scanned_ago', { s: found.age_s })}</p>`}
    <button type="button" disabled=${found === null} onClick=${() => scan(true)}>${t('rescan')}</button>
    ${p.online && html`<button type="button" onClick=${p.onSkip}>${t('finish')}</button>`}
  <//>`;
}

function Signal(p: { percent: number }): VNode {
  return html`<svg class="signal" viewBox="0 0 22 18" role="img" aria-label=${t('signal', { p: p.percent })}>
    ${[0, 1, 2, 3].map(
      (i) =>
        html`<rect class=${p.percent > i * 25 ? 'on' : ''} x=${i * 6} y=${13 - i * 4} width="4" height=${5 + i * 4} rx="1" />`,
    )}
  </svg>`;
}

function Credentials(p: {
  network: Network | 'other';
  onBack: () => void;
  onJoin: (ssid: string, interrupts: boolean) => void;
}): VNode {
  const other = p.network === 'other';
  const [ssid, setSsid] = useState(p.network === 'other' ? '' : p.network.ssid);
  const [psk, setPsk] = useState('');
  const [shown, setShown] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState('');
  const open = p.network !== 'other' && p.network.security === 'open';

  async function join(event: Event): Promise<void> {
    event.preventDefault();
    setBusy(true);
    setError('');
    try {
      const { interrupts } = await call<{ interrupts: boolean }>('wifi/connect', {
        ssid,
        psk,
        hidden: other,
      });
      p.onJoin(ssid, interrupts);
    } catch (e) {
      setError(message(e));
      setBusy(false);
    }
  }
  return html`<${Page} step=${1} title=${other ? t('other_network') : ssid}>
    <form onSubmit=${join}>
      ${
        other &&
        html`<label>${t('name')}
          <input type="text" required maxlength="32" autocapitalize="none" autocorrect="off" spellcheck=${false}
            value=${ssid} onInput=${(e: InputEvent) => setSsid((e.target as HTMLInputElement).value)} />
        </label>`
      }
      ${
        !open &&
        html`<label>${t('password')}
            <input type=${shown ? 'text' : 'password'} minlength=${other ? 0 : 8} maxlength="64" required=${!other}
              autocomplete="off" autocapitalize="none" autocorrect="off" spellcheck=${false}
              value=${psk} onInput=${(e: InputEvent) => setPsk((e.target as HTMLInputElement).value)} />
          </label>
          <label class="check"><input type="checkbox" checked=${shown} onChange=${() => setShown(!shown)} />${t('show')}</label>`
      }
      ${error && html`<${Note} kind="bad">${error}<//>`}
      <button class="main" disabled=${busy}>${t('join')}</button>
      <button type="button" onClick=${p.onBack}>${t('back')}</button>
    </form>
  <//>`;
}
