// The setup pages: network, sound, phone. They keep nothing in storage and open no windows, for the small
// browsers phones show a captive portal in; what is under way is asked from the hub.
import { render, type VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { call, type Pairing, type Status } from './api.ts';
import { NetworkStep } from './network.ts';
import { SoundStep } from './sound.ts';
import { html, language, message, Note, own, Page, t, why } from './view.ts';

type Step = 'network' | 'joining' | 'sound' | 'pair';

function App(): VNode {
  const [step, setStep] = useState<Step>('network');
  const [status, setStatus] = useState<Status | null>(null);
  const [lost, setLost] = useState(false);
  const [join, setJoin] = useState({ ssid: '', interrupts: false });
  const [failure, setFailure] = useState('');
  // An answer asked for before the join began knows nothing of it.
  const joinedAt = useRef(0);

  useEffect(() => {
    let stop = false;
    (async function poll() {
      while (!stop) {
        try {
          const asked = Date.now();
          const answer = await call<Status>('status');
          if (asked > joinedAt.current) setStatus(answer);
          setLost(false);
        } catch {
          setLost(true);
        }
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
    })();
    return () => {
      stop = true;
    };
  }, []);

  // The hub's state decides; a page opened anew in the middle finds its place.
  useEffect(() => {
    if (!status) return;
    if (status.state === 'CONNECTING' && step === 'network') setStep('joining');
    if (step === 'joining' && status.state !== 'CONNECTING') {
      if (status.error === 'wifi') {
        setFailure(`${join.ssid || t('network')}: ${why(status.reason)}`);
        setStep('network');
      } else if (status.ssid) setStep('sound');
    }
  }, [status, step]);

  async function skip(): Promise<void> {
    await call('finish', {}).catch((e) => setFailure(message(e)));
    setStep('sound');
  }
  const away = lost && step !== 'joining' ? html`<${Note} kind="bad">${t('lost')}<//>` : null;
  if (step === 'network')
    return html`<${NetworkStep} failure=${failure} online=${status?.online ?? false} onSkip=${skip}
        onJoin=${(ssid: string, interrupts: boolean) => {
          joinedAt.current = Date.now();
          setStatus(null);
          setJoin({ ssid, interrupts });
          setFailure('');
          setStep('joining');
        }} />${away}`;
  if (step === 'joining')
    return html`<${Page} step=${1} title=${t('joining', { ssid: join.ssid || (status?.ssid ?? '') })}>
      <progress aria-label=${t('joining', { ssid: join.ssid })}></progress>
      <p>${t('joining_note')}</p>
      ${(join.interrupts || lost) && html`<${Note}>${t('phone_leaves')}<//>`}
    <//>`;
  if (step === 'sound')
    return html`<${SoundStep} level=${status?.level ?? null} onNext=${() => setStep('pair')} />${away}`;
  return html`<${PairStep} online=${status?.online ?? false} ssid=${status?.ssid ?? ''} />${away}`;
}

function PairStep(p: { online: boolean; ssid: string }): VNode {
  const [pairing, setPairing] = useState<Pairing | null>(null);
  const [error, setError] = useState('');
  async function load(): Promise<void> {
    setError('');
    try {
      setPairing(await call<Pairing>('pairing'));
    } catch (e) {
      setError(message(e));
    }
  }
  useEffect(() => {
    if (p.online && !pairing) void load();
  }, [p.online]);
  return html`<${Page} step=${3} title=${t('pair')}>
    ${p.ssid && html`<${Note} kind="good">${t('joined', { ssid: p.ssid })}<//>`}
    ${!pairing && !error && html`<p role="status">${t('pair_wait')}</p><progress aria-label=${t('pair_wait')}></progress>`}
    ${error && html`<${Note} kind="bad">${error}<//><button type="button" onClick=${load}>${t('pair_retry')}</button>`}
    ${
      pairing &&
      html`<p>${t('pair_intro')}</p>
        <a class="button main" href=${pairing.link}>${t('pair_open')}</a>
        <p>${t('pair_scan')}</p>
        <svg class="qr" viewBox="0 0 ${pairing.qr.size} ${pairing.qr.size}" role="img" aria-label=${t('pair_scan')} shape-rendering="crispEdges">
          <path d=${pairing.qr.path} fill="#000" />
        </svg>
        <p>${t('pair_code', { host: new URL(pairing.link).host })}</p>
        <code>${pairing.device_code} ${pairing.secret}</code>`
    }
  <//>`;
}

document.documentElement.lang = language;
document.title = own.title ?? t('title');
render(html`<${App} />`, document.getElementById('app')!);
