// The screen of hub_status as ui/v0. Pure.
import { press, row, screen } from '../../../firmware/skills/screen.ts';
import { hubStatusText } from '../../../firmware/text/hub_status.ts';
import type { View } from '../../../firmware/ui/schema.ts';

export function hubStatusView(): View {
  const series = (label: string, y: string) => ({ label, x: 'at', y, data: '{{state.samples}}' });
  const view = screen(hubStatusText, (t) => [
    { type: 'title', text: '{{state.name}}' },
    { type: 'text', text: '{{state.health.text}}' },
    {
      type: 'tabs',
      tabs: [
        {
          label: t('overview'),
          children: [
            row([
              { type: 'metric', label: t('uptime'), value: '{{state.uptime.text}}' },
              { type: 'metric', label: t('cpu'), value: '{{state.cpu.percent}} %' },
              { type: 'metric', label: t('memory'), value: '{{state.memory.text}}' },
            ]),
            {
              type: 'card',
              title: t('load'),
              child: {
                type: 'chart.line',
                series: [series(t('cpu'), 'cpu'), series(t('memory'), 'memory')],
                max: '100',
              },
            },
            row([
              { type: 'badge', text: `${t('root')}: {{state.link.text}}`, icon: 'cloud' },
              { type: 'badge', text: 'Ingle {{state.versions.ingle}}' },
            ]),
          ],
        },
        {
          label: t('inside'),
          children: [
            {
              type: 'table',
              columns: [
                { key: 'unit', label: t('service') },
                { key: 'state', label: t('state') },
              ],
              rows: '{{state.services}}',
            },
            row([
              { type: 'metric', label: t('sockets'), value: '{{state.link.sockets}}' },
              { type: 'metric', label: t('routes'), value: '{{state.link.pending}}' },
            ]),
            {
              type: 'card',
              title: t('versions'),
              child: {
                type: 'text',
                text: `Node {{state.versions.node}}, SQLite {{state.versions.sqlite}}, ${t('kernel')} {{state.versions.kernel}}`,
              },
            },
          ],
        },
      ],
    },
    row(
      [
        { type: 'text', text: '{{state.refresh.text}}' },
        press(t('refresh'), '/skills/hub_status/v1/refresh', { icon: 'refresh' }),
      ],
      { justify: 'end' },
    ),
  ]);
  return { ...view, schema: 'ui/v0.1' };
}
