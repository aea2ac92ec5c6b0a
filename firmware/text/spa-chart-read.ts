// Texts of what is read in a chart: its values as a table, and a point at a time.
import type { Text, Texts } from './i18n.ts';

const en = {
  chart_time: 'Time',
  chart_read: 'Values, point by point',
} as const;

const ru: Record<keyof typeof en, Text> = {
  chart_time: 'Время',
  chart_read: 'Значения по точкам',
};

export const spaChartReadTexts: Texts<keyof typeof en> = { en, ru };
