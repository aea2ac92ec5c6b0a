// The screen of hub_status as ui/v0. Pure.
import { hubStatusText } from '../../../firmware/text/hub_status.ts';
import { localizer } from '../../../firmware/text/i18n.ts';
import type { View } from '../../../firmware/ui/schema.ts';

type Key = keyof (typeof hubStatusText)['en'];
const labels = [
  ...([
    'title',
    'root',
    'uptime',
    'cpu',
    'memory',
    'load',
    'sockets',
    'routes',
    'versions',
    'kernel',
  ] as const),
  ...(['services', 'service', 'state', 'refresh'] as const),
];

/** The view: its texts are in `meta.texts` in every language, all that moves is a binding to the state. */
export function hubStatusView(): View {
  const say = localizer(hubStatusText);
  const t = (key: Key) => `{{meta.texts.${key}}}`;
  const series = (label: string, y: string) => ({ label, x: 'at', y, data: '{{state.samples}}' });
  return {
    schema: 'ui/v0',
    meta: { title: t('title'), texts: Object.fromEntries(labels.map((key) => [key, say(key)])) },
    layout: {
      type: 'stack',
      gap: 12,
      children: [
        { type: 'title', text: '{{state.name}}' },
        {
          type: 'row',
          gap: 8,
          children: [
            { type: 'badge', text: `${t('root')}: {{state.link.text}}`, icon: 'cloud' },
            { type: 'badge', text: 'Ingle {{state.versions.ingle}}' },
          ],
        },
        {
          type: 'row',
          gap: 8,
          children: [
            { type: 'metric', label: t('uptime'), value: '{{state.uptime.text}}' },
            { type: 'metric', label: t('cpu'), value: '{{state.cpu.percent}} %' },
            { type: 'metric', label: t('memory'), value: '{{state.memory.text}}' },
          ],
        },
        {
          type: 'row',
          gap: 8,
          children: [
            { type: 'metric', label: t('sockets'), value: '{{state.link.sockets}}' },
            { type: 'metric', label: t('routes'), value: '{{state.link.pending}}' },
          ],
        },
        {
          type: 'card',
          title: t('load'),
          child: { type: 'chart.line', series: [series(t('cpu'), 'cpu'), series(t('memory'), 'memory')] },
        },
        {
          type: 'card',
          title: t('services'),
          child: {
            type: 'table',
            columns: [
              { key: 'unit', label: t('service') },
              { key: 'state', label: t('state') },
            ],
            rows: '{{state.services}}',
          },
        },
        {
          type: 'card',
          title: t('versions'),
          child: {
            type: 'text',
            text: `Node {{state.versions.node}}, SQLite {{state.versions.sqlite}}, ${t('kernel')} {{state.versions.kernel}}`,
          },
        },
        {
          type: 'row',
          gap: 8,
          justify: 'end',
          children: [
            { type: 'text', text: '{{state.refresh.text}}' },
            {
              type: 'button',
              label: t('refresh'),
              icon: 'refresh',
              action: { type: 'http.post', path: '/skills/hub_status/v1/refresh', body: {} },
            },
          ],
        },
      ],
    },
  };
}
