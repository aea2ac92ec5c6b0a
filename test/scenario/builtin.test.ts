// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions of scenarios
// The hub's own actions in runs: what reaches people, skills and memory, and by which way.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { builtinActions, type Ways } from '../../firmware/scenario/builtin.ts';
import type { Value } from '../../firmware/scenario/expression.ts';
import type { Quotas } from '../../firmware/scenario/quotas.ts';
import type { Op } from '../../firmware/scenario/records.ts';
import { type Lab, openLab } from './lab.ts';

/** A hub whose ways write down what came to them. */
async function hub(o: { quotas?: Quotas; fails?: readonly string[] } = {}) {
  const told: string[] = [];
  const goes = (way: string, what: string) => {
    if (o.fails?.includes(way)) throw new IngleError('unavailable', `No ${way}.`);
    told.push(`${way} ${what}`);
  };
  const ways = {
    async speak(text, lang) {
      goes('voice', `${lang}: ${text}`);
      return { interrupted: false, text: '' };
    },
    async listen({ seconds, phrases, lang }) {
      goes('ear', `${lang}, ${seconds} s: ${phrases.join('|')}`);
      return { heard: true, text: phrases[0] ?? 'anything' };
    },
    print: (text, level) => goes('console', `${level}: ${text}`),
    notify: async ({ user, title }) => goes('phone', `${user}: ${String(title)}`),
    async skill({ id, user, role, skill, action, args }) {
      goes(
        'skill',
        `${user} ${role} ${skill}.${action} ${JSON.stringify(args)} ${id.replace(/^[^/]+/, 'run')}`,
      );
      return { done: true };
    },
    publish: (topic, payload) => goes('bus', `${topic} ${JSON.stringify(payload)}`),
    takes: async () => undefined,
  } as Partial<Ways> as Ways;
  let lab: Lab;
  // The lab counts what is asked of its records.
  const records = {
    memory: (prefix: string) => lab.records.memory(prefix),
    write: (ops: readonly Op[]) => lab.records.write(ops),
  };
  const table = builtinActions(ways, records, async () => []);
  const actions = Object.fromEntries(table.names().map((name) => [name, table.find(name)!]));
  lab = await openLab({ actions, ...(o.quotas ? { quotas: o.quotas } : {}) });
  return {
    ...{ lab, told },
    async ran(steps: unknown[], user = 'ann', ctx: Record<string, Value> = {}, run_id?: string) {
      const start = { user, ctx, policy: 'beside' as const, ...(run_id ? { run_id } : {}) };
      return (await lab.runs.ended((await lab.start(steps, {}, start)).run_id))!;
    },
  };
}
const says = (text: string) => ({ call: 'test.do', args: { text } });

test('each registered action does what it is called', async () => {
  const { told, ran, lab } = await hub();
  const row = await ran(
    [
      { call: 'io.console.print', args: { text: 'a line', level: 'warn' } },
      { call: 'io.voice.tts.speak', args: { text: 'Привет', lang: 'ru' } },
      { id: 'ear', call: 'io.voice.stt.listen', args: { timeout_s: 5, phrases: { en: ['yes', 'no'] } } },
      { call: 'profile.set_name', args: { name: 'Ann' } },
      { id: 'name', call: 'profile.get_name' },
      { id: 'lamp', call: 'skills.run', args: { skill: 'lamp', action: 'on', args: { level: 5 } } },
      { call: 'skills.handle', args: { topic: 'lamp.wish', skill: 'lamp', payload: { dim: true } } },
      says('${steps.ear.result.text}, ${steps.name.result}, ${steps.lamp.result.done}'),
    ],
    'ann',
    { role: 'adult' },
  );
  assert.is(row.state, 'DONE', JSON.stringify(row.error));
  assert.equal(told, [
    'console warn: a line',
    'voice ru: Привет',
    'ear en, 5 s: yes|no',
    'skill ann adult lamp.on {"level":5} run/lamp/6',
    'bus lamp.wish {"skill":"lamp","payload":{"dim":true}}',
  ]);
  assert.is(lab.did().at(-1), 'test.do(yes, Ann, true)');
});

test('what is kept under user. is one person’s, under session. one run’s, under subnet. everybody’s', async () => {
  const { ran, lab } = await hub();
  const keys = ['user.x', 'session.x', 'subnet.x'];
  const set = (value: string) => keys.map((key) => ({ call: 'memory.set', args: { key, value } }));
  const get = keys.map((key, i) => ({ id: `m${i}`, call: 'memory.get', args: { key } }));
  const tell = says("${join([steps.m0.result, steps.m1.result, steps.m2.result], ' ')}");
  const read = async (user: string, more: unknown[] = []) => {
    assert.is((await ran([...more, ...get, tell], user)).state, 'DONE');
    return lab.did().at(-1);
  };
  assert.is(await read('ann', set('of-ann')), 'test.do(of-ann of-ann of-ann)');
  assert.is(await read('ann'), 'test.do(of-ann  of-ann)');
  assert.is(await read('bob'), 'test.do(  of-ann)');
  assert.is(await read('bob', set('of-bob')), 'test.do(of-bob of-bob of-bob)');
  assert.is(await read('ann'), 'test.do(of-ann  of-bob)');
  assert.is(
    await read('ann', [{ call: 'memory.set', args: { key: 'user.x', value: null } }]),
    'test.do(  of-bob)',
  );
  const name = [{ id: 'n', call: 'profile.get_name' }, says('${steps.n.result}')];
  await ran([{ call: 'profile.set_name', args: { name: 'Bob' } }], 'bob');
  await ran(name, 'ann');
  assert.is(lab.did().at(-1), 'test.do()');
  await ran(name, 'bob');
  assert.is(lab.did().at(-1), 'test.do(Bob)');
  for (const key of ['hub.rules', 'user', 'user.', 'other.x', 'user.a/b', ''])
    assert.is((await ran([{ call: 'memory.get', args: { key } }])).error?.code, 'invalid_request', key);
});

test('what a run kept for itself goes with the run', async () => {
  const { ran, lab } = await hub();
  const keep = (value: string) => [{ call: 'memory.set', args: { key: 'session.x', value } }];
  for (const id of ['old', 'old.er', 'new']) {
    if (id === 'new') await lab.clock.pass(2 * 86_400_000);
    await ran(keep(id), 'ann', {}, id);
  }
  await ran([{ call: 'memory.set', args: { key: 'user.x', value: 1 } }], 'ann', {}, 'other');
  const { records } = lab;
  await records.sweep(lab.clock.wall() - 86_400_000);
  assert.equal(await records.memory('session.'), { 'session.new.x': 'new' });
  assert.equal(await records.memory('user.'), { 'user.ann.x': 1 });
});

test('a text goes by the first way that works: voice, then text, then the phone', async () => {
  const all = { out: ['voice'], fallback: ['text', 'phone'] };
  for (const [io, fails, wanted] of [
    [all, [], ['voice en: hi']],
    // A console has perhaps no reader, so the phone is told as well.
    [all, ['voice'], ['console info: hi', 'phone ann: hi']],
    [all, ['voice', 'console'], ['phone ann: hi']],
    [all, ['voice', 'phone'], ['console info: hi']],
    [{ out: ['console'], fallback: ['phone'] }, [], ['console info: hi']],
    [{ out: ['phone'], fallback: ['text'] }, [], ['phone ann: hi']],
    [{ out: ['voice'], fallback: ['phone'] }, ['voice'], ['phone ann: hi']],
    [{ out: ['voice'] }, ['voice'], []],
    [all, ['voice', 'console', 'phone'], []],
  ] as const) {
    const { ran, told } = await hub({ fails });
    const row = await ran([{ do: 'say', text: 'hi' }], 'ann', { io: io as unknown as Value });
    const why = `${JSON.stringify(io)} without ${fails.join()}`;
    assert.equal(told, wanted, why);
    assert.equal(
      [row.state, row.error?.code],
      wanted.length > 0 ? ['DONE', undefined] : ['FAILED', 'unavailable'],
      why,
    );
  }
});

test('a question takes of what may be spoken and of what may be heard', async () => {
  const ask = { do: 'ask', text: 'What is to buy?', args: { timeout_s: 6 } };
  for (const kind of ['tts', 'stt'] as const) {
    // Two seconds of speech, six of listening.
    const most = kind === 'tts' ? 3 : 11;
    const { ran, told } = await hub({ quotas: { [kind]: { user: { day: most } } } });
    assert.is((await ran([ask])).state, 'DONE');
    const { error } = await ran([ask]);
    assert.equal(
      [error?.code, error?.message],
      ['rate_limited', `The quota of ${kind} for this user and day is used up.`],
    );
    assert.is(told.length, 2, 'it neither speaks nor listens again');
  }
});

test.run();
