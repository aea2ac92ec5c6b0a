// timeout: 240 s
// Scenarios that come with the hub do what they are for, with the hub's own skills: each would run and prove nothing
// where a skill has no such path, or a sentence gives another name than the scenario reads.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkManifest } from '../../firmware/skills/manifest.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import type { House } from '../../services/cli/house/house.ts';
import { startHouse } from '../lab/house.ts';
import { tried, until } from '../lab/wait.ts';

type Told = Record<string, unknown>;
interface Context {
  house: House;
  bus: Bus;
  /** Lines on consoles, and what was said to somebody by which way. */
  printed: string[];
  said: Told[];
}
/** A skill of somebody's, with actions that write down what they were given. */
const skill = (id: string, title: string, actions: Record<string, object>) => ({
  manifest: checkManifest({
    ...{ id, version: '1.0.0' },
    capabilities: {
      ...{ visual: true, ui: { title, modes: ['modal'], schema: 'ui/v0' } },
      actions: Object.fromEntries(
        Object.entries(actions).map(([action, properties]) => [
          action,
          {
            ...{ title: action, doc: 'Writes it down.', safe: false },
            input: { type: 'object', properties, additionalProperties: false },
          },
        ]),
      ),
    },
  }),
  code: {
    text: `const got = [];
    export const skill = { start: (ctx) => ({
      attached(owner) {
        ctx.setView(owner, { schema: 'ui/v0', layout: { type: 'text', text: 'x' } });
        ctx.setState(owner, {});
      },
      endpoints: [
        ...${JSON.stringify(Object.keys(actions))}.map((action) => ({
          method: 'POST', path: '/v1/actions/' + action,
          answer: ({ body }) => { got.push([action, body]); return { body: {} }; },
        })),
        { method: 'GET', path: '/v1/got', answer: () => ({ body: { got } }) },
      ],
    }) };`,
  },
});
const tuner = skill('tuner', 'Tuner', { play: { station: { type: 'string' } }, stop: {} });
const speaker = skill('speaker', 'Speaker', { set: { percent: { type: 'number' } } });

const test = suite<Context>('scenarios of the house');
test.before(async (c) => {
  c.house = await startHouse({ installed: [tuner, speaker] });
  c.bus = await c.house.connection();
  [c.printed, c.said] = [[], []];
  await c.bus.subscribe('io.console.print', (_, p) => void c.printed.push((p as { text: string }).text));
  await c.bus.subscribe('io.send', (_, p) => void c.said.push(p as Told));
  await until(
    tried(async () => (await ask(c.house, 'GET', '/skills/shopping/v1/items')).status === 200),
    'the list',
  );
});
test.after((c) => c.house.stop());

async function ask(house: House, method: string, path: string, body?: object) {
  const token = readFileSync(join(house.data, 'hub/api/token'), 'utf8').trim();
  const r = await fetch(house.api + path, {
    method,
    headers: { 'x-service-token': token },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: r.status, body: await r.json() };
}
const stands = async (house: House, run_id: string) =>
  (await ask(house, 'GET', `/api/scenario/status?run_id=${run_id}`)).body.run;
async function ends(house: House, run_id: string): Promise<void> {
  await until(async () => (await stands(house, run_id)).finished_at, 'the end of the run');
  const run = await stands(house, run_id);
  assert.is(run.state, 'DONE', JSON.stringify(run.error));
}
async function say(house: House, text: string, out: string[] = []) {
  const r = await ask(house, 'POST', '/api/intent/recognize', { text, out });
  assert.is(r.status, 200, JSON.stringify(r.body));
  assert.ok(r.body.run_id, `${text}: ${JSON.stringify(r.body)}`);
  return r.body;
}

/** What a run has said, once that is this much: others may speak at the same time, and what it said may come after its end. */
async function saidBy(said: Told[], run_id: string, count: number): Promise<Told[]> {
  const mine = () => said.filter((s) => s['run_id'] === run_id);
  await until(() => mine().length >= count, 'what it says');
  return mine();
}

test('a thing that is said goes on the shopping list, in both languages, once', async ({ house }) => {
  for (const text of ['Add oat milk to the shopping list', 'Нужно купить хлеб', 'we need oat milk'])
    await ends(house, (await say(house, text)).run_id);
  const { items } = (await ask(house, 'GET', '/skills/shopping/v1/items')).body;
  assert.equal(
    items.map((i: { name: string }) => i.name),
    ['oat milk', 'хлеб'],
  );
  const wrong = await ask(house, 'POST', '/skills/shopping/v1/actions/put', { name: '' });
  assert.is(wrong.body.error, 'invalid_request');
});

test('the health of the hub is told where something is wrong, and then it is silent', async ({
  house,
  printed,
  said,
}) => {
  const run = async () => {
    const { run_id } = (await ask(house, 'POST', '/api/scenario/run', { id: 'home/hub_health_alert' })).body;
    let now = await stands(house, run_id);
    await until(async () => {
      now = await stands(house, run_id);
      return now.waits?.for === 'time' || now.finished_at;
    }, 'what it has to say');
    return now;
  };
  // Root comes back by itself, so that one try may find it there again.
  const ill = await until(async () => {
    if (house.pid('root')) house.kill('root');
    const now = await run();
    return now.state === 'DONE' ? undefined : now;
  }, 'a run that finds root gone');
  assert.is(ill.waits?.for, 'time', JSON.stringify(ill.error));
  assert.equal(
    (await saidBy(said, ill.run_id, 2)).map((s) => [s['step'], s['way']]),
    [
      ['tell', 'phone'],
      ['print', 'console'],
    ],
  );
  assert.match(printed.at(-1)!, /\w+.*\.$/);
  await ask(house, 'POST', `/api/scenarios/instances/${ill.run_id}/stop`, {});
});

test('a medicine is confirmed by whoever it is for', async ({ house, said }) => {
  const { run_id } = (await ask(house, 'POST', '/api/scenario/run', { id: 'home/medicine_reminder' })).body;
  await until(async () => (await stands(house, run_id)).waits?.for === 'event', 'the reminder');
  const told = await ask(house, 'POST', `/api/scenarios/instances/${run_id}/happened`, {});
  assert.is(told.status, 200, JSON.stringify(told.body));
  await ends(house, run_id);
  assert.equal(
    (await saidBy(said, run_id, 2)).map((s) => String(s['step']).split('/').pop()),
    ['remind', 'thanks'],
    'and not reminded again',
  );
});

test('alarms are set and cancelled by a sentence, and wait over a kill of the service', async ({
  house,
  printed,
}) => {
  const answered = async (text: string) => {
    printed.length = 0;
    const { run_id } = await say(house, text, ['console']);
    await until(() => printed.length > 0, 'the answer');
    return { answer: printed.join(' '), run_id };
  };
  const sets = ['wake me at 7:30', 'Поставь будильник на восемь утра'];
  const alarms = [];
  for (const text of sets) alarms.push(await answered(text));
  assert.match(alarms[0]!.answer, /^The alarm is set: (today at|tomorrow at|on .* at) 07:30\.$/);
  for (const { run_id } of alarms)
    await until(async () => (await stands(house, run_id)).waits?.for === 'time', 'the alarm');
  house.kill('scenario');
  const { answer } = await until(
    tried(() => answered('stop the alarm')),
    'the hub to answer again',
  );
  assert.match(answer, /^The alarm is cancelled: /);
  for (const time of ['07:30', '08:00']) assert.ok(answer.includes(` at ${time}`), answer);
  for (const { run_id } of alarms) {
    await until(async () => (await stands(house, run_id)).finished_at, 'the end of the alarm');
    assert.is((await stands(house, run_id)).state, 'CANCELED');
  }
  assert.is((await answered('отмени будильник')).answer, 'There is no such alarm.', 'the hub speaks English');
});

test('what cannot be said aloud reaches the phone, and so does the answer to who has written', async ({
  house,
  said,
}) => {
  for (const out of [[], ['phone']]) {
    const { run_id } = await say(house, 'good morning', out);
    await ends(house, run_id);
    const mine = await saidBy(said, run_id, 2);
    assert.equal([...new Set(mine.map((s) => s['way']))], ['phone']);
  }
});

/** What is printed of one sentence, until its scenario is over; a line may come after that. */
async function answered({ house, printed }: Context, text: string, count: number): Promise<string[]> {
  printed.length = 0;
  await ends(house, (await say(house, text, ['console'])).run_id);
  await until(() => printed.length >= count, `the answer to "${text}"`);
  return [...printed];
}
const got = async (house: House, id: string) => (await ask(house, 'GET', `/skills/${id}/v1/got`)).body.got;

test('the weather is told by the hub’s own skill, and so is the morning, with what is to buy', async (c) => {
  const weather = /^This weather is made up\. It is -?\d+ degrees: [a-z ]+\.$/;
  const [told, ...more] = await answered(c, "what's the weather", 1);
  assert.match(told!, weather);
  assert.equal(more, []);
  const [good, degrees, buy] = await answered(c, 'good morning', 3);
  assert.is(good, 'Good morning.');
  assert.match(degrees!, weather);
  assert.is(buy, 'To buy: oat milk, хлеб.');
});

test('who leaves has the list on the phone, and who goes to bed is asked about waking', async (c) => {
  assert.equal(await answered(c, 'we are leaving now', 1), ['See you later.']);
  assert.ok(
    c.said.some(
      (s) => s['scenario_id'] === 'home/leaving_home' && s['step'] === 'send' && s['way'] === 'phone',
    ),
  );
  // Nobody can answer where there is no microphone; the night comes all the same.
  assert.equal(await answered(c, 'спокойной ночи', 2), ['Shall I wake you?', 'Good night.']);
});

test('the radio plays what was said, by the skill that fits its slot, until it is told to stop', async ({
  house,
}) => {
  const { run_id } = await say(house, 'play jazz', ['console']);
  await until(async () => (await stands(house, run_id)).waits?.for === 'event', 'the radio to play');
  assert.equal(await got(house, 'tuner'), [['play', { station: 'jazz' }]]);
  const events = [{ topic: 'external.radio.stop', payload: null }];
  assert.is((await ask(house, 'POST', '/api/observe/ingest', { events })).status, 200);
  await ends(house, run_id);
  assert.equal((await got(house, 'tuner')).slice(1), [['stop', {}]]);
});

test('quiet hours turn the sound down, outlive a kill, and turn it up when they are stopped', async ({
  house,
}) => {
  const { run_id } = await say(house, 'quiet hours', ['console']);
  await until(async () => (await stands(house, run_id)).waits?.for === 'time', 'the quiet hours');
  house.kill('scenario');
  await until(
    tried(
      async () => (await ask(house, 'POST', `/api/scenarios/instances/${run_id}/stop`, {})).status === 200,
    ),
    'the order to be taken',
  );
  await until(async () => (await stands(house, run_id)).finished_at, 'the end');
  assert.is((await stands(house, run_id)).state, 'CANCELED');
  assert.equal(await got(house, 'speaker'), [
    ['set', { percent: 15 }],
    ['set', { percent: 60 }],
  ]);
});

test.run();
