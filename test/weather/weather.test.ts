// The skill `weather` against stand-ins of its providers. MET Norway's answers with a date of their own are recorded ones
// (recorded/); those of now, and Open-Meteo's, are written after the public documentation (locationforecast 2.0,
// Open-Meteo's forecast and geocoding APIs), with made-up values.
import { readFileSync } from 'node:fs';
import { mock } from 'node:test';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { faultsOf } from '../../firmware/protocol/endpoint/check.ts';
import type { SkillContext } from '../../firmware/skills/sdk/skill.ts';
import { startSkill, type TestFetch, type TestFetched } from '../../firmware/skills/sdk/test.ts';
import { after, afterFailure, mayAsk } from '../../firmware/weather/pace.ts';
import { providers } from '../../firmware/weather/providers.ts';
import { simulated, weatherSchema } from '../../firmware/weather/report.ts';
import manifest from '../../services/skills/weather/manifest.json' with { type: 'json' };
import { skill } from '../../services/skills/weather/skill.ts';
import { weatherSource } from '../../services/skills/weather/source.ts';

const test = suite('weather');
const HOUR = 3_600_000;
const hour = Math.floor(Date.now() / HOUR) * HOUR;
const met = () => ({
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [10.7461, 59.9127, 5] },
  properties: {
    meta: { updated_at: new Date(hour).toISOString(), units: { air_temperature: 'celsius' } },
    timeseries: Array.from({ length: 30 }, (_, i) => ({
      time: new Date(hour + i * HOUR).toISOString(),
      data: {
        instant: { details: { air_temperature: 3.5 + i } },
        next_1_hours: {
          summary: { symbol_code: i === 0 ? 'lightrainshowers_day' : 'clearsky_day' },
          details: {},
        },
      },
    })),
  },
});
const openMeteo = () => ({
  latitude: 59.92,
  longitude: 10.74,
  hourly: {
    time: Array.from({ length: 30 }, (_, i) => hour / 1000 + i * 3600),
    temperature_2m: Array.from({ length: 30 }, () => -1.5),
    weather_code: Array.from({ length: 30 }, () => 73),
  },
});
const oslo = {
  results: [{ id: 1, name: 'Oslo', latitude: 59.91273, longitude: 10.74609, country: 'Norway' }],
};

async function begin(answer: (q: TestFetch) => TestFetched) {
  const asked: TestFetch[] = [];
  const s = await startSkill(skill, {
    manifest,
    fetch(q) {
      asked.push(q);
      return answer(q);
    },
  });
  await s.attach('ann');
  return { s, asked };
}
const all = (q: TestFetch): TestFetched => {
  if (q.url.includes('geocoding')) return { body: oslo };
  return { body: q.url.includes('met.no') ? met() : openMeteo() };
};
const place = { name: 'Oslo', lat: 59.912731234, lon: 10.74609 };

test('hours for which a provider has no values yet are left out', () => {
  const [, provider] = providers;
  const some = openMeteo();
  const temperature_2m: (number | null)[] = some.hourly.temperature_2m.map((t, i) => (i > 4 ? null : t));
  const weather_code: (number | null)[] = some.hourly.weather_code.map((c, i) => (i > 3 ? null : c));
  const now = hour + 60_000;
  const report = provider!.read({ ...some, hourly: { ...some.hourly, temperature_2m, weather_code } }, now);
  assert.is(report.temp_c, -1.5);
  assert.is(report.forecast?.length, 3);
  const none = { ...some.hourly, temperature_2m: some.hourly.temperature_2m.map(() => null) };
  assert.throws(() => provider!.read({ ...some, hourly: none }, now), 'not known');
});

const recorded = JSON.parse(readFileSync('test/weather/recorded/met-norway.json', 'utf8'));
const [metNorway] = providers;

test('a recorded forecast is read as it was at its time: by the hour, and in steps of six hours days ahead', () => {
  const at = (time: string) => metNorway!.read(recorded, Date.parse(time));
  const { forecast: hours, ...now } = at('2022-08-02T16:10:00Z');
  assert.equal(now, { ts: '2022-08-02T16:00:00.000Z', temp_c: 25.4, conditions: 'partly_cloudy' });
  assert.is(hours!.length, 24);
  assert.equal([hours![0]!.ts, hours!.at(-1)!.ts], ['2022-08-02T17:00:00.000Z', '2022-08-03T16:00:00.000Z']);
  const later = at('2022-08-04T23:30:00Z');
  assert.equal([later.ts, later.temp_c], ['2022-08-04T23:00:00.000Z', stepAt('2022-08-04T23:00:00Z')]);
  assert.equal(
    later.forecast!.map((p) => p.ts.slice(8, 13)),
    ['05T00', '05T06', '05T12', '05T18'],
  );
  // A day at a time, from its first step to its last, nothing of it is refused, and nothing looks further than a day.
  const seen = new Set<string>();
  for (let t = Date.parse('2022-08-02T15:00:00Z'); t <= Date.parse('2022-08-11T18:00:00Z'); t += HOUR) {
    const r = metNorway!.read(recorded, t);
    seen.add(r.conditions);
    assert.equal(faultsOf(weatherSchema, { ...r, place: 'x' }), []);
    assert.is(r.temp_c, stepAt(r.ts));
    for (const p of r.forecast!)
      assert.ok(Date.parse(p.ts) > Date.parse(r.ts) && Date.parse(p.ts) <= t + 24 * HOUR);
  }
  assert.equal([...seen].sort(), ['clear', 'cloudy', 'partly_cloudy', 'rain']);
});

/** What the recording itself has for a time. */
function stepAt(time: string): number {
  const at = Date.parse(time);
  const steps = recorded.properties.timeseries as {
    time: string;
    data: { instant: { details: { air_temperature: number } } };
  }[];
  return steps.find((s) => Date.parse(s.time) === at)!.data.instant.details.air_temperature;
}

test('a forecast that is over is no answer, and the other provider is asked', async () => {
  assert.throws(() => metNorway!.read(recorded, Date.parse('2022-08-20T00:00:00Z')), 'is over');
  const { s, asked } = await begin((q) => (q.url.includes('met.no') ? { body: recorded } : all(q)));
  await s.request('POST', '/v1/place', { body: place });
  assert.is(s.state()['temp_c'], -1.5);
  assert.match(JSON.stringify(s.state()['note']), 'Open-Meteo');
  assert.is(asked.length, 2);
});

test('a recorded forecast is on the screen at its time, credited to whom it is of', async () => {
  mock.timers.enable({ apis: ['Date'], now: Date.parse('2022-08-02T16:10:00Z') });
  try {
    const { s } = await begin(() => ({ body: recorded }));
    await s.request('POST', '/v1/place', { body: { name: 'Neustrelitz', lat: 53.5, lon: 13 } });
    const state = s.state();
    assert.equal(
      [state['place'], state['temp_c'], state['conditions'], state['simulated']],
      ['Neustrelitz', 25.4, 'partly_cloudy', false],
    );
    assert.is((state['hours'] as unknown[]).length, 24);
    assert.match(JSON.stringify(state['note']), 'MET Norway');
  } finally {
    mock.timers.reset();
  }
});

test('until a place is set the weather is made up, nobody is asked, and the screen says so', async () => {
  const { s, asked } = await begin(all);
  assert.equal(asked, []);
  assert.is(s.state()['simulated'], true);
  assert.match(JSON.stringify(s.view()), 'meta.texts.simulated');
  assert.match(JSON.stringify(s.state()['note']), /made up.*вымышленная/);
});

test('a place by name shows its weather, which is asked for once while it is fresh', async () => {
  const { s, asked } = await begin(all);
  const r = await s.request('POST', '/v1/place', { body: { name: ' Oslo ' } });
  assert.equal(r.body, { name: 'Oslo', lat: 59.91273, lon: 10.74609 });
  const state = s.state();
  assert.equal(
    [state['place'], state['temp_c'], state['conditions'], state['simulated']],
    ['Oslo', 3.5, 'rain', false],
  );
  assert.is((state['hours'] as unknown[]).length, 24);
  assert.not.match(JSON.stringify(s.view().layout), 'meta.texts.simulated');
  assert.match(JSON.stringify(state['note']), 'MET Norway');
  for (let i = 0; i < 3; i++) await s.request('POST', '/v1/refresh');
  await s.restart({ killed: true });
  await s.request('GET', '/v1/state');
  assert.equal(
    asked.map((q) => new URL(q.url).hostname),
    ['geocoding-api.open-meteo.com', 'api.met.no'],
  );
  assert.match(asked[1]!.url, /lat=59\.9127&lon=10\.7461$/);
});

test('where one provider fails the other stands in, and neither is asked in a storm', async () => {
  for (const broken of [
    { status: 429 },
    { status: 503 },
    { body: '<html>' },
    { body: { properties: {} } },
    { body: null },
  ]) {
    const { s, asked } = await begin((q) => (q.url.includes('met.no') ? (broken as TestFetched) : all(q)));
    await s.request('POST', '/v1/place', { body: place });
    await s.request('POST', '/v1/refresh');
    assert.equal(
      [s.state()['conditions'], s.state()['temp_c'], asked.length],
      ['snow', -1.5, 2],
      JSON.stringify(broken),
    );
  }
});

test('an answer that has expired is asked for with its date, and one that has not changed is kept for as long as it says', async () => {
  const { s } = await begin(all);
  const modified = new Date(hour - HOUR).toUTCString();
  const clock = { now: hour, expires: hour + HOUR };
  const asked: (string | undefined)[] = [];
  const fetch: SkillContext['fetch'] = async (url, { headers = {} } = {}) => {
    asked.push(headers['if-modified-since']);
    const isSame = asked.at(-1) === modified;
    const expires = new Date(clock.expires).toUTCString();
    const said: Record<string, string> = isSame ? { expires } : { expires, 'last-modified': modified };
    return {
      ...{ url, status: isSame ? 304 : 200, ok: !isSame, text: () => '', body: new Uint8Array() },
      headers: said,
      // Of an answer that is not there nothing can be read.
      json: () => (isSame ? assert.unreachable('a 304 has no body') : met()) as never,
    };
  };
  const find = weatherSource(
    { storage: s.storage, fetch, log: { warn() {} } as never },
    () => clock.now,
    () => place,
  );
  const told = async (after: number) => {
    clock.now = hour + after;
    const { kind, report, credit } = await find(place);
    return [kind, report.conditions, credit];
  };
  const fresh = ['real', 'rain', 'MET Norway'];
  assert.equal(await told(0), fresh);
  assert.equal([await told(HOUR - 1000), asked], [fresh, [undefined]], 'before it expires nobody is asked');
  clock.expires = hour + 3 * HOUR;
  assert.equal([await told(HOUR), asked], [fresh, [undefined, modified]]);
  // It is fresh again, as long as it said then, and its date is still known.
  assert.equal([await told(3 * HOUR - 1000), asked.length], [fresh, 2]);
  assert.equal([await told(3 * HOUR), asked.at(-1), asked.length], [fresh, modified, 3]);
});

test('with a place and no network the weather is made up and says why', async () => {
  const { s, asked } = await begin(() => ({ status: 500 }));
  await s.request('POST', '/v1/place', { body: place });
  assert.is(s.state()['simulated'], true);
  assert.match(JSON.stringify(s.state()['note']), 'No weather service answers');
  await s.request('POST', '/v1/refresh');
  assert.is(asked.length, 2);
});

test('who is interested gets weather.update as its schema has it, made-up weather marked as such', async () => {
  const { s } = await begin(all);
  const streams = [{ topic: 'weather.update', period: '5m', ttl: '12m' }];
  await s.request('POST', '/v1/interest', { body: { streams } });
  await s.advance(0);
  await s.request('POST', '/v1/place', { body: place });
  await s.advance(HOUR);
  assert.is(s.published.length, 3);
  for (const { topic, payload } of s.published) {
    assert.is(topic, 'weather.update');
    assert.equal(faultsOf(weatherSchema, payload), []);
  }
  const places = s.published.map((p) => (p.payload as { place: string }).place);
  assert.equal(places, ['- (simulated)', 'Oslo', 'Oslo']);
});

test('a program asks for the weather of the house or of another place, which stays as it is', async () => {
  const { s } = await begin(all);
  const now = async (body: object = {}) => {
    const r = await s.request('POST', '/v1/actions/now', { body: body as never });
    assert.equal(faultsOf(weatherSchema, r.body), []);
    return (r.body as { place: string }).place;
  };
  assert.is(await now(), '- (simulated)');
  assert.is(await now({ name: 'Oslo' }), 'Oslo');
  assert.is(await now({ name: 'The hut', lat: 1, lon: 2 }), 'The hut');
  assert.is(await now(), '- (simulated)', 'nobody has moved the house');
});

test('other places that are asked about make the answers of the house no older, and are not written down', async () => {
  const { s, asked } = await begin(all);
  await s.request('POST', '/v1/place', { body: place });
  const before = s.storage.keys();
  const now = (body: object = {}) => s.request('POST', '/v1/actions/now', { body: body as never });
  for (let i = 0; i < 6; i++) await now({ name: 'A hut', lat: i, lon: 2 });
  assert.equal(s.storage.keys(), before);
  const known = asked.length;
  const e = await now({ name: 'A hut', lat: 7, lon: 2 }).catch((cause) => cause);
  assert.equal([e.code, e.details.retry_after], ['rate_limited', 60]);
  assert.match(e.message, /in a minute/);
  assert.is(((await now()).body as { place: string }).place, 'Oslo');
  assert.is(asked.length, known, 'what is fresh is not asked for again');
});

test('another place that is asked about again is asked of nobody while its answer is fresh, also that of the house', async () => {
  const { s, asked } = await begin(all);
  await s.request('POST', '/v1/place', { body: place });
  const now = (body: object) => s.request('POST', '/v1/actions/now', { body: body as never });
  await now({ name: 'A hut', lat: 1, lon: 2 });
  await now({ name: 'A hut', lat: 1, lon: 2 });
  await now({ ...place, name: 'Home' });
  assert.is(asked.length, 2);
});

test('places that are asked for by area make way for each other, and never the house for one', async () => {
  const { s, asked } = await begin(all);
  await s.request('POST', '/v1/place', { body: place });
  const house = s.storage.keys().filter((k) => k.startsWith('seen '));
  const find = weatherSource(
    { storage: s.storage, fetch: async () => Promise.reject(new Error('none')), log: { warn() {} } as never },
    Date.now,
    () => place,
  );
  for (let i = 0; i < 20; i++) await find({ name: 'area', lat: i, lon: 3 });
  const kept = s.storage.keys().filter((k) => k.startsWith('seen '));
  assert.is(kept.length, 9, 'eight beside the house');
  assert.ok(kept.includes(house[0]!));
  assert.ok(kept.includes('seen 19 3'));
  assert.is(asked.length, 1);
});

test('weather that is hours old is not told as that of now', async () => {
  const { s } = await begin(() => ({ status: 500 }));
  await s.request('POST', '/v1/place', { body: place });
  const at = async (age: number) => {
    const answer = { provider: 'met', report: simulated(hour - age) };
    await s.storage.set('seen 59.9127 10.7461', { asked: {}, answer } as never);
    return s.request('POST', '/v1/actions/now', { body: {} }).catch((cause) => cause);
  };
  assert.is((await at(HOUR)).body.ts, new Date(hour - HOUR).toISOString());
  const e = await at(5 * HOUR);
  assert.is(e.code, 'unavailable');
  assert.match(e.message, /Check the network/);
});

test('a place that is none is refused with the next step', async () => {
  const { s } = await begin((q) => (q.url.includes('geocoding') ? { body: {} } : all(q)));
  const codeOf = (body: object) =>
    s.request('POST', '/v1/place', { body: body as never }).then(
      () => 'taken',
      (e) => e.code,
    );
  assert.is(await codeOf({ name: 'Nowhere' }), 'not_found');
  for (const body of [
    {},
    { name: 'x' },
    { name: 'x'.repeat(101) },
    { ...place, lat: 91 },
    { name: 'Oslo', lon: 1 },
  ])
    assert.is(await codeOf(body), 'invalid_request', JSON.stringify(body));
});

test('a provider is asked when its answer expires, and ever later after failures', () => {
  const now = Date.UTC(2026, 0, 1);
  const at = (ms: number) => new Date(now + ms).toUTCString();
  const a = after({ expires: at(HOUR), 'last-modified': at(-HOUR) }, now);
  assert.equal(a, { next: now + HOUR, failures: 0, modified: at(-HOUR) });
  assert.is(after({}, now).next, now + 600_000);
  assert.is(after({ expires: at(1e9) }, now).next, now + 6 * HOUR);
  let f = afterFailure(a, now, 0);
  const waits = [f.next - now];
  for (let i = 0; i < 12; i++) {
    f = afterFailure(f, now, 0);
    waits.push(f.next - now);
  }
  assert.equal(waits.slice(0, 3), [60_000, 120_000, 240_000]);
  assert.is(waits.at(-1), 6 * HOUR);
  assert.is(afterFailure(undefined, now, 1).next, now + 90_000);
  assert.is(f.modified, at(-HOUR));
  assert.not.ok(mayAsk(a, now + HOUR - 1));
  assert.ok(mayAsk(a, now + HOUR));
  assert.ok(mayAsk(a, now - 30 * 24 * HOUR), 'a clock that was set back');
});

test('an answer that lies is no report', () => {
  const [m, o] = providers as [(typeof providers)[0], (typeof providers)[0]];
  const hot = met();
  hot.properties.timeseries[0]!.data.instant.details.air_temperature = 1e9;
  for (const json of [null, 1, [], {}, { properties: { timeseries: [] } }, hot])
    assert.throws(() => m.read(json, hour), /not known/);
  assert.throws(
    () => o.read({ hourly: { time: [1], temperature_2m: [], weather_code: [] } }, hour),
    /not known/,
  );
  assert.equal(faultsOf(weatherSchema, { ...simulated(hour), place: 'x' }), []);
});

test("its window and its page are what every program may ask for, in the reader's language", async () => {
  const { s } = await begin(all);
  const m = await s.request('GET', '/v1/ui/manifest');
  assert.equal(m.body, {
    title: 'Weather',
    icon: 'cloud',
    modes: ['modal', 'panel'],
    sizeHints: { w: 480, h: 520 },
  });
  assert.is(((await s.request('GET', '/v1/ui/manifest?lang=ru')).body as { title: string }).title, 'Погода');
  await s.request('POST', '/v1/place', {
    body: { name: '<img src=x onerror=alert(1)>', lat: 59.9, lon: 10.7 },
  });
  const page = String((await s.request('GET', '/v1/ui/panel?lang=ru')).body);
  assert.match(page, '3,5 °C'.replace(',', '.'));
  assert.match(page, 'Сейчас');
  assert.match(page, '&#60;img src=x');
  assert.not.match(page, /<img|<script|\{\{/);
});

test.run();
