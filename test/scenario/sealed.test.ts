// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions of scenarios
// Secrets and devices: given to actions that go out, and to nobody else; taken out of whatever comes back.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { Action, Actions, Asked } from '../../firmware/scenario/action.ts';
import { checkPrototype } from '../../firmware/scenario/check.ts';
import type { Value } from '../../firmware/scenario/expression.ts';
import { planOf } from '../../firmware/scenario/plan.ts';
import { sealedIn } from '../../firmware/scenario/reference.ts';
import { rehearse } from '../../firmware/scenario/rehearse.ts';
import {
  keptBindings,
  opening,
  REDACTED,
  redactor,
  sealedScope,
  shownBindings,
  unopened,
} from '../../firmware/scenario/sealed.ts';
import { fill, templateOf } from '../../firmware/scenario/template.ts';
import { scenario } from './lab.ts';

const VALUE = 'sesame "open"/тайна';
const bindings = { secrets: { key: { value: VALUE } }, devices: { lamp: { device_id: 'zigbee-0x17' } } };
const filled = (v: unknown): Value => fill(templateOf(v), sealedScope);

/** What an action was given, and what came of it. */
async function done(
  name: string,
  args: unknown,
  perform: Action['perform'] = async () => null,
  of = bindings,
) {
  const given: Asked['args'][] = [];
  const actions: Actions = {
    find: (): Action => ({
      doc: '',
      interrupted: 'again',
      perform(asked) {
        given.push(asked.args);
        return perform(asked);
      },
    }),
  };
  const asked = {
    args: args as never,
    run_id: 'r',
    scenario_id: 's',
    ctx: { user: 'u' },
  } as unknown as Asked;
  try {
    return {
      given,
      result: await opening(actions, () => of)
        .find(name)!
        .perform(asked),
    };
  } catch (e) {
    return { given, error: e as IngleError };
  }
}

test('an action that goes out is given what the marks stand for, wherever they stand', async () => {
  const args = filled({ a: 'Bearer ${secret.key}', list: [{ b: '${device.lamp}' }], c: 5 });
  for (const name of ['http.fetch', 'slot.call', 'skills.run', 'lamp.set']) {
    const { given } = await done(name, args);
    assert.equal(given, [{ a: `Bearer ${VALUE}`, list: [{ b: 'zigbee-0x17' }], c: 5 }], name);
  }
});

test('an action that keeps, says or publishes is given none', async () => {
  for (const name of [
    'io.say',
    'io.ask',
    'io.console.print',
    'notify',
    'memory.set',
    'schedule.at',
    'profile.set_name',
    'skills.handle',
  ]) {
    const { given, error } = await done(name, filled({ text: '${secret.key}' }));
    assert.equal([given, error?.code], [[], 'forbidden'], name);
    assert.not.match(error!.message, /sesame/);
    assert.is((await done(name, { text: 'plain' })).given.length, 1, name);
  }
});

test('what is not set is told by its name, and nothing is done', async () => {
  const { given, error } = await done('http.fetch', filled({ a: '${secret.other}' }));
  assert.equal([given, error?.code], [[], 'not_found']);
  assert.match(error!.message, /secret "other" is not set/);
});

test('a mark that somebody else writes is a text like any other', async () => {
  const real = String(filled('${secret.key}'));
  const forged = real.replace(/[0-9a-f]{32}/, '0'.repeat(32));
  assert.is.not(forged, real);
  for (const text of [forged, '${secret.key}', '\u{e000}secret:key\u{e001}'])
    assert.equal((await done('http.fetch', { text })).given, [{ text }]);
});

test('results and errors hold nothing of it, in any of its forms', async () => {
  const forms = [
    VALUE,
    encodeURIComponent(VALUE),
    JSON.stringify({ v: VALUE }),
    Buffer.from(VALUE).toString('base64'),
    Buffer.from(VALUE).toString('base64url'),
    'zigbee-0x17',
  ];
  const isClean = (text: string) => !/sesame|zigbee-0x17|c2VzYW1l/.test(text);
  for (const form of forms) {
    const echo = await done('lamp.set', {}, async () => ({ [form]: [`x ${form} y`] }));
    assert.ok(isClean(JSON.stringify(echo.result)), form);
    assert.ok(JSON.stringify(echo.result).includes(REDACTED), form);
    const fails = await done('lamp.set', {}, async () => {
      throw new IngleError('conflict', `No: ${form}`, { why: { form } });
    });
    assert.is(fails.error?.code, 'conflict');
    assert.ok(isClean(`${fails.error!.message}${JSON.stringify(fails.error!.details)}`), form);
    const breaks = await done('lamp.set', {}, async () => {
      throw new TypeError(`No: ${form}`);
    });
    assert.ok(isClean(`${breaks.error!.message}${breaks.error!.stack}`), form);
  }
  assert.is(redactor({ devices: { a: { device_id: '1' } } }), undefined, 'one digit is in any text');
});

test('a prototype may give it to an action as it is, and nothing else of it', () => {
  const faults = (step: object) =>
    checkPrototype(scenario([{ id: 'a', call: 'lamp.set', ...step }])).map((f) => f.code);
  assert.equal(faults({ args: { a: '${secret.key}', b: { c: ['x ${device.lamp} y'] } } }), []);
  assert.equal(faults({ compensate: { call: 'lamp.set', args: { a: '${secret.key}' } } }), []);
  for (const step of [
    { args: { a: '${upper(secret.key)}' } },
    { args: { a: "${secret.key == 'x'}" } },
    { args: { a: '${secret}' } },
    { args: { a: '${secret[vars.x]}' }, set: { x: 'a' } },
    { if: "secret.key == 'x'" },
    { set: { a: '${secret.key}' } },
    { timeout: '${secret.key}' },
    { activityId: '${device.lamp}' },
  ])
    assert.ok(faults(step).includes('sealed'), JSON.stringify(step));
  const said = checkPrototype(scenario([{ id: 'a', do: 'say', text: '${secret.key}' }]));
  assert.equal(
    said.map((f) => f.code),
    ['sealed'],
  );
  const named = checkPrototype(scenario([{ id: 'a', call: 'x.y', alias: 'secret' }]));
  assert.ok(named.some((f) => f.code === 'reserved'));
});

test('a rehearsal shows the expression', () => {
  const p = scenario([{ id: 'a', call: 'lamp.set', args: { a: 'x ${secret.key}' } }]);
  const steps = rehearse(planOf(p, []), { scenario_id: 's', ctx: {}, now: 0 });
  assert.equal(unopened(steps[0] as never), {
    ...{ step: 'a', does: 'do', action: 'lamp.set' },
    args: { a: 'x ${secret.key}' },
  });
  assert.equal(sealedIn(p.steps), { secrets: ['key'], devices: [] });
});

test('answers name what is bound, and a name that is sent back keeps its value', () => {
  const shown = shownBindings({ slots: { s: { skill: 'lamp' } }, ...bindings });
  assert.equal(shown, { slots: { s: { skill: 'lamp' } }, secrets: { key: {} }, devices: { lamp: {} } });
  assert.equal(keptBindings({ ...shown, secrets: { key: {}, more: { value: 'other' } } }, bindings), {
    slots: { s: { skill: 'lamp' } },
    secrets: { key: { value: VALUE }, more: { value: 'other' } },
    devices: bindings.devices,
  });
  assert.equal(keptBindings({ secrets: {} }, bindings), { secrets: {} }, 'what is left out is forgotten');
  assert.throws(() => keptBindings({ secrets: { none: {} } }, bindings), /no value of "none"/);
});

test.run();
