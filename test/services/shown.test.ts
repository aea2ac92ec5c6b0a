// What the screen of settings shows to one owner by their choice, and of what services did not say.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Localized } from '../../firmware/text/i18n.ts';
import type { Browsers, Devices, Link, Networks, Wifi } from '../../services/skills/settings/describe.ts';
import { type Choice, choiceShown, type Known, stateOf } from '../../services/skills/settings/shown.ts';

const away = { trouble: { i18n: { en: 'away', ru: 'нет' } } as Localized };
const known: Known = {
  name: 'Attic',
  language: 'en',
  phrase: { text: 'okay computer', on: false },
  wifi: { said: { radios: 1, detail: { station: { ssid: 'home' } } } as unknown as Wifi },
  networks: [{ ssid: 'café', signal: 70, security: 'wpa2' }] as Networks,
  sound: {
    said: {
      sinks: [{ id: 'box', name: 'Box', volume: 0.4, muted: false }],
      sources: [{ id: 'mic', name: 'Mic' }],
    } as unknown as Devices,
  },
  pair: { sink: 'box', source: 'mic' },
  browsers: { said: { browsers: [{ id: 'b1', label: 'Phone', paired_at: 0n, seen_at: 0n }] as Browsers } },
  hub: { said: { hub_id: 'h', connected: true, expires_at: 0n } as unknown as Link },
  notes: { wifi: '', sound: '' },
};
const nothing: Choice = { network: '', asking: undefined };
const browser = (id: string): Choice => ({ network: '', asking: { what: 'browser', id } });
const network: Choice = { network: '', asking: { what: 'network', id: '' } };

const questions: [name: string, known: Known, choice: Choice, question: string][] = [
  ['nothing', known, nothing, ''],
  ['a browser', known, browser('b1'), 'Forget "Phone"?'],
  ['a browser that has gone', known, browser('b2'), ''],
  ['a browser while nobody tells of any', { ...known, browsers: away }, browser('b1'), ''],
  ['the network', known, network, 'Forget "home"?'],
  ['the network, while Wi-Fi does not answer', { ...known, wifi: away }, network, ''],
];
for (const [name, k, choice, question] of questions)
  test(`asked about ${name}, the screen asks ${question || 'nothing'}`, () => {
    const { shown, state } = choiceShown(k, choice);
    assert.equal(shown.asking, question ? choice.asking : undefined);
    assert.is((state['asking'] as { i18n?: { en: string } }).i18n?.en ?? '', question);
  });

test('the network that was chosen is named, and none where none was', () => {
  assert.is(choiceShown(known, { ...nothing, network: '0' }).state['ssid'], 'café');
  assert.is(choiceShown(known, nothing).state['ssid'], '');
  assert.is(choiceShown(known, { ...nothing, network: '9' }).state['ssid'], '');
});

test('the tile tells the network, and how many may come where nobody tells of it', () => {
  const brief = (k: Known) => (stateOf(k, 0)['brief'] as unknown as Localized).i18n;
  assert.is(brief(known)['en'], 'Joined: home');
  assert.is(brief({ ...known, wifi: away })['ru'], 'Подключён 1 браузер');
  assert.is(stateOf({ ...known, wifi: away, browsers: away }, 0)['brief'], '', 'nothing where nobody tells');
});

test('a service that does not answer takes its own card only; sound is not missed before it was asked', () => {
  const of = (k: Known) => choiceShown(k, nothing).shown.trouble;
  const well = { wifi: false, browsers: false, hub: false, sound: false };
  assert.equal(of(known), well);
  assert.equal(of({ ...known, sound: undefined }), well);
  for (const part of ['wifi', 'browsers', 'hub', 'sound'] as const) {
    const k = { ...known, [part]: away };
    assert.equal(of(k), { ...well, [part]: true });
    assert.equal((stateOf(k, 0)['trouble'] as Record<string, unknown>)[part], away.trouble);
  }
});

test.run();
