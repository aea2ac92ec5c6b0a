// What is known of the weather at a place, and what of it is published. Pure.
import * as T from 'typebox';

/** Kinds of weather that are told apart. */
export const conditions = ['clear', 'partly_cloudy', 'cloudy', 'fog', 'rain', 'snow', 'thunder'] as const;
export type Conditions = (typeof conditions)[number];

const closed = { additionalProperties: false };
const time = T.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$' });
const point = { ts: time, temp_c: T.Number({ minimum: -100, maximum: 70 }), conditions: T.String() };

export const weatherSchema = T.Object(
  {
    ...point,
    place: T.String({ minLength: 1, maxLength: 200 }),
    forecast: T.Optional(T.Array(T.Object(point, closed), { maxItems: 48 })),
  },
  {
    ...closed,
    $id: 'urn:ingle:schema:weather-update',
    title: 'Ingle weather update',
    description: 'What comes on the bus topic weather.update.',
  },
);
export type Weather = T.Static<typeof weatherSchema>;

export interface Place {
  name: string;
  /** Degrees, WGS 84. */
  lat: number;
  lon: number;
}
export type Report = Omit<Weather, 'place'>;

/** Coordinates with the four decimals that providers ask for at most. */
export const cut = (degrees: number): string => String(Number(degrees.toFixed(4)));

/** Weather made up for those who have no place or no network: the same each day. */
export function simulated(now: number): Report {
  const HOUR = 3_600_000;
  const at = (ms: number) => {
    const hour = new Date(ms).getUTCHours();
    const temp_c = Math.round(10 * (12 - 6 * Math.cos(((hour - 3) * Math.PI) / 12))) / 10;
    return { ts: new Date(ms).toISOString(), temp_c, conditions: conditions[Math.floor(hour / 8)]! };
  };
  const begin = Math.floor(now / HOUR) * HOUR;
  return { ...at(begin), forecast: Array.from({ length: 24 }, (_, i) => at(begin + (i + 1) * HOUR)) };
}
