// The screen of `logs` as ui/v0. Pure.
import { press, row, screen } from '../../../firmware/skills/screen.ts';
import type { View, ViewNode } from '../../../firmware/ui/schema.ts';
import { levels } from './lines.ts';
import { logsText } from './texts.ts';

export interface Shown {
  /** Services there are. */
  units: readonly string[];
  live: boolean;
  trouble: boolean;
  empty: boolean;
}

const filter = '/skills/logs/v1/filter';

/** What is there to choose changes with the state. */
export function logsView(s: Shown): View {
  return screen(logsText, (t) => {
    const select = (set: 'level' | 'unit', options: { label: string; value: string }[]): ViewNode => ({
      type: 'select',
      label: t(set),
      bind: `{{state.filter.${set}}}`,
      options,
      action: { type: 'http.post', path: filter, body: { set } },
    });
    const list: ViewNode = {
      type: 'table',
      title: t('title'),
      columns: (['time', 'unit', 'level', 'text'] as const).map((key) => ({ key, label: t(key) })),
      rows: '{{state.rows}}',
    };
    return [
      row([
        select(
          'level',
          levels.map((l) => ({ label: t(l), value: l })),
        ),
        select('unit', [{ label: t('all'), value: '' }, ...s.units.map((u) => ({ label: u, value: u }))]),
      ]),
      {
        type: 'form',
        label: t('find'),
        fields: [{ key: 'value', label: t('search'), value: '{{state.filter.text}}' }],
        action: { type: 'http.post', path: filter, body: { set: 'text' } },
      },
      row(
        [
          { type: 'text', text: `{{state.found}} ${t(s.live ? 'live' : 'paused')}` },
          press(t(s.live ? 'pause' : 'follow'), '/skills/logs/v1/live', { body: { on: !s.live } }),
        ],
        { justify: 'between' },
      ),
      ...(s.trouble ? [{ type: 'card', child: { type: 'text', text: '{{state.trouble}}' } }] : []),
      s.empty ? { type: 'empty', text: t('empty') } : list,
      { type: 'text', text: t('removed') },
    ];
  });
}
