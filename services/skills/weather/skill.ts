// weather: what it is like at a place, from two services, published on weather.update for whoever asks.
import { openBucket, rate, take } from '../../../firmware/protocol/bucket.ts';
import { IngleError } from '../../../firmware/protocol/errors.ts';
import type {
  Json,
  JsonObject,
  Skill,
  SkillContext,
  SkillDefinition,
  Wanted,
} from '../../../firmware/skills/sdk/skill.ts';
import { type Localized, localized, localizer } from '../../../firmware/text/i18n.ts';
import { geocoderUrl, readPlace } from '../../../firmware/weather/providers.ts';
import type { Conditions, Place, Weather } from '../../../firmware/weather/report.ts';
import { type Found, weatherSource } from './source.ts';
import { weatherText } from './texts.ts';
import { weatherView } from './view.ts';

const TOPIC = 'weather.update';
/** So often other places are asked about: some at once, then one a minute. */
const OTHERS = rate(6, 1 / 60);
/** What is older is no weather of now, milliseconds. */
const STALE = 3 * 3_600_000;
const t = localizer(weatherText);

/** What is published: made-up weather says so in its place, as the payload has no other field for it. */
const payloadOf = (place: Place | undefined, { report, kind }: Found): Weather => ({
  ...report,
  place: kind === 'simulated' ? `${place?.name ?? '-'} (simulated)` : place!.name,
});

function noteOf(place: Place | undefined, { report, kind, credit }: Found): Localized {
  if (kind === 'real') return t('real', { credit });
  if (kind === 'old') return t('old', (l) => ({ time: new Date(report.ts).toLocaleString(l) }));
  return t(place ? 'noNetwork' : 'noPlace');
}

const stateOf = (place: Place | undefined, found: Found): JsonObject => ({
  place: place?.name ?? t('title'),
  temp_c: found.report.temp_c,
  conditions: found.report.conditions,
  sky: t(found.report.conditions as Conditions),
  simulated: found.kind === 'simulated',
  ts: found.report.ts,
  hours: (found.report.forecast ?? []).map((p) => ({ at: Date.parse(p.ts), temp_c: p.temp_c })),
  note: noteOf(place, found),
  brief: localized((l) => {
    const sky = t(found.report.conditions as Conditions).i18n[l];
    return found.kind === 'simulated' ? `${sky}, ${t('simulated').i18n[l]}` : `${sky}, ${place!.name}`;
  }),
});

/** A place by hand: a name with both coordinates. */
function placeByHand({ name, lat, lon }: JsonObject): Place | undefined {
  const isIn = (n: unknown, most: number): n is number => typeof n === 'number' && Math.abs(n) <= most;
  return typeof name === 'string' && isIn(lat, 90) && isIn(lon, 180) ? { name, lat, lon } : undefined;
}

function start(ctx: SkillContext): Skill {
  const here = () => ctx.storage.get<never>('place') as Place | undefined;
  const find = weatherSource(ctx, Date.now, here);
  const others = openBucket(OTHERS, Date.now());
  let shown: boolean | undefined;

  async function look(): Promise<JsonObject> {
    const place = here();
    const found = await find(place);
    const state = stateOf(place, found);
    const made = found.kind === 'simulated';
    for (const owner of ctx.owners()) {
      if (made !== shown) ctx.setView(owner, weatherView(made) as unknown as JsonObject);
      ctx.setState(owner, state);
    }
    shown = made;
    return state;
  }
  const quietly = () => void look().catch((cause) => ctx.log.warn('the weather cannot be shown', { cause }));

  /** The weather as it is published. */
  const tell = async (place: Place | undefined) => payloadOf(place, await find(place)) as unknown as Json;

  async function placeOf(body: JsonObject): Promise<Place> {
    const { name } = body;
    if (typeof name !== 'string' || name.trim().length < 2 || name.length > 100)
      throw new IngleError(
        'invalid_request',
        'Give the name of a place, 2 to 100 characters, as {"name": "Oslo"}.',
      );
    if (body['lat'] !== undefined || body['lon'] !== undefined) {
      const place = placeByHand(body);
      if (place) return place;
      throw new IngleError(
        'invalid_request',
        'By hand a place has "lat" (-90 to 90) and "lon" (-180 to 180), in degrees.',
      );
    }
    const r = await ctx.fetch(geocoderUrl(name.trim(), ctx.language));
    if (!r.ok)
      throw new IngleError('unavailable', 'Places cannot be looked up now. Give "lat" and "lon" as well.');
    const place = readPlace(r.json());
    if (!place) throw new IngleError('not_found', 'No such place was found. Give "lat" and "lon" as well.');
    return place;
  }

  /** What a program is told; of another place than the house's if the body has one. @throws IngleError */
  async function now(body: JsonObject): Promise<Json> {
    const isOther = Object.keys(body).length > 0;
    if (isOther && !take(others, OTHERS, Date.now()))
      throw new IngleError(
        'rate_limited',
        'The weather of too many places was asked for. Ask again in a minute; at the place of the house it is told at once.',
        { retry_after: 60 },
      );
    const place = isOther ? await placeOf(body) : here();
    const found = await find(place, isOther);
    if (found.kind === 'old' && Date.now() - Date.parse(found.report.ts) > STALE)
      throw new IngleError(
        'unavailable',
        `No weather service has answered since ${found.report.ts}. Check the network of the hub, then ask again.`,
      );
    return payloadOf(place, found) as unknown as Json;
  }

  return {
    attached(owner) {
      ctx.setView(owner, weatherView(true) as unknown as JsonObject);
      shown = undefined;
      quietly();
    },
    watched(_owner, viewers) {
      if (viewers > 0) quietly();
    },
    async wanted(due: Wanted[]) {
      for (const { topic, area } of due)
        if (topic === TOPIC) {
          const centre = area && { name: `${area.lat}, ${area.lon}`, lat: area.lat, lon: area.lon };
          ctx.publish(TOPIC, await tell(centre ?? here()));
        }
      await look();
    },
    endpoints: [
      { method: 'GET', path: '/v1/state', answer: async () => ({ body: await look() }) },
      {
        method: 'POST',
        path: '/v1/refresh',
        answer: async () => {
          const state = await look();
          return { body: { ts: state['ts']!, simulated: state['simulated']! } };
        },
      },
      {
        method: 'POST',
        path: '/v1/actions/now',
        answer: async ({ body }) => ({ body: await now(body) }),
      },
      {
        method: 'POST',
        path: '/v1/place',
        answer: async ({ body }) => {
          const place = await placeOf(body);
          await ctx.storage.set('place', { ...place });
          await look();
          return { body: { ...place } };
        },
      },
    ],
  };
}

export const skill: SkillDefinition = { start };
