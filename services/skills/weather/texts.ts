// Texts of the skill `weather`.
import type { Text } from '../../../firmware/text/i18n.ts';

const en = {
  title: 'Weather',
  now: 'Now',
  hours: 'Next 24 hours, °C',
  refresh: 'Refresh',
  placeName: 'Place, as "Oslo"',
  setPlace: 'Set the place',
  simulated: 'simulated',
  real: 'Data: {credit}',
  noPlace: 'No place is set, so this weather is made up.',
  noNetwork: 'No weather service answers, so this weather is made up.',
  old: 'From {time}; no newer data could be had.',
  clear: 'Clear',
  partly_cloudy: 'Partly cloudy',
  cloudy: 'Cloudy',
  fog: 'Fog',
  rain: 'Rain',
  snow: 'Snow',
  thunder: 'Thunderstorm',
} as const;

const ru: Record<keyof typeof en, Text> = {
  title: 'Погода',
  now: 'Сейчас',
  hours: 'Ближайшие 24 часа, °C',
  refresh: 'Обновить',
  placeName: 'Место, например «Осло»',
  setPlace: 'Задать место',
  simulated: 'имитация',
  real: 'Данные: {credit}',
  noPlace: 'Место не задано, поэтому погода вымышленная.',
  noNetwork: 'Ни одна служба погоды не отвечает, поэтому погода вымышленная.',
  old: 'Данные от {time}; более новых получить не удалось.',
  clear: 'Ясно',
  partly_cloudy: 'Переменная облачность',
  cloudy: 'Облачно',
  fog: 'Туман',
  rain: 'Дождь',
  snow: 'Снег',
  thunder: 'Гроза',
};

export const weatherText = { en, ru };
