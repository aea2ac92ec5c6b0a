// The screen of `weather` as ui/v0. Pure.
import { press, screen } from '../../../firmware/skills/screen.ts';
import type { View } from '../../../firmware/ui/schema.ts';
import { weatherText } from './texts.ts';

/** @param made whether the weather is made up, which the screen must say */
export function weatherView(made: boolean): View {
  return screen(weatherText, (t) => [
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
      type: 'form',
      label: t('setPlace'),
      fields: [{ key: 'name', label: t('placeName') }],
      action: { type: 'http.post', path: '/skills/weather/v1/place', body: {} },
    },
    press(t('refresh'), '/skills/weather/v1/refresh', { icon: 'refresh' }),
  ]);
}
