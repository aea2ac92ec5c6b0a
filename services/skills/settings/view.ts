// The screen of `settings` as ui/v0. Pure.
import { press, type Ref, row, screen } from '../../../firmware/skills/screen.ts';
import type { View, ViewNode } from '../../../firmware/ui/schema.ts';
import { settingsText } from './texts.ts';

type Key = keyof (typeof settingsText)['en'];
type Option = { label: string; value: string };

/** What of the screen is there now. Names a person gave lie in the state, as they may hold braces. */
export interface Shown {
  /** What cannot be shown; its card says why. */
  trouble: { wifi: boolean; sound: boolean; browsers: boolean; hub: boolean };
  /** Networks in reach. */
  networks: number;
  joined: boolean;
  radio: boolean;
  sinks: readonly string[];
  sources: readonly string[];
  volumes: readonly number[];
  /** Ids of browsers. */
  browsers: readonly string[];
  /** What is about to be forgotten. */
  asking: { what: 'browser' | 'network'; id: string } | undefined;
}

const base = '/skills/settings/v1';
const text = (t: string): ViewNode => ({ type: 'text', text: t });
const post = (path: string, body: Record<string, unknown> = {}) =>
  ({ type: 'http.post', path: `${base}/${path}`, body }) as const;

/** Labels that are data are options of their own binding, by their place in the list. */
const named = (list: string, ids: readonly string[]): Option[] =>
  ids.map((value, i) => ({ label: `{{state.${list}[${i}].name}}`, value }));

function asking(s: Shown, t: Ref<Key>): ViewNode[] {
  if (!s.asking) return [];
  const { what, id } = s.asking;
  const yes = what === 'browser' ? 'browsers/forget' : 'wifi/forget';
  return [
    {
      type: 'card',
      title: '{{state.asking}}',
      children: [
        text(t(what === 'browser' ? 'askBrowser' : 'askNetwork')),
        row([press(t('no'), `${base}/ask`), press(t('yes'), `${base}/${yes}`, { body: { id } })], {
          justify: 'end',
        }),
      ],
    },
  ];
}

function wifi(s: Shown, t: Ref<Key>): ViewNode {
  const networks: ViewNode = {
    type: 'select',
    label: t('network'),
    bind: '{{state.chosen}}',
    options: [
      { label: t('choose'), value: '' },
      // By number, as names of networks are anybody's.
      ...Array.from({ length: s.networks }, (_, i) => ({
        label: `{{state.networks[${i}].text}}`,
        value: String(i),
      })),
    ],
    action: post('wifi/choose'),
  };
  const parts: ViewNode[] = s.trouble.wifi
    ? [text('{{state.trouble.wifi}}')]
    : [
        text('{{state.wifi.text}}'),
        ...(s.radio
          ? [
              text('{{state.wifi.note}}'),
              row(
                [
                  press(t('scan'), `${base}/wifi/scan`, { icon: 'refresh' }),
                  ...(s.joined
                    ? [press(t('forgetNetwork'), `${base}/ask`, { body: { what: 'network' } })]
                    : []),
                ],
                { justify: 'end' },
              ),
              ...(s.networks > 0 ? [networks] : []),
              {
                type: 'form',
                label: t('join'),
                fields: [
                  { key: 'ssid', label: t('name'), value: '{{state.ssid}}' },
                  { key: 'psk', label: t('password'), secret: true },
                ],
                action: post('wifi/join'),
              },
            ]
          : []),
      ];
  return { type: 'card', title: t('wifi'), children: parts };
}

function sound(s: Shown, t: Ref<Key>): ViewNode {
  const choice = (of: 'sink' | 'source', ids: readonly string[]): ViewNode => ({
    type: 'select',
    label: t(of === 'sink' ? 'output' : 'input'),
    bind: `{{state.sound.${of}}}`,
    options: named(`${of}s`, ids),
    action: post('sound/pair', { of }),
  });
  const parts: ViewNode[] = s.trouble.sound
    ? [text('{{state.trouble.sound}}')]
    : [
        choice('sink', s.sinks),
        choice('source', s.sources),
        {
          type: 'select',
          label: t('volume'),
          bind: '{{state.sound.volume}}',
          options: s.volumes.map((v) => ({ label: v === 0 ? t('mute') : `${v} %`, value: String(v) })),
          action: post('sound/volume'),
        },
        text('{{state.sound.note}}'),
        row([press(t('test'), `${base}/sound/test`)], { justify: 'end' }),
        {
          type: 'select',
          label: '{{state.phrase.label}}',
          bind: '{{state.phrase.on}}',
          options: [
            { label: t('phraseOff'), value: 'off' },
            { label: t('phraseOn'), value: 'on' },
          ],
          // The API's own, as with the language.
          action: { type: 'http.post', path: '/api/voice/phrase', body: {} },
        },
        text(t('phraseNote')),
      ];
  return { type: 'card', title: t('sound'), children: parts };
}

function place(t: Ref<Key>): ViewNode {
  return {
    type: 'card',
    title: t('place'),
    children: [
      {
        type: 'select',
        label: t('language'),
        bind: '{{state.language}}',
        options: [
          { label: t('english'), value: 'en' },
          { label: t('russian'), value: 'ru' },
        ],
        // The API's own: it alone may write what every service reads.
        action: { type: 'http.post', path: '/api/node/language', body: {} },
      },
      text(t('languageNote')),
      {
        type: 'form',
        label: t('setPlace'),
        fields: [{ key: 'name', label: t('placeName') }],
        action: { type: 'http.post', path: '/skills/weather/v1/place', body: {} },
      },
      text(t('placeNote')),
      {
        type: 'button',
        label: t('weather'),
        action: { type: 'navigate', path: 'skill:weather', mode: 'modal' },
      },
    ],
  };
}

function browsers(s: Shown, t: Ref<Key>): ViewNode {
  const one = (id: string, i: number): ViewNode => ({
    type: 'card',
    title: `{{state.browsers[${i}].name}}`,
    children: [
      text(`{{state.browsers[${i}].text}}`),
      {
        type: 'form',
        label: t('rename'),
        fields: [{ key: 'label', label: t('label'), value: `{{state.browsers[${i}].name}}` }],
        action: post('browsers/rename', { id }),
      },
      row([press(t('forget'), `${base}/ask`, { body: { what: 'browser', id } })], { justify: 'end' }),
    ],
  });
  const parts = s.trouble.browsers
    ? [text('{{state.trouble.browsers}}')]
    : s.browsers.length > 0
      ? s.browsers.map(one)
      : [{ type: 'empty', text: t('none') }];
  return { type: 'card', title: t('browsers'), children: parts };
}

function hub(s: Shown, t: Ref<Key>): ViewNode {
  const parts: ViewNode[] = s.trouble.hub
    ? [text('{{state.trouble.hub}}')]
    : [
        { type: 'metric', label: t('id'), value: '{{state.hub.id}}' },
        { type: 'metric', label: t('root'), value: '{{state.hub.root}}' },
        { type: 'metric', label: t('certificate'), value: '{{state.hub.until}}' },
        text('{{state.hub.note}}'),
      ];
  return { type: 'card', title: t('hub'), children: parts };
}

export function settingsView(s: Shown): View {
  return screen(settingsText, (t) => [
    { type: 'title', text: '{{state.name}}' },
    ...asking(s, t),
    wifi(s, t),
    sound(s, t),
    place(t),
    browsers(s, t),
    hub(s, t),
  ]);
}
