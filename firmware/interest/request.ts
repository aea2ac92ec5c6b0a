// What a subscriber sends: its schema and its check. Pure.
import * as T from 'typebox';
import { faultsOf, refusal, SAYS } from '../protocol/endpoint/check.ts';
import { durationForm, msOf } from './duration.ts';
import type { Area } from './wanted.ts';

const closed = { additionalProperties: false };
const duration = (description: string) =>
  T.String({ pattern: durationForm, [SAYS]: 'must be a duration, as 30s, 5m, 8h or 1d', description });

const stream = T.Object(
  {
    topic: T.String({
      maxLength: 128,
      pattern: '^[a-z0-9_-]+(\\.[a-z0-9_-]+)*$',
      [SAYS]: 'must be a topic, as weather.update',
      description: 'Topic of the stream.',
    }),
    area: T.Optional(
      T.Object(
        {
          lat: T.Number({ minimum: -90, maximum: 90 }),
          lon: T.Number({ minimum: -180, maximum: 180 }),
          radius_km: T.Number({ minimum: 0, maximum: 20_100 }),
        },
        { ...closed, description: 'A circle: degrees (WGS 84) and kilometres.' },
      ),
    ),
    period: duration('How often it wants to hear; 10 s to 1 d.'),
    ttl: duration('How long the subscription lasts; 1 m to 7 d.'),
    format: T.Optional(T.String({ minLength: 1, maxLength: 32, description: 'A hint.' })),
  },
  closed,
);

export const interestSchema = T.Object(
  { streams: T.Array(stream, { minItems: 1, maxItems: 8 }) },
  {
    ...closed,
    $id: 'urn:ingle:schema:interest',
    title: 'Ingle interest request',
    description: 'POST /v1/interest of a skill that supports declarative interest.',
  },
);

/** One stream as it was asked for. */
export interface Stream {
  topic: string;
  area?: Area;
  format?: string;
  period_ms: number;
  ttl_ms: number;
}

const BOUNDS = { period: [10_000, 86_400_000], ttl: [60_000, 7 * 86_400_000] } as const;

/** What the schema does not say: bounds of durations, and a subscription that ends before it is served again. */
function crossFaults(streams: readonly Stream[]) {
  return streams.flatMap(({ period_ms: period, ttl_ms: ttl }, i) => {
    const at = (name: string, says: string) => ({ pointer: `/streams/${i}/${name}`, says });
    if (period < BOUNDS.period[0] || period > BOUNDS.period[1]) return [at('period', 'must be 10 s to 1 d')];
    if (ttl < BOUNDS.ttl[0] || ttl > BOUNDS.ttl[1]) return [at('ttl', 'must be 1 m to 7 d')];
    return period > ttl ? [at('period', 'is longer than the ttl')] : [];
  });
}

/** @throws IngleError `invalid_request` with every fault */
export function checkInterest(body: unknown): Stream[] {
  const faults = faultsOf(interestSchema, body);
  if (faults.length > 0) throw refusal(faults, "The request's");
  const streams = (body as T.Static<typeof interestSchema>).streams.map(
    ({ topic, area, format, period, ttl }): Stream => ({
      topic,
      ...(area ? { area } : {}),
      ...(format === undefined ? {} : { format }),
      period_ms: msOf(period),
      ttl_ms: msOf(ttl),
    }),
  );
  const more = crossFaults(streams);
  if (more.length > 0) throw refusal(more, "The request's");
  return streams;
}
