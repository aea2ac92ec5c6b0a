// timeout: 300 s
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions of scenarios
// Scenarios over HTTP: a real ingle-api and a real ingle-scenario on one bus, kills of both included.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { faultsOf } from '../../firmware/protocol/endpoint/check.ts';
import { scenariosApi } from '../../firmware/scenario/api.ts';
import { packPrototype } from '../../firmware/scenario/bundle.ts';
import { scenario1 } from '../../firmware/scenario/contract.ts';
import { localizedText } from '../../firmware/scenario/localized.ts';
import type { Prototype } from '../../firmware/scenario/schema.ts';
import { type Bus, connect } from '../../firmware/system/bus.ts';
import { assertContract } from '../lab/contract.ts';
import { until } from '../lab/wait.ts';
import { owner, serveUplink, startHub, type TestHub } from './hub.ts';

const person = (id: string, role: string) =>
  ({ owner_id: id, role, household: owner.owner_id, elevated_until: 0 }) as never;
const kid = person('person_kid', 'kid');
const adult = person('person_adult', 'adult');

const test = suite<{ hub: TestHub; bus: Bus; printed: string[] }>('scenarios over HTTP');
test.before(async (c) => {
  c.hub = await startHub({ env: { INGLE_LANG: 'en' } });
  c.bus = await connect(c.hub.bus.address);
  await serveUplink(c.bus, [
    { id: 'person_kid', role: 'kid', name: 'Kim' },
    { id: 'person_adult', role: 'adult', name: 'Ann' },
  ]);
  c.printed = [];
  await c.bus.subscribe('io.console.print', (_, p) => void c.printed.push((p as { text: string }).text));
  await c.hub.startService('scenario', scenario1.bus);
  await c.hub.ask('POST', '/api/skills/developer', { body: { on: true } });
});
test.after(async (c) => {
  c.bus.close();
  await c.hub.stop();
});

const prints = (id: string, text: string, more: object = {}) => ({
  id,
  call: 'io.console.print',
  args: { text },
  ...more,
});
const push = async (hub: TestHub, name: string, steps: unknown[], more: object = {}) => {
  const prototype = { id: `test/${name}`, version: '1.0.0', dslVersion: '1', name, steps, ...more };
  const r = await hub.ask('POST', '/api/scenarios/push', { body: { prototype } });
  assert.is(r.status, 200, JSON.stringify(r.body));
};
const status = async (hub: TestHub, run_id: string) =>
  (await hub.ask('GET', `/api/scenario/status?run_id=${run_id}`)).body;
const over = async (hub: TestHub, run_id: string, state: string) => {
  await until(async () => (await status(hub, run_id)).finished_at, `the end of ${run_id}`);
  const s = await status(hub, run_id);
  assert.is(s.state, state, JSON.stringify(s.error));
  return s;
};

test('the service offers what its contract says, and its scenarios are right', async ({ hub, bus }) => {
  await assertContract(bus, scenario1);
  const { body } = await hub.ask('GET', '/api/scenarios/prototypes');
  assert.ok(body.prototypes.length >= 10, `${body.prototypes.length}`);
  assert.ok(
    body.prototypes.every((p: { enabled: boolean }) => !p.enabled),
    'nothing fires that nobody turned on',
  );
});

test('what a scenario says of itself is told in every language it has, and in English to who asks for one text', async ({
  hub,
}) => {
  const read = async (id: string) => (await hub.ask('GET', `/api/scenarios/impl/me/${id}`)).body;
  const radio = await read('home.radio');
  assert.match(radio.readme, /^# Radio\n/);
  assert.is(localizedText(radio.readmes, 'en'), radio.readme);
  assert.match(localizedText(radio.readmes, 'ru-RU'), /^# Радио\n/);
  assert.is(localizedText(radio.readmes, 'de'), radio.readme, 'a language it has not');

  const prototype = {
    id: 'test/told',
    version: '1.0.0',
    dslVersion: '1',
    name: 'Told',
    steps: [prints('a', 'A')],
  };
  const readmes = { en: '# Told\n', ru: '# Сказано\n' };
  const { bytes } = packPrototype(prototype as unknown as Prototype, readmes);
  const installed = await hub.ask('POST', '/api/scenarios/install', { raw: bytes });
  assert.is(installed.status, 200, JSON.stringify(installed.body));
  assert.equal((await read('test.told')).readmes, readmes);
  await hub.ask('POST', '/api/scenarios/push', { body: { prototype, readme: 'A draft.' } });
  const draft = await read('test.told');
  assert.equal([draft.readme, draft.readmes], ['A draft.', { en: 'A draft.' }]);
  await hub.ask('POST', '/api/scenarios/uninstall', { body: { id: 'test.told' } });
});

test('a scenario runs, its steps are in its journal, and it is told on the bus', async ({
  hub,
  printed,
  bus,
}) => {
  const told: string[] = [];
  await bus.subscribe('scenario.*', (topic) => void told.push(topic));
  await push(hub, 'hello', [prints('one', 'Hello ${ctx.user.role} ${ctx.x}'), prints('two', '${params.p}')], {
    params: { p: 'P' },
  });
  const { body } = await hub.ask('POST', '/api/scenario/run', { body: { id: 'test/hello', ctx: { x: 5 } } });
  const s = await over(hub, body.run_id, 'DONE');
  assert.equal(
    s.journal.map((j: { step_name?: string; kind: string }) => `${j.step_name ?? ''} ${j.kind}`),
    ['one begun', 'one done', 'two begun', 'two done', ' end'],
  );
  await until(() => printed.includes('Hello owner 5') && printed.includes('P'), 'the lines');
  await until(() => told.includes('scenario.start') && told.includes('scenario.finish'), 'what is told');
});

test('what goes on is there after kill -9 of the service, and ends', async ({ hub, printed }) => {
  await push(hub, 'long', [
    prints('a', 'long a'),
    { id: 'd', do: 'delay', for: '4s' },
    prints('b', 'long b'),
  ]);
  const { body } = await hub.ask('POST', '/api/scenarios/test.long/run', { body: {} });
  await until(() => printed.includes('long a'), 'the first line');
  await hub.kill('scenario');
  const away = await hub.ask('GET', '/api/scenarios/instances');
  assert.ok([408, 503].includes(away.status), `${away.status}`);
  await hub.startService('scenario', scenario1.bus);
  await over(hub, body.instance_id, 'DONE');
  await until(() => printed.includes('long b'), 'the last line');
  assert.is(printed.filter((p) => p === 'long a').length, 1);
});

test('a person says that what a run waits for has happened: only their run goes on, once', async ({
  hub,
}) => {
  await push(
    hub,
    'taken',
    [
      { id: 'w', do: 'wait_for', topic: 'external.taken', timeout: '1h' },
      prints('p', 'taken by ${ctx.user.role}'),
    ],
    { roles: ['adult', 'kid'], multiUser: true },
  );
  await push(hub, 'choosy', [
    { id: 'w', do: 'wait_for', topic: 'external.taken', where: '$.payload.dose == 2', timeout: '1h' },
  ]);
  await push(hub, 'resting', [{ id: 'd', do: 'delay', for: '1h' }]);
  const begin = async (name: string, as?: never) => {
    const { run_id } = (
      await hub.ask('POST', '/api/scenario/run', { body: { id: `test/${name}` }, ...(as ? { as } : {}) })
    ).body;
    await until(async () => (await status(hub, run_id)).run.waits, `${name} to wait`);
    return run_id as string;
  };
  const tell = async (run_id: string, as?: never) =>
    (
      await hub.ask('POST', `/api/scenarios/instances/${run_id}/happened`, {
        body: {},
        ...(as ? { as } : {}),
      })
    ).status;
  const [kids, adults, choosy, resting] = [
    await begin('taken', kid),
    await begin('taken', adult),
    await begin('choosy'),
    await begin('resting'),
  ];
  assert.is(await tell(adults, kid), 404, 'it is not theirs');
  assert.is(await tell(kids, kid), 200);
  await over(hub, kids, 'DONE');
  assert.is(await tell(kids, kid), 409, 'it is over');
  assert.ok((await status(hub, adults)).run.waits, 'nobody else was told');
  assert.equal([await tell(choosy), await tell(resting)], [409, 409], 'that takes more than a word');
  for (const id of [adults, choosy, resting])
    await hub.ask('POST', `/api/scenarios/instances/${id}/stop`, { body: {} });
});

test('orders: pause, resume, stop, and what a state does not take', async ({ hub }) => {
  await push(hub, 'orders', [{ id: 'd', do: 'delay', for: '1h' }]);
  const { body } = await hub.ask('POST', '/api/scenario/run', { body: { id: 'test/orders' } });
  const order = (what: string) => hub.ask('POST', `/api/scenarios/instances/${body.run_id}/${what}`);
  await until(async () => (await status(hub, body.run_id)).current_step, 'its step');
  assert.is((await order('pause')).status, 200);
  assert.is((await order('pause')).status, 409);
  const listed = (await hub.ask('GET', '/api/scenarios/instances')).body.instances;
  assert.is(listed.find((i: { run_id: string }) => i.run_id === body.run_id).instance, 'paused');
  assert.is((await order('resume')).status, 200);
  const again = await hub.ask('POST', '/api/scenario/run', { body: { id: 'test/orders' } });
  assert.equal([again.status, again.body.error], [409, 'conflict']);
  assert.is((await hub.ask('POST', '/api/scenario/cancel', { body: { run_id: body.run_id } })).status, 200);
  await over(hub, body.run_id, 'CANCELED');
  assert.is((await order('kill')).status, 409);
  assert.is((await hub.ask('POST', '/api/scenarios/instances/nobody/stop')).status, 404);
});

test('roles: who may start what, and see what is whose', async ({ hub }) => {
  await push(hub, 'grown', [prints('x', 'grown')], { roles: ['adult'], multiUser: true });
  const run = (as: never) => hub.ask('POST', '/api/scenario/run', { as, body: { id: 'test/grown' } });
  const names = async (as: never) =>
    (await hub.ask('GET', '/api/scenarios/prototypes', { as })).body.prototypes.map(
      (p: { id: string }) => p.id,
    );
  assert.is((await run(kid)).status, 403);
  assert.not((await names(kid)).includes('test/grown'));
  const mine = await run(adult);
  assert.is(mine.status, 200, JSON.stringify(mine.body));
  await over(hub, mine.body.run_id, 'DONE');
  const seen = (as: never) => hub.ask('GET', `/api/scenario/status?run_id=${mine.body.run_id}`, { as });
  assert.is((await seen(adult)).status, 200);
  assert.is((await seen(kid)).status, 404);
  assert.is((await hub.ask('GET', '/api/scenarios/impl/person_adult/test.grown', { as: kid })).status, 403);
  assert.is((await hub.ask('GET', '/api/scenarios/dead-letters', { as: kid })).status, 403);
  assert.is((await hub.ask('GET', '/api/scenarios/impl/me/test.grown', { as: kid })).status, 403);
  await push(hub, 'shared', [prints('x', 'shared')], { roles: ['adult', 'kid'], params: { a: 1 } });
  const shared = (as: never) =>
    hub.ask('PATCH', '/api/scenarios/impl/me/test.shared', { as, body: { params: { a: 2 } } });
  assert.is((await shared(kid)).status, 403);
  assert.is((await shared(adult)).status, 403);
  assert.is((await shared(person('person_adult', 'admin'))).status, 200);
  const other = await hub.ask('POST', '/api/scenarios/test.grown/run', {
    as: kid,
    body: { user: 'person_adult' },
  });
  assert.is(other.status, 403);
});

test('a person changes what they may, and everything else is refused with its reason', async ({
  hub,
  printed,
}) => {
  await push(hub, 'mine', [prints('a', '${params.word}'), prints('b', 'second')], {
    params: { word: 'first' },
  });
  const at = '/api/scenarios/impl/me/test.mine';
  const change = (body: object) => hub.ask('PATCH', at, { body });
  assert.is(
    (await change({ params: { word: 'changed' }, rewrite: [{ match: { id: 'b' }, action: 'drop' }] })).status,
    200,
  );
  const { body } = await hub.ask('POST', '/api/scenario/run', { body: { id: 'test/mine' } });
  await over(hub, body.run_id, 'DONE');
  await until(() => printed.includes('changed'), 'the word');
  assert.not(printed.includes('second'));
  for (const action of ['add_step', 'add_slot', 'add_anchor', 'replace']) {
    const r = await change({ rewrite: [{ match: { id: 'a' }, action, set: {} }] });
    assert.equal([r.status, r.body.error], [400, 'invalid_request'], action);
    assert.match(r.body.message, /\w{4}/);
  }
  assert.is((await change({ params: { other: 1 } })).status, 400);
  const now = (await hub.ask('GET', at)).body;
  assert.equal(now.left_out, [prints('b', 'second')], 'what a step did that is left out is told');
  assert.is((await change({ rev: now.rev + 7, enabled: true })).status, 409);
  const rehearsed = await hub.ask('POST', '/api/scenarios/test.mine/rehearse', { body: {} });
  assert.equal(
    rehearsed.body.steps.map((s: { step: string; does: string }) => `${s.step} ${s.does}`),
    ['a do', ' end'],
  );
});

test('a schedule fires once, at its time, and over a kill', async ({ hub, printed }) => {
  await push(hub, 'later', [prints('x', 'later ${ctx.n}')]);
  const at = (ms: number) => new Date(Date.now() + ms).toISOString();
  const make = (body: object) =>
    hub.ask('POST', '/api/schedule/create', { body: { scenario_id: 'test/later', ...body } });
  assert.is((await make({ at: at(3000), ctx: { n: 1 } })).status, 200);
  const never = (await make({ cron: '0 0 1 1 *', zone: 'Europe/Berlin' })).body.job_id;
  await hub.kill('scenario');
  await hub.startService('scenario', scenario1.bus);
  await until(() => printed.includes('later 1'), 'the line');
  const { jobs } = (await hub.ask('GET', '/api/schedule/list')).body;
  assert.equal(
    jobs
      .filter((j: { scenario_id: string }) => j.scenario_id === 'test/later')
      .map((j: { job_id: string }) => j.job_id),
    [never],
  );
  assert.is((await hub.ask('POST', '/api/schedule/delete', { body: { job_id: never } })).status, 200);
  for (const body of [
    {},
    { cron: 'x' },
    { cron: '* * * * *', at: at(1) },
    { at: 'tomorrow' },
    { at: '2020-01-01T00:00:00Z' },
  ])
    assert.is((await make(body)).status, 400, JSON.stringify(body));
  assert.is(printed.filter((p) => p === 'later 1').length, 1);
});

test('an event of the bus starts what somebody turned on, and nothing before', async ({
  hub,
  bus,
  printed,
}) => {
  await push(hub, 'door', [prints('x', 'door ${ctx.who}')], {
    triggers: [
      { type: 'event', topic: 'external.door', when: '$.payload.open', ctx: { who: '${$.payload.who}' } },
    ],
  });
  bus.publish('external.door', { open: true, who: 'early' });
  assert.is(
    (await hub.ask('PATCH', '/api/scenarios/impl/me/test.door', { body: { enabled: true } })).status,
    200,
  );
  bus.publish('external.door', { open: false, who: 'closed' });
  bus.publish('external.door', { open: true, who: 'Ann' });
  await until(() => printed.includes('door Ann'), 'the line');
  assert.not(printed.some((p) => p.includes('early') || p.includes('closed')));
});

test('what is said starts the scenario of its intent, with what was said in its place', async ({
  hub,
  printed,
}) => {
  await push(hub, 'lamp', [prints('x', 'lamp in the ${ctx.room}')], {
    triggers: [{ type: 'intent', name: 'lamp_on' }],
  });
  const rules = { rules: [{ intent: 'lamp_on', pattern: '(light|lamp) on in the {room}' }] };
  assert.is((await hub.ask('PUT', '/api/intent/rules', { body: rules })).status, 200);
  const say = (text: string, more: object = {}) =>
    hub.ask('POST', '/api/intent/recognize', { body: { text, ...more } });
  const told = await say('Lamp on in the kitchen', { start: false });
  assert.equal(
    [told.body.intent, told.body.slots, told.body.scenario_id, told.body.run_id],
    ['lamp_on', { room: 'kitchen' }, 'test/lamp', ''],
  );
  const done = await say('light on in the hall');
  await over(hub, done.body.run_id, 'DONE');
  await until(() => printed.includes('lamp in the hall'), 'the line');
  assert.equal((await say('colourless green ideas sleep')).body.intent, '');
  await hub.ask('PATCH', '/api/scenarios/impl/me/test.lamp', { body: { enabled: false } });
  assert.is(
    (await say('lamp on in the kitchen')).body.run_id,
    '',
    'who has turned it off does not start it by a word',
  );
  const kept = (await hub.ask('GET', '/api/intent/rules')).body;
  assert.equal(
    kept.unmatched.map((u: { phrase: string }) => u.phrase),
    ['colourless green ideas sleep'],
  );
  assert.is(
    (await hub.ask('PUT', '/api/intent/rules', { body: { rules: [{ intent: 'x', pattern: '(((' }] } }))
      .status,
    400,
  );
  assert.is((await say('какая погода', { start: false })).body.intent, 'weather');
});

test('the owner teaches a phrase that nothing understood, takes it back, and takes one off the list', async ({
  hub,
}) => {
  const say = async (text: string) =>
    (await hub.ask('POST', '/api/intent/recognize', { body: { text, start: false } })).body;
  const teach = (phrase: string, scenario_id: string) =>
    hub.ask('POST', '/api/intent/teach', { body: { phrase, scenario_id } });
  const forget = (phrase: string) => hub.ask('POST', '/api/intent/forget', { body: { phrase } });
  const unmatched = async () =>
    (await hub.ask('GET', '/api/intent/rules')).body.unmatched.map((u: { phrase: string }) => u.phrase);
  await Promise.all(['Make it cosy!', 'make it loud', 'Сделай уютно'].map(say));
  assert.equal((await teach('make it grand', 'test/hello')).body.error, 'not_found', 'nobody said that');
  assert.equal((await teach('make it cosy', 'test/nothing')).body.error, 'not_found');
  // Both at once: neither takes the other's rule away.
  const both = await Promise.all([teach('Make it cosy', 'test.hello'), teach('сделай уютно', 'test/hello')]);
  assert.equal(
    both.map((r) => r.status),
    [200, 200],
    JSON.stringify(both),
  );
  for (const text of ['make it cosy', 'Сделай уютно!'])
    assert.equal((await say(text)).scenario_id, 'test/hello', text);
  assert.is((await unmatched()).includes('make it loud'), true);
  assert.is((await unmatched()).includes('make it cosy'), false);
  const { prototypes } = (await hub.ask('GET', '/api/scenarios/prototypes')).body;
  const says = (id: string) => prototypes.find((p: { id: string }) => p.id === id).says;
  assert.equal(
    says('test/hello'),
    { en: ['make it cosy'], ru: ['сделай уютно'] },
    'what may be said is shown',
  );
  assert.equal(
    says('home/timer_alarm'),
    {
      en: ['set timer for ten minutes', 'wake me at half past seven', 'cancel timer'],
      ru: ['поставь таймер на десять минут', 'разбуди меня в половине восьмого', 'отмени таймер'],
    },
    'of each intent one',
  );
  await hub.kill('scenario');
  await hub.startService('scenario', scenario1.bus);
  assert.equal((await say('make it cosy')).scenario_id, 'test/hello', 'also after a start');
  assert.is((await forget('Make it cosy')).status, 200);
  assert.equal((await say('make it cosy')).intent, '');
  assert.equal((await say('сделай уютно')).scenario_id, 'test/hello', 'another phrase of it stays');
  assert.is((await forget('make it loud')).status, 200);
  assert.is((await forget('make it loud')).body.error, 'not_found');
  assert.is((await unmatched()).at(-1), 'make it cosy', 'and is kept again');
});

test('a run that failed is a dead letter, is replayed once and can be discarded', async ({ hub }) => {
  await push(hub, 'fails', [prints('ok', 'fine'), { id: 'bad', call: 'nothing.like_this', timeout: '5s' }]);
  const { body } = await hub.ask('POST', '/api/scenario/run', { body: { id: 'test/fails' } });
  const s = await over(hub, body.run_id, 'FAILED');
  assert.is(s.error.step, 'bad');
  const { letters } = (await hub.ask('GET', '/api/scenarios/dead-letters')).body;
  const letter = letters.find((l: { run_id: string }) => l.run_id === body.run_id);
  const again = await hub.ask('POST', `/api/scenarios/dead-letters/${letter.id}/replay`, {
    body: { from: 'step' },
  });
  assert.is(again.status, 200, JSON.stringify(again.body));
  await over(hub, again.body.run_id, 'FAILED');
  assert.is(
    (await hub.ask('POST', `/api/scenarios/dead-letters/${letter.id}/replay`, { body: {} })).status,
    409,
  );
  assert.is((await hub.ask('DELETE', `/api/scenarios/dead-letters/${letter.id}`)).status, 200);
  assert.is((await hub.ask('DELETE', `/api/scenarios/dead-letters/${letter.id}`)).status, 404);
});

test('a version goes forward, has one content, and one that is used can be gone back to', async ({ hub }) => {
  const at = (version: string, text: string) => {
    const prototype = {
      id: 'test/versions',
      version,
      dslVersion: '1',
      name: 'V',
      steps: [prints('x', text)],
    };
    return hub.ask('POST', '/api/scenarios/push', { body: { prototype } });
  };
  assert.is((await at('1.1.0', 'one')).status, 200);
  assert.is((await at('1.1.0', 'one')).status, 200, 'the same again');
  assert.is((await at('1.1.0', 'other')).status, 409);
  assert.is((await at('1.0.0', 'old')).status, 409);
  assert.is((await at('1.2.0', 'two')).status, 200);
  const use = (version: string) =>
    hub.ask('POST', '/api/scenarios/prototypes/install', { body: { id: 'test/versions', version } });
  assert.equal((await use('1.1.0')).body, { id: 'test/versions', version: '1.1.0' });
  assert.is((await use('9.0.0')).status, 404);
  const there = await hub.ask('GET', '/api/scenarios/versions/test.versions');
  assert.equal(
    there.body.versions.map((v: { version: string; used: boolean }) => [v.version, v.used]),
    [
      ['1.1.0', true],
      ['1.2.0', false],
    ],
  );
  assert.is((await hub.ask('GET', '/api/scenarios/versions/test.nothing')).status, 404);
  assert.is(
    (await hub.ask('POST', '/api/scenarios/uninstall', { body: { id: 'test/versions' } })).status,
    200,
  );
  assert.is((await hub.ask('POST', '/api/scenarios/uninstall', { body: { id: 'home/radio' } })).status, 403);
});

test('a notice from a scenario stands on the desktop of the person, once', async ({ hub }) => {
  await push(hub, 'tells', [
    { id: 'n', call: 'notify', args: { title: { en: 'Ready', ru: 'Готово' }, body: 'The cake' } },
  ]);
  const { body } = await hub.ask('POST', '/api/scenario/run', { body: { id: 'test/tells' } });
  await over(hub, body.run_id, 'DONE');
  assert.is((await hub.ask('POST', '/api/notices', { body: { title: '' } })).status, 400);
  assert.is((await hub.ask('POST', '/api/notices', { as: kid, body: { title: 'x' } })).status, 403);
});

test('the owner starts a scenario for somebody, with the rights of that person, and says where it answers', async ({
  hub,
  bus,
  printed,
}) => {
  const sent: { run_id: string; way: string }[] = [];
  const off = await bus.subscribe('io.send', (_, p) => void sent.push(p as never));
  await push(hub, 'answers', [{ id: 'say', do: 'say', text: '${ctx.user.name}: ${ctx.user.role}' }], {
    ...{ multiUser: true, roles: ['adult'] },
    io: { output: ['phone', 'console'], settings: { 'output.active': 'phone', rate: 1 } },
  });
  const run = (body: object, as?: never) =>
    hub.ask('POST', '/api/scenarios/test.answers/run', { body, ...(as ? { as } : {}) });
  const way = async ({ body }: Awaited<ReturnType<typeof run>>) => {
    await over(hub, body.instance_id, 'DONE');
    await until(() => sent.some((s) => s.run_id === body.instance_id), 'what it says');
    return sent.find((s) => s.run_id === body.instance_id)!.way;
  };
  assert.is(await way(await run({})), 'phone');
  const theirs = await run({ user: 'person_adult', ioOverride: { out: ['console'] } });
  assert.is(await way(theirs), 'console');
  await until(() => printed.includes('Ann: adult'), 'the line');
  assert.is((await status(hub, theirs.body.instance_id)).run.user, 'person_adult');
  const settings = { io: { settings: { 'output.active': 'console' } } };
  const changed = await hub.ask('PATCH', '/api/scenarios/impl/person_adult/test.answers', { body: settings });
  assert.is(changed.status, 200, JSON.stringify(changed.body));
  assert.is(await way(await run({}, adult)), 'console', 'as they have set it');
  assert.is(await way(await run({})), 'phone', 'and nobody else has');
  assert.equal(
    [(await run({ user: 'person_kid' })).status, (await run({ user: 'nobody' })).status],
    [403, 404],
  );
  assert.is((await run({ user: 'person_kid' }, adult)).status, 403);
  await off();
});

test('what is begun is stopped by its activity, and undone; instances tell what failed, and are counted', async ({
  hub,
  printed,
}) => {
  const undo = { compensate: { call: 'io.console.print', args: { text: 'music off' } } };
  await push(hub, 'music', [
    prints('on', 'music on', { activityId: 'music/hall', ...undo }),
    { id: 'd', do: 'delay', for: '1h' },
  ]);
  const { run_id } = (await hub.ask('POST', '/api/scenario/run', { body: { id: 'test/music' } })).body;
  await until(async () => (await status(hub, run_id)).current_step === 'd', 'the music');
  const stop = (activity: string) =>
    hub.ask('POST', '/api/scenarios/instances/stopByActivity', { body: { activity } });
  assert.equal((await stop('mus')).body, { stopped: [] });
  assert.equal((await stop('music')).body, { stopped: [run_id] });
  await over(hub, run_id, 'CANCELED');
  await until(() => printed.includes('music off'), 'it to be undone');
  await push(hub, 'broken', [{ id: 'bad', call: 'nothing.like_this' }]);
  const broken = (await hub.ask('POST', '/api/scenario/run', { body: { id: 'test/broken' } })).body.run_id;
  await over(hub, broken, 'FAILED');
  const { instances, metrics } = (await hub.ask('GET', '/api/scenarios/instances')).body;
  const of = (id: string) => instances.find((i: { run_id: string }) => i.run_id === id);
  assert.equal([of(run_id).instance, of(run_id).error.code], ['stopped', 'canceled']);
  assert.equal([of(broken).instance, of(broken).error.step], ['failed', 'bad']);
  assert.match(of(broken).error.message, /nothing\.like_this|"nothing"/);
  assert.ok(
    metrics.counts['scenario.finish'] >= 2 && metrics.counts['step.error'] >= 1,
    JSON.stringify(metrics),
  );
  assert.is(
    metrics.open,
    instances.filter((i: { finished_at: number | null }) => i.finished_at === null).length,
  );
});

test('a rehearsal does nothing, and leaves no run behind', async ({ hub, printed }) => {
  await push(hub, 'rehearsed', [prints('x', 'rehearsed ${ctx.who}')]);
  const body = { ctx: { who: 'Ann' } };
  const { steps } = (await hub.ask('POST', '/api/scenarios/test.rehearsed/rehearse', { body })).body;
  assert.equal([steps[0].action, steps[0].args], ['io.console.print', { text: 'rehearsed Ann' }]);
  const { runs } = (await hub.ask('GET', '/api/scenario/runs?scenario_id=test/rehearsed')).body;
  assert.equal(runs, []);
  const { run_id } = (await hub.ask('POST', '/api/scenario/run', { body: { id: 'test/rehearsed', ...body } }))
    .body;
  await over(hub, run_id, 'DONE');
  await until(() => printed.includes('rehearsed Ann'), 'the run to print');
  assert.is(printed.filter((p) => p === 'rehearsed Ann').length, 1);
});

test('every call asks who it is: what a scenario is not open to, and what is somebody else’s, is refused', async ({
  hub,
}) => {
  const guest = person('person_guest', 'guest');
  const admin = person('person_admin', 'admin');
  const triggers = [{ type: 'intent', name: 'close_it' }];
  await push(hub, 'closed', [{ id: 'd', do: 'delay', for: '1h' }], { roles: ['adult'], triggers });
  await push(hub, 'open', [prints('x', 'open')], {
    ...{ roles: ['adult', 'kid', 'guest'], multiUser: true, policy: 'queue' },
  });
  const rules = { rules: [{ intent: 'close_it', pattern: 'close it all' }] };
  await hub.ask('PUT', '/api/intent/rules', { body: rules });
  const run = (await hub.ask('POST', '/api/scenario/run', { body: { id: 'test/closed' } })).body.run_id;
  await hub.ask('POST', '/api/scenario/run', { body: { id: 'test/fails' } });
  const job = { scenario_id: 'test/open', cron: '0 0 1 1 *' };
  const { job_id } = (await hub.ask('POST', '/api/schedule/create', { body: job })).body;
  const asked = async (as: never, method: string, path: string, body?: object) =>
    (await hub.ask(method, path, { as, ...(body ? { body } : {}) })).status;
  const at = `/api/scenarios/instances/${run}`;
  const open: [string, string, object?][] = [
    ['POST', '/api/scenarios/test.open/run', {}],
    ['POST', '/api/scenario/run', { id: 'test/open' }],
    ['POST', '/api/scenarios/test.open/rehearse', {}],
  ];
  const closed: [string, string, object?][] = [
    ['POST', '/api/scenarios/test.closed/run', {}],
    ['POST', '/api/scenario/run', { id: 'test/closed' }],
    ['POST', '/api/scenarios/test.closed/rehearse', {}],
    ['POST', '/api/intent/recognize', { text: 'close it all' }],
  ];
  const others: [string, string, object?][] = [
    ...['stop', 'kill', 'pause', 'resume', 'happened'].map((o): [string, string, object] => [
      'POST',
      `${at}/${o}`,
      {},
    ]),
    ['POST', '/api/scenario/cancel', { run_id: run }],
    ['GET', `/api/scenario/status?run_id=${run}`],
  ];
  const household: [string, string, object?][] = [
    ['POST', '/api/schedule/create', { ...job, scenario_id: 'test/closed' }],
    ['GET', '/api/scenarios/impl/me/test.closed'],
    ['PATCH', '/api/scenarios/impl/me/test.closed', { enabled: true }],
    ['GET', '/api/scenarios/impl/person_adult/test.open'],
    ['PATCH', '/api/scenarios/impl/person_adult/test.open', { enabled: true }],
    ['POST', '/api/scenarios/instances/stopByActivity', { activity: 'x' }],
    ['GET', '/api/scenarios/dead-letters'],
    ['POST', '/api/scenarios/dead-letters/x/replay', {}],
    ['DELETE', '/api/scenarios/dead-letters/x'],
  ];
  for (const as of [kid, guest]) {
    const who = JSON.stringify(as);
    for (const call of open) assert.is(await asked(as, ...call), 200, `${call} ${who}`);
    for (const call of closed) assert.is(await asked(as, ...call), 403, `${call} ${who}`);
    for (const call of others) assert.is(await asked(as, ...call), 404, `${call} ${who}`);
    for (const call of household) assert.is(await asked(as, ...call), 403, `${call} ${who}`);
    const shown = (await hub.ask('GET', '/api/scenarios/prototypes', { as })).body.prototypes;
    const ids = shown.map((p: { id: string }) => p.id);
    assert.equal([ids.includes('test/open'), ids.includes('test/closed')], [true, false], who);
    for (const [path, name] of [
      ['/api/scenarios/instances', 'instances'],
      ['/api/scenario/runs', 'runs'],
    ] as const) {
      const all = (await hub.ask('GET', path, { as })).body[name];
      assert.ok(
        all.length > 0 &&
          all.every((r: { user: string }) => r.user === (as as { owner_id: string }).owner_id),
        who,
      );
    }
  }
  assert.is(await asked(guest, 'GET', '/api/schedule/list'), 403);
  assert.is(await asked(kid, 'POST', '/api/schedule/delete', { job_id }), 404, 'it is not theirs');
  assert.is(await asked(kid, 'POST', '/api/schedule/create', { ...job, scenario_id: 'test/open' }), 200);
  const jobs = (await hub.ask('GET', '/api/schedule/list', { as: kid })).body.jobs;
  assert.ok(!jobs.some((j: { job_id: string }) => j.job_id === job_id) && jobs.length === 1);
  // An adult starts what is open to adults, and manages nothing of others; an admin does.
  for (const call of others) assert.is(await asked(adult, ...call), 404, `${call} adult`);
  assert.is(await asked(adult, 'POST', '/api/scenarios/test.closed/rehearse', {}), 200);
  assert.is(await asked(adult, 'GET', '/api/scenarios/dead-letters'), 403);
  assert.is(await asked(admin, 'GET', '/api/scenarios/dead-letters'), 200);
  assert.is(await asked(admin, 'GET', '/api/scenarios/impl/person_adult/test.open'), 200);
  assert.is(await asked(admin, 'POST', `${at}/stop`, {}), 200);
  await over(hub, run, 'CANCELED');
  await hub.ask('POST', '/api/schedule/delete', { body: { job_id } });
});

test('what no scenario can be is refused with every fault, and drafts without developer mode', async ({
  hub,
}) => {
  const bad = { id: 'test/bad', version: '1.0.0', dslVersion: '1', name: 'Bad' };
  for (const [more, pointers] of [
    [{ version: '1', steps: [] }, ['/version']],
    [
      {
        steps: [
          { id: 'a', do: 'for' },
          { id: 'b', call: 'a.b', args: { x: '${1 +}' } },
        ],
      },
      ['/steps/0', '/steps/1/args/x'],
    ],
  ] as const) {
    const r = await hub.ask('POST', '/api/scenarios/push', { body: { prototype: { ...bad, ...more } } });
    assert.equal([r.status, r.body.error], [400, 'invalid_request']);
    for (const pointer of pointers) assert.ok(r.body.message.includes(pointer), r.body.message);
  }
  await hub.ask('POST', '/api/skills/developer', { body: { on: false } });
  const refused = await hub.ask('POST', '/api/scenarios/push', { body: { prototype: { id: 'test/x' } } });
  assert.equal([refused.status, refused.body.error], [403, 'forbidden']);
  assert.ok((await hub.ask('POST', '/api/scenarios/install', { raw: 'nonsense' })).status < 500);
});

test('what it answers is as it is declared, and no name in a context upsets the bus', async ({ hub }) => {
  const run = (await hub.ask('POST', '/api/scenario/run', { body: { id: 'test/hello' } })).body;
  await over(hub, run.run_id, 'DONE');
  const asked: [keyof typeof scenariosApi, string, string, object?][] = [
    ['prototypes', 'GET', '/api/scenarios/prototypes'],
    ['implementation', 'GET', '/api/scenarios/impl/me/home.radio'],
    ['versions', 'GET', '/api/scenarios/versions/home.radio'],
    ['rehearse', 'POST', '/api/scenarios/test.hello/rehearse', { ctx: { x: [null, { y: 1.5 }] } }],
    ['instances', 'GET', '/api/scenarios/instances'],
    ['deadLetters', 'GET', '/api/scenarios/dead-letters'],
    ['status', 'GET', `/api/scenario/status?run_id=${run.run_id}`],
    ['runs', 'GET', '/api/scenario/runs?scenario_id=test/hello'],
    ['jobs', 'GET', '/api/schedule/list'],
    ['recognize', 'POST', '/api/intent/recognize', { text: 'good night', start: false }],
    ['rules', 'GET', '/api/intent/rules'],
    ['sync', 'POST', '/api/scenarios/sync'],
    ['stopByActivity', 'POST', '/api/scenarios/instances/stopByActivity', { activity: 'none' }],
  ];
  for (const [name, method, path, body] of asked) {
    const r = await hub.ask(method, path, body ? { body } : {});
    assert.is(r.status, 200, `${name}: ${JSON.stringify(r.body)}`);
    assert.equal(faultsOf(scenariosApi[name].answer!, r.body), [], name);
  }
  for (const raw of [
    '{"id":"test/hello","ctx":{"__proto__":{"x":1}}}',
    '{"id":"test/hello","ctx":{"a":{"constructor":1}}}',
  ]) {
    const r = await hub.ask('POST', '/api/scenario/run', { raw });
    assert.equal([r.status, r.body.error], [400, 'invalid_request'], raw);
  }
  assert.is((await hub.ask('GET', '/api/scenario/status')).status, 400);
});

test('who is gone leaves nothing that was kept for them', async ({ hub, bus, printed }) => {
  const name = { key: 'user.tea' };
  const steps = [
    { id: 'had', call: 'memory.get', args: name },
    prints('tell', 'tea:${steps.had.result}'),
    { id: 'set', call: 'memory.set', args: { ...name, value: '${ctx.user.id}' } },
  ];
  await hub.ask('POST', '/api/skills/developer', { body: { on: true } });
  await push(hub, 'tea', steps, { roles: ['adult', 'kid'], multiUser: true });
  const drinks = async (as: never) => {
    printed.length = 0;
    const { body } = await hub.ask('POST', '/api/scenario/run', { as, body: { id: 'test/tea' } });
    await over(hub, body.run_id, 'DONE');
    await until(() => printed.length > 0, 'the line');
    return printed[0];
  };
  for (const as of [kid, adult]) assert.is(await drinks(as), 'tea:');
  assert.is(await drinks(adult), 'tea:person_adult');
  await bus.client(scenario1).Forget({ user: 'person_adult' });
  assert.is(await drinks(adult), 'tea:');
  assert.is(await drinks(kid), 'tea:person_kid');
});

test('a scenario service that is frozen costs its own answers a clear error, and everything else nothing', async ({
  hub,
}) => {
  const frozen = hub.children.get('scenario')!;
  frozen.kill('SIGSTOP');
  try {
    const asked = hub.ask('GET', '/api/scenarios/prototypes');
    for (const path of ['/api/status', '/v1/icons', '/health/live'])
      assert.is((await hub.ask('GET', path)).status, 200, path);
    const r = await asked;
    assert.equal([r.status, r.body.error], [408, 'timeout'], JSON.stringify(r.body));
  } finally {
    frozen.kill('SIGCONT');
  }
  assert.is((await hub.ask('GET', '/api/scenarios/prototypes')).status, 200);
});

test.run();
