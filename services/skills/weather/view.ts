// The screen of `weather` as ui/v0. Pure.
import { localizer } from '../../../firmware/text/i18n.ts';
import type { View } from '../../../firmware/ui/schema.ts';
import { weatherText } from './texts.ts';

const labels = ['title', 'now', 'hours', 'refresh', 'simulated'] as const;

/** @param made whether the weather is made up, which the screen must say */
export function weatherView(made: boolean): View {
  const say = localizer(weatherText);
  const t = (key: (typeof labels)[number]) => `{{meta.texts.${key}}}`;
  return {
    schema: 'ui/v0',
    meta: { title: t('title'), texts: Object.fromEntries(labels.map((key) => [key, say(key)])) },
    layout: {
      type: 'stack',
      gap: 12,
      children: [
        { type: 'title', text: '{{state.place}}' },
        ...(made ? [{ type: 'badge', text: t('simulated') }] : []),
        { type: 'metric', label: t('now'), value: '{{state.temp_c}} °C, {{state.sky}}' },
        {
          type: 'card',
          title: t('hours'),
          child: {
            type: 'chart.line',
            series: [{ label: '°C', x: 'at', y: 'temp_c', data: '{{state.hours}}' }],
          },
        },
        { type: 'text', text: '{{state.note}}' },
        {
          type: 'button',
          label: t('refresh'),
          icon: 'refresh',
          action: { type: 'http.post', path: '/skills/weather/v1/refresh', body: {} },
        },
      ],
    },
  };
}
