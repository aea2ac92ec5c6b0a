// An example of every part of the languages of screens: what the reference page shows and draws, and what the gallery's
// tests draw. Each is a document that a hub takes without a word.
import { exampleTexts } from '../../../firmware/text/examples.ts';
import { type Language, translator } from '../../../firmware/text/i18n.ts';
import type { Part } from '../../../firmware/ui/described.ts';

export interface Example {
  source: Readonly<Record<string, unknown>>;
  /** What the skill's state document holds. */
  state?: Readonly<Record<string, unknown>>;
  /** What the skill answers when it is asked for rows. */
  rows?: readonly Readonly<Record<string, unknown>>[];
}
type Node = Readonly<Record<string, unknown>>;

const page = (components: readonly Node[], more: Node = {}, rows?: Example['rows']): Example => ({
  source: { version: 'usdl/0.2', ...more, components },
  ...(rows ? { rows } : {}),
});
const text = (ulm: string, more: Omit<Example, 'source'> = {}): Example => ({ source: { ulm }, ...more });

const temp = { temp: 21.5 };
const post = { type: 'http.post', path: '/v1/save', body: { from: 'example' } };

type Words = ReturnType<typeof wordsIn>;

/** What examples share, in the words of a language. */
function wordsIn(language: Language) {
  const t = translator(exampleTexts, language);
  const view = (layout: Node, state?: Node, schema = 'ui/v0'): Example => ({
    source: { schema, meta: { title: t('home') }, layout },
    ...(state ? { state } : {}),
  });
  const view1 = (layout: Node, state?: Node) => view(layout, state, 'ui/v0.1');
  const text1 = { type: 'text', text: t('warm') };
  const room = (name: 'living' | 'kitchen', value: string): Node => ({
    type: 'metric',
    label: t(name),
    value,
  });
  const rooms = [room('living', '21.5 °C'), room('kitchen', '19 °C')];
  const days = [t('mon'), t('tue'), t('wed'), t('thu')];
  const kwh = {
    days: days.map((day, i) => ({ day, used: [6, 9, 7, 8][i], made: [4, 5, 8, 6][i] })),
    line: [0, 1, 2, 3, 4].map((i) => ({
      at: new Date(Date.UTC(2026, 4, 4, 8 + 2 * i)).toISOString(),
      temp: [19, 20, 21.5, 22, 21][i],
    })),
  };
  const buys = [
    { what: t('milk'), amount: 2 },
    { what: t('bread'), amount: 1 },
    { what: t('apples'), amount: 6 },
  ];
  const visits = Array.from({ length: 12 }, (_, i) => ({
    id: i,
    who: [t('milk'), t('bread'), t('apples')][i % 3],
    amount: i + 1,
  }));
  const columns = [
    { key: 'what', title: t('what') },
    { key: 'amount', title: t('amount') },
  ];
  const options = (['day', 'night', 'away'] as const).map((id) => ({ id, text: t(id) }));
  const series = (y: 'used' | 'made') => ({ label: t(y), data: '{{state.days}}', x: 'day', y });
  return { language, t, view, view1, text1, rooms, kwh, buys, visits, columns, options, series };
}

const examples: Readonly<Record<Part['id'], (w: Words) => Example>> = {
  'ui-v0-view': ({ t, view, text1 }) =>
    view({ type: 'stack', gap: 8, children: [{ type: 'title', text: t('home') }, text1] }, temp),
  'ui-v0-title': ({ t, view }) => view({ type: 'title', text: t('living') }),
  'ui-v0-text': ({ view, text1 }) => view(text1, temp),
  'ui-v0-badge': ({ t, view }) => view({ type: 'badge', text: t('well') }),
  'ui-v0-metric': ({ t, view }) =>
    view({ type: 'metric', label: t('temperature'), value: '{{state.temp}} °C' }, temp),
  'ui-v0-stack': ({ view, rooms }) => view({ type: 'stack', gap: 2, children: rooms }),
  'ui-v0-row': ({ view, rooms }) => view({ type: 'row', gap: 3, justify: 'between', children: rooms }),
  'ui-v0-card': ({ t, view, text1, rooms }) =>
    view({ type: 'card', title: t('living'), gap: 1, child: text1, children: rooms }, temp),
  'ui-v0-table': ({ t, view, buys, columns }) =>
    view(
      {
        type: 'table',
        title: t('shopping'),
        columns: columns.map((c) => ({ key: c.key, label: c.title })),
        rows: '{{state.buys}}',
      },
      { buys },
    ),
  'ui-v0-chart-line': ({ t, view, kwh }) =>
    view(
      {
        type: 'chart.line',
        title: t('temperature'),
        series: [{ label: t('living'), data: '{{state.line}}', x: 'at', y: 'temp' }],
      },
      kwh,
    ),
  'ui-v0-button': ({ t, view }) =>
    view({
      type: 'row',
      gap: 1,
      children: [
        { type: 'button', label: t('on'), action: { ...post, body: { lamp: true } } },
        {
          type: 'button',
          label: t('refresh'),
          icon: 'refresh',
          action: { type: 'http.get', path: '/v1/state' },
        },
        {
          type: 'button',
          label: t('remind'),
          action: { type: 'bus.publish', topic: 'home.remind', payload: {} },
        },
        {
          type: 'button',
          label: t('settings'),
          action: { type: 'navigate', path: 'skill:settings', mode: 'modal' },
        },
      ],
    }),
  'ui-v0-select': ({ t, view, options }) =>
    view(
      {
        type: 'select',
        label: t('mode'),
        bind: '{{state.mode}}',
        options: options.map((o) => ({ label: o.text, value: o.id })),
        action: { type: 'http.post', path: '/v1/mode', body: {} },
      },
      { mode: 'day' },
    ),
  'ui-v0-form': ({ t, view1, options }) =>
    view1({
      type: 'form',
      title: t('shopping'),
      label: t('send'),
      fields: [
        { key: 'what', label: t('what'), required: true, max: 40 },
        { key: 'amount', label: t('amount'), input: 'number', value: '1' },
        { key: 'note', label: t('note'), input: 'area' },
        { key: 'day', label: t('date'), input: 'date' },
        { key: 'hour', label: t('time'), input: 'time' },
        { key: 'code', label: t('code'), input: 'secret' },
        {
          key: 'mode',
          label: t('mode'),
          input: 'choice',
          options: options.map((o) => ({ label: o.text, value: o.id })),
        },
        {
          key: 'size',
          label: t('size'),
          input: 'chips',
          options: (['small', 'large'] as const).map((value) => ({ label: t(value), value })),
        },
        { key: 'remind', label: t('remind'), input: 'check' },
      ],
      action: post,
    }),
  'ui-v0-empty': ({ t, view }) => view({ type: 'empty', icon: 'list', text: t('none') }),
  'ui-v0-chart-bar': ({ t, view1, kwh, series }) =>
    view1({ type: 'chart.bar', title: t('energy'), series: [series('used'), series('made')] }, kwh),
  'ui-v0-progress': ({ t, view1 }) =>
    view1({ type: 'progress', label: t('washing'), value: '{{state.minutes}}', max: '90' }, { minutes: 35 }),
  'ui-v0-tabs': ({ t, view1, text1, rooms }) =>
    view1(
      {
        type: 'tabs',
        tabs: [
          { label: t('today'), child: text1 },
          { label: t('week'), children: rooms },
        ],
      },
      temp,
    ),

  'usdl-0-2-page': ({ t, language }) =>
    page(
      [
        { type: 'Toolbar', slot: 'header', i18n: 'title' },
        { type: 'Input', id: 'note', label: t('note'), bind: '$.note', input: 'text' },
        { type: 'Card', title: t('note'), body: t('typed'), when: '$.note' },
        { type: 'Input', label: t('ask'), bind: '$.asks', input: 'check' },
        { type: 'Input', label: t('tell'), bind: '$.tells', input: 'check' },
        { type: 'Card', slot: 'aside', body: t('aside') },
        {
          type: 'Card',
          slot: 'modal',
          title: t('sure'),
          when: '$.asks',
          actions: [{ text: t('yes'), action: 'all_off', variant: 'danger' }],
        },
        { type: 'Markdown', slot: 'toast', text: t('saved'), when: '$.tells' },
      ],
      {
        meta: { title: t('home'), texts: { title: { i18n: { [language]: t('home') } } } },
        viewModel: { note: '', asks: false, tells: false },
        actions: { all_off: { emit: 'ui.action', payload: { all: true } } },
      },
    ),
  'usdl-0-2-card': ({ t }) =>
    page([
      {
        type: 'Card',
        title: t('living'),
        body: t('well'),
        components: [{ type: 'Progress', label: t('humidity'), value: 45 }],
        actions: [
          { text: t('on'), action: 'lamp_on', variant: 'primary' },
          { text: t('off'), action: 'lamp_off' },
        ],
      },
    ]),
  'usdl-0-2-toolbar': ({ t }) =>
    page([
      {
        type: 'Toolbar',
        title: t('shopping'),
        components: [{ type: 'Button', text: t('refresh'), action: 'refresh' }],
        actions: [{ text: t('settings'), navigate: { to: 'skill:settings', mode: 'modal' } }],
      },
    ]),
  'usdl-0-2-input': ({ t }) =>
    page(
      [
        {
          type: 'Input',
          id: 'words',
          label: t('words'),
          bind: '$.note',
          debounceMs: 500,
          on: [
            {
              event: 'change',
              action: { type: 'ui.action', action_id: 'note', payload: { text: '$.note' } },
            },
          ],
        },
        { type: 'Markdown', text: t('typed'), when: '$.note' },
      ],
      { viewModel: { note: '' } },
    ),
  'usdl-0-2-select': ({ t, options }) =>
    page([{ type: 'Select', label: t('mode'), bind: '$.mode', options, action: 'set_mode' }], {
      viewModel: { mode: 'night' },
    }),
  'usdl-0-2-button': ({ t }) =>
    page([
      { type: 'Button', text: t('on'), icon: 'refresh', variant: 'primary', action: 'lamp_on' },
      {
        type: 'Button',
        text: t('off'),
        variant: 'danger',
        action: { type: 'ui.action', action_id: 'all_off' },
      },
      { type: 'Button', text: t('settings'), navigate: { to: 'skill:settings' } },
    ]),
  'usdl-0-2-table': ({ t, buys, visits, columns }) =>
    page(
      [
        { type: 'Table', title: t('today'), columns, data: { bind: '$.buys' } },
        {
          type: 'Table',
          title: t('visits'),
          search: true,
          columns: [
            { key: 'who', title: t('what'), sort: true },
            { key: 'amount', title: t('amount'), sort: true },
          ],
          data: { source: 'lazy', query: 'visits', pageSize: 5 },
          on: [
            {
              event: 'rowClick',
              action: { type: 'ui.action', action_id: 'open', payload: { id: '$row.id' } },
            },
          ],
        },
      ],
      { viewModel: { buys } },
      visits,
    ),
  'usdl-0-2-form': ({ t, options }) =>
    page(
      [
        {
          type: 'Form',
          id: 'buy',
          title: t('shopping'),
          fields: [
            { name: 'what', label: t('what'), bind: '$.what', required: true, max: 40 },
            { name: 'mode', label: t('mode'), component: 'Select', options },
            { name: 'size', label: t('size'), input: 'chips', options: [{ id: 's', text: t('small') }] },
          ],
          actions: [{ text: t('send'), action: 'add' }],
        },
      ],
      { viewModel: { what: t('milk') } },
    ),
  'usdl-0-2-progress': ({ t }) =>
    page([{ type: 'Progress', label: t('washing'), bind: '$.minutes', max: 90 }], {
      viewModel: { minutes: 35 },
    }),
  'usdl-0-2-markdown': ({ t }) => page([{ type: 'Markdown', text: `## ${t('home')}\n\n${t('letter')}` }]),
  'usdl-0-2-chart': ({ t, kwh }) =>
    page(
      [
        {
          type: 'Chart',
          title: t('energy'),
          spec: {
            $vegaLite: {
              encoding: { x: { field: 'day', type: 'nominal', sort: null, title: t('date') } },
              layer: [
                {
                  mark: 'bar',
                  encoding: {
                    y: { field: 'used', type: 'quantitative', title: 'kWh' },
                    color: { datum: t('used'), title: null },
                  },
                },
                {
                  mark: { type: 'line', point: true },
                  encoding: {
                    y: { field: 'made', type: 'quantitative' },
                    color: { datum: t('made'), title: null },
                  },
                },
              ],
            },
          },
          data: { bind: '$.days' },
        },
      ],
      { viewModel: { days: kwh.days } },
    ),
  'usdl-0-2-widget': ({ t }) =>
    page([
      {
        type: 'Widget',
        title: t('sketch'),
        page: 'plan/index.html',
        w: 640,
        h: 360,
        instead: { type: 'Markdown', text: t('frameless') },
      },
    ]),

  'ulm-text': ({ t }) =>
    text(
      [
        `# ${t('home')}`,
        t('warm'),
        t('letter'),
        `1. ${t('first')}\n2. ${t('second')}`,
        `> ${t('quote')}`,
        '```\nheating: off\n```',
        '---',
        `[${t('manual')}](https://example.com/manual)`,
      ].join('\n\n'),
      { state: temp },
    ),
  'ulm-card': ({ t }) => text(`:::card ${t('living')}\n${t('warm')}\n:::`, { state: temp }),
  'ulm-form': ({ t }) =>
    text(
      `:::form id=order title="${t('shopping')}"\nwhat "${t('what')}": input(required)\n:::\n\n[${t('send')}](@action:add submit=order)`,
    ),
  'ulm-table': ({ t, visits }) =>
    text(
      `:::table query=visits pageSize=4 search title="${t('week')}"\n${t('what')} | ${t('amount')}\n{{who}} | **{{amount}}**\n:::`,
      { rows: visits },
    ),
  'ulm-field': ({ t }) =>
    text(
      [
        ':::form id=kinds action=save',
        `what "${t('what')}": input(required, max=40)`,
        `amount "${t('amount')}": number(value=1)`,
        `note "${t('note')}": area`,
        `code "${t('code')}": secret`,
        `day "${t('date')}": date`,
        `hour "${t('time')}": time`,
        `remind "${t('remind')}": check`,
        `mode "${t('mode')}": choice(day="${t('day')}", night="${t('night')}")`,
        `size "${t('size')}": chips("${t('small')}", "${t('large')}")`,
        ':::',
      ].join('\n'),
    ),
  'ulm-action': ({ t }) =>
    text(`[${t('on')}](@action:lamp_on room=living)\n[${t('off')}](@action:lamp_off room=living)`),
};

/** By the ids of the parts they are for. */
export function examplesIn(language: Language): Readonly<Record<Part['id'], Example>> {
  const words = wordsIn(language);
  return Object.fromEntries(Object.entries(examples).map(([id, make]) => [id, make(words)]));
}
