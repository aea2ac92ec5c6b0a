// Step 2: a speaker and a microphone, with a test and a level meter.
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call, type Device, type Tested } from './api.ts';
import { html, message, Note, Page, t } from './view.ts';

type Verdict = 'too_quiet' | 'too_loud' | 'noisy' | 'glitching' | 'digital_loopback';
const known: readonly string[] = ['too_quiet', 'too_loud', 'noisy', 'glitching', 'digital_loopback'];
const verdict = (v: string) => t(known.includes(v) ? `verdict_${v as Verdict}` : 'verdict_other');

export function SoundStep(p: { level: number | null; onNext: () => void }): VNode {
  const [devices, setDevices] = useState<{ sinks: Device[]; sources: Device[] } | null>(null);
  const [sink, setSink] = useState('');
  const [source, setSource] = useState('');
  const [state, setState] = useState<'idle' | 'testing' | 'ok' | 'failed'>('idle');
  const [text, setText] = useState('');

  useEffect(() => {
    call<{ sinks: Device[]; sources: Device[] }>('audio/devices').then(
      (d) => {
        setDevices(d);
        setSink(d.sinks[0]?.id ?? '');
        setSource(d.sources[0]?.id ?? '');
      },
      () => {
        setDevices({ sinks: [], sources: [] });
        setText(t('sound_missing'));
      },
    );
  }, []);

  async function test(): Promise<void> {
    setState('testing');
    setText(t('testing'));
    try {
      const r = await call<Tested>('audio/test', { sink, source });
      setState(r.verdict === 'ok' ? 'ok' : 'failed');
      setText(
        r.verdict === 'ok'
          ? t('test_ok', { ms: Math.round(r.latency_ms) })
          : t('test_failed', { reason: verdict(r.verdict) }),
      );
    } catch (e) {
      setState('failed');
      setText(message(e));
    }
  }
  async function use(): Promise<void> {
    try {
      await call('audio/select', { sink, source });
      p.onNext();
    } catch (e) {
      setState('failed');
      setText(message(e));
    }
  }
  const some = devices && devices.sinks.length > 0 && devices.sources.length > 0;
  const choice = (label: string, list: Device[], value: string, set: (id: string) => void) =>
    html`<label>${label}
      <select value=${value} onChange=${(e: Event) => set((e.target as HTMLSelectElement).value)}>
        ${list.map((d) => html`<option value=${d.id}>${d.name}</option>`)}
      </select>
    </label>`;
  return html`<${Page} step=${2} title=${t('sound')}>
    <p>${some === false ? t('sound_none') : t('sound_intro')}</p>
    ${
      some &&
      html`${choice(t('speaker'), devices.sinks, sink, setSink)}
        ${choice(t('microphone'), devices.sources, source, setSource)}
        <label>${t('level')}<meter min="0" max="1" value=${p.level ?? 0}></meter></label>
        <button type="button" disabled=${state === 'testing'} onClick=${test}>${t('test')}</button>`
    }
    <div class="fixed">${text && html`<${Note} kind=${state === 'ok' ? 'good' : state === 'failed' ? 'bad' : undefined}>${text}<//>`}</div>
    ${some && html`<button type="button" class="main" disabled=${state === 'testing'} onClick=${use}>${t('use_pair')}</button>`}
    <button type="button" class=${some ? '' : 'main'} onClick=${p.onNext}>${t('skip')}</button>
  <//>`;
}
