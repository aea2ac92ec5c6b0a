// The scenarios that come with the hub: each is right, and names nothing that is not there.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { externalTopic } from '../../firmware/observe/api.ts';
import { checkPrototype } from '../../firmware/scenario/check.ts';
import { checkImplementation } from '../../firmware/scenario/check-implementation.ts';
import { evaluate } from '../../firmware/scenario/expression.ts';
import { localizedText } from '../../firmware/scenario/localized.ts';
import { effective } from '../../firmware/scenario/merge.ts';
import type { Prototype, Step } from '../../firmware/scenario/schema.ts';
import { conditionOf, fill, templateOf } from '../../firmware/scenario/template.ts';
import { walk } from '../../firmware/scenario/walk.ts';
import { stored } from './stored.ts';

const test = suite('the scenarios of the house');

const hubs = [
  'io.console.print',
  'io.voice.tts.speak',
  'io.voice.stt.listen',
  'profile.get_name',
  'profile.set_name',
  'skills.run',
  'skills.handle',
  'hub.health',
  'notify',
  'schedule.at',
  'schedule.cancel',
  'time.next',
  'time.words',
  'activity.stop',
];
const outside = (externalTopic as unknown as { pattern: string }).pattern;
/** Topics that the hub's skills publish. */
const published = ['weather.update'];

/** What a skill of the image answers: its paths, and the actions of its list. */
function answersOf(skill: string): string[] {
  const folder = `services/skills/${skill}`;
  if (!existsSync(`${folder}/manifest.json`)) return [];
  const text = readdirSync(folder)
    .filter((f) => f.endsWith('.ts'))
    .map((f) => readFileSync(`${folder}/${f}`, 'utf8'))
    .join('\n');
  const paths = [...text.matchAll(/path: '\/v1\/([a-z_]+)'/g)].map((m) => m[1]!);
  const actions = [...text.matchAll(/action [!=]== '([a-z]+)'/g)].map((m) => m[1]!);
  return [...paths, ...actions];
}
const isAction = (name: string) => {
  const [skill = '', action = ''] = name.split('.');
  return hubs.includes(name) || answersOf(skill).includes(action);
};

const { prototypes, faults } = stored({ isAction });
const newest = prototypes.map(({ id, versions }) => ({ id, ...[...versions.values()].at(-1)! }));

test('there are ten, and nothing is wrong with any of them', () => {
  assert.equal(faults, []);
  assert.equal(
    prototypes.map((p) => p.id),
    [
      'good_night',
      'hub_health_alert',
      'leaving_home',
      'medicine_reminder',
      'morning_briefing',
      'quiet_hours',
      'radio',
      'shopping_list_voice',
      'timer_alarm',
      'weather_on_request',
    ].map((id) => `home/${id}`),
  );
});

for (const { id, prototype, readme } of newest) {
  test(`${id} is itself where nobody has changed anything`, () => {
    assert.equal(checkImplementation({ rewriteVersion: 0 }, prototype), []);
    const { scenario, dropped, bindings, isEnabled } = effective(prototype, { rewriteVersion: 0 });
    assert.equal(scenario, prototype);
    assert.equal([dropped, bindings, isEnabled], [[], {}, true]);
    assert.equal(checkPrototype(JSON.parse(JSON.stringify(prototype))), []);
  });

  test(`${id} names actions, topics and scenarios that exist, and slots whose methods somebody can offer`, () => {
    for (const { step } of walk(prototype.steps)) {
      const [skill, action] = [step.args?.['skill'], step.args?.['action']];
      if (step.call === 'skills.run') assert.ok(answersOf(String(skill)).includes(String(action)), id);
      if (step.call === 'schedule.at')
        assert.ok(
          prototypes.some((p) => p.id === step.args?.['scenario']),
          id,
        );
      for (const topic of step.topic ? [step.topic] : [])
        assert.ok(new RegExp(outside).test(topic) || published.includes(topic), topic);
      // Of a capability that a skill of the image is named by, it must answer the method.
      const cap = step.slot && prototype.slots![step.slot]!.cap;
      if (cap && existsSync(`services/skills/${cap}`))
        assert.ok(answersOf(cap).includes(step.method!), `${cap} has no ${step.method}`);
    }
    for (const t of prototype.triggers ?? [])
      if (t.type === 'event') assert.match(t.topic, new RegExp(outside));
  });

  test(`${id} speaks English and Russian, and its README tells what it needs and how it starts`, () => {
    const both = (text: unknown, where: string) => {
      const languages = Object.keys(Object(text)).filter((k) => k === 'en' || k === 'ru');
      assert.equal(languages.sort(), ['en', 'ru'], `${id} ${where}`);
      assert.match(localizedText(text, 'ru-RU'), /[а-я$]/i, `${id} ${where}`);
    };
    const plain = (text: unknown) => typeof text === 'string' && /^\$\{[^}]*\}$/.test(text);
    both(prototype.name, 'name');
    both(prototype.doc, 'doc');
    for (const [name, doc] of Object.entries(prototype.paramDocs ?? {})) both(doc, name);
    assert.equal(
      Object.keys(prototype.paramDocs ?? {}).sort(),
      Object.keys(prototype.params ?? {}).sort(),
      'every parameter is described',
    );
    for (const { step } of walk(prototype.steps)) {
      if (step.text) both(step.text, step.id!);
      for (const arg of ['title', 'body', 'text'])
        if (step.args?.[arg] !== undefined && !plain(step.args[arg]))
          both(step.args[arg], `${step.id} ${arg}`);
    }
    assert.equal(Object.keys(readme).sort(), ['en', 'ru']);
    for (const [language, sections] of [
      ['en', [/^# [A-Z]/, /\*\*Needs\*\*/, /\*\*Starts\*\*/]],
      ['ru', [/^# [А-Я]/, /\*\*Что нужно\*\*/, /\*\*Как запускается\*\*/]],
    ] as const)
      for (const section of sections) assert.match(readme[language]!, section);
    assert.match(readme['ru']!, new RegExp(`^# ${localizedText(prototype.name, 'ru')}\n`));
    // Both name the same settings, slots, topics and intents.
    const names = (text: string) =>
      [...new Set([...text.matchAll(/`([a-z_.]+)`/g)].map((m) => m[1]!))].sort().join(' ');
    assert.is(names(readme['ru']!), names(readme['en']!));
  });
}

const of = (id: string): Prototype => newest.find((p) => p.id === `home/${id}`)!.prototype;
const stepOf = (p: Prototype, id: string): Step => walk(p.steps).find(({ step }) => step.id === id)!.step;
const said = (step: Step, scope: Record<string, unknown>, locale: string) =>
  localizedText(fill(templateOf(step.text), scope), locale);

test('a timer takes the minutes it is told, else those that are set', () => {
  const { set } = stepOf(of('timer_alarm'), 'length');
  const taken = (ctx: unknown) => fill(templateOf(set), { ctx, params: { minutes: 10 } });
  assert.equal(taken({ minutes: '2,5' }), { seconds: 150 });
  assert.equal(taken({ length: 10 }), { seconds: 10 });
  assert.equal(taken({}), { seconds: 600 });
  const wait = stepOf(of('timer_alarm'), 'wait').for!;
  assert.is(fill(templateOf(wait), { vars: { seconds: 150 } }), '150s');
});

test.run();
