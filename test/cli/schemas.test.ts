// gate: out, 20 s
// The published schemas: valid by a validator that is not ours, right about every file there is, and of one mind with
// the checks of the product.

import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { rollup } from 'rollup';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { defaultScenario } from '../../firmware/desktop/default.ts';
import { checkUses, scenarioSchema } from '../../firmware/desktop/scenario.ts';
import { checkDevice } from '../../firmware/device/device.ts';
import { checkInterest } from '../../firmware/interest/request.ts';
import { faultsOf, SAYS } from '../../firmware/protocol/endpoint/check.ts';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { checkPrototype } from '../../firmware/scenario/check.ts';
import { checkImplementation } from '../../firmware/scenario/check-implementation.ts';
import type { Prototype } from '../../firmware/scenario/schema.ts';
import { scenarioFaults } from '../../firmware/scenario-app/schema.ts';
import { checkManifest } from '../../firmware/skills/manifest.ts';
import { checkMeta } from '../../firmware/skills/package-meta.ts';
import { validateView } from '../../firmware/ui/schema.ts';
import { usdlSchema } from '../../firmware/ui/usdl/schema.ts';
import { simulated, weatherSchema } from '../../firmware/weather/report.ts';
import { hubStatusView } from '../../services/skills/hub_status/view.ts';
import { logsView } from '../../services/skills/logs/view.ts';
import { updatesView } from '../../services/skills/updates/view.ts';
import { lanternView } from '../lab/browser/lantern.ts';

const { schemas } = await import('../../services/cli/rollup.schemas.js' as string);
const test = suite('published schemas');
type Json = Record<string, unknown>;
const json = (value: unknown) => JSON.parse(JSON.stringify(value)) as Json;
const read = (file: string) => readFileSync(file, 'utf8');

/** What each schema is for: every good document there is, and what the product says of any. */
interface Kind {
  good: Json[];
  /** What is wrong with it, by the product. */
  faults(document: Json): string[];
  /** Rules that a schema cannot say: the words of their faults. */
  beyond: RegExp;
  bad: Json[];
}

const skills = readdirSync('services/skills', { withFileTypes: true })
  .filter((e) => e.isDirectory())
  .map((e) => json(JSON.parse(read(`services/skills/${e.name}/manifest.json`))));
const scenarios = ['shopping'].map((id) => json(parse(read(`services/skills/${id}/scenario.yaml`))));
const home = 'firmware/scenario/prototypes/home';
const prototypes = readdirSync(home).map((id) => json(parse(read(`${home}/${id}/1.0.0/scenario.yaml`))));
/** Whose parameters, settings, slots and steps the good implementations name. */
const medicine = prototypes.find((p) => p['id'] === 'home/medicine_reminder') as unknown as Prototype;
const implementation = {
  rewriteVersion: 3,
  params: { medicine: 'Iron', wait: '5m' },
  io: { settings: { 'output.active': 'phone' } },
  bindings: { slots: {}, devices: { button: { device_id: 'b1' } } },
  rewrite: [
    { match: { id: 'thanks' }, action: 'drop' },
    { match: { id: 'rounds' }, action: 'param.set', set: [1] },
  ],
  notes: [{ pointer: '/params/old', code: 'param_gone', value: 5 }],
  enabled: true,
};
/** Rules beyond a schema are those with a code of their own. */
const scenarioSays = (faults: { code: string; says: string }[]) =>
  faults.map((f) => (f.code === 'form' ? f.says : `beyond: ${f.code}`));
const panel = {
  id: 'panel_1',
  version: '2.0.0-rc.1+b5',
  capabilities: {
    ui: { title: 'Panel', titles: { ru: 'Панель' }, entrypoint: '/v1/ui/main', modes: ['panel'] },
    streams: { supportsDeclarativeInterest: true },
  },
};
const every = json({
  schema: 'ui/v0',
  meta: { title: 'Hub {{meta.a}}', more: [1] },
  layout: {
    type: 'stack',
    gap: 8,
    children: [
      { type: 'card', title: 'x', child: { type: 'text', text: 'x {{ state.a[0].b }}' } },
      { type: 'chart.line', series: [{ label: 'CPU', data: '{{state.rows}}', x: 'at', y: 'cpu' }] },
      { type: 'select', options: [{ label: 'A', value: 'a' }], bind: '{{state.mode}}' },
      { type: 'button', label: 'Go', action: { type: 'bus.publish', topic: 't', payload: { a: 1 } } },
      { type: 'button', label: 'Go', action: { type: 'http.post', path: '/v1/x', body: {} } },
      { type: 'table', columns: [{ key: 'a', label: 'A' }], rows: '{{state.rows}}' },
    ],
  },
});
const orders = json({
  version: 'usdl/0.2',
  meta: { title: 'Orders', texts: { save: { i18n: { en: 'Save', ru: 'Сохранить' } } } },
  layout: { slot: 'main' },
  viewModel: { filter: { text: '' } },
  viewBind: '$.orders',
  components: [
    {
      type: 'Toolbar',
      components: [
        {
          type: 'Input',
          bind: '$.filter.text',
          debounceMs: 300,
          on: [{ event: 'change', action: 'reload' }],
        },
      ],
    },
    {
      type: 'Table',
      slot: 'aside',
      columns: [{ key: 'id', title: 'No.', sort: true }],
      data: { source: 'lazy', query: 'orders.list', params: { q: '$.filter.text' }, pageSize: 25 },
      on: [{ event: 'rowClick', navigate: { to: 'order', params: { id: '$row.id' } } }],
    },
    {
      type: 'Form',
      id: 'order',
      fields: [{ name: 'a', component: 'Select', required: true, options: [{ id: 'x', text: 'X' }] }],
      actions: [{ i18n: 'save', action: { type: 'ui.action', action_id: 'save' } }],
      when: '$.open',
    },
    { type: 'Chart', spec: { $vegaLite: { mark: 'bar' } }, data: { bind: '$.points' } },
    { type: 'Widget', page: 'plan', instead: { type: 'Card', body: 'No plan' } },
  ],
  actions: { reload: { emit: 'ui.query', target: 'skill:orders', params: { q: '$.filter.text' } } },
});
const later = json({
  ...every,
  schema: 'ui/v0.1',
  layout: {
    type: 'tabs',
    tabs: [
      { label: 'A', child: every['layout'] },
      { label: 'B', children: [{ type: 'progress', label: 'x', value: '{{state.a}}', max: '10' }] },
      { label: 'C', child: { type: 'chart.bar', series: [{ x: 'd', y: 'n', data: '{{state.rows}}' }] } },
      {
        label: 'D',
        child: {
          type: 'form',
          label: 'Go',
          fields: [
            { key: 'a', label: 'A', input: 'number', required: true },
            { key: 'b', label: 'B', input: 'choice', options: [{ label: 'x', value: 'x' }] },
            { key: 'c', label: 'C', input: 'area', max: 4000 },
          ],
          action: { type: 'http.post', path: '/v1/x' },
        },
      },
    ],
  },
});
const some = {
  supported: true,
  can: ['check', 'install'],
  progress: true,
  notes: true,
  trouble: true,
  result: true,
};
const shown = [some, { ...some, supported: false, can: [], progress: false, notes: false }];
const logged = [true, false].map((on) => ({ units: ['ingle-api'], live: on, trouble: on, empty: !on }));
const least = { model: 'x1', root_url: 'https://r.example' };

const packed = (path: string, size = 12) => ({ path, size, sha256: '0a'.repeat(32) });
const pack = {
  format: 'ingle-skill/1',
  id: 'panel_1',
  version: '2.0.0-rc.1+b5',
  publisher: 'vSOXqH6AdnIQ1uTOAuWzWw',
  files: [packed('manifest.json'), packed('skill.js', 0), packed('texts/en_1-a.json')],
};

/** What a check says that throws. */
const thrown = (check: (document: Json) => unknown) => (document: Json) => {
  try {
    check(document);
    return [];
  } catch (e) {
    return [(e as IngleError).message];
  }
};

const wish = {
  topic: 'weather.update',
  area: { lat: 52.5, lon: 13.4, radius_km: 10 },
  period: '5m',
  ttl: '8h',
  format: 'compact',
};
const report = { ...simulated(0), place: 'Oslo' };
const kids = { allowSkills: ['weather'], layout: { grid: { cols: 2 }, statusBar: false } };
const kinds: Record<string, Kind> = {
  interest: {
    good: [json({ streams: [wish] }), json({ streams: [{ ...wish, area: undefined, format: undefined }] })],
    faults: thrown(checkInterest),
    beyond: /must be 10 s to 1 d|must be 1 m to 7 d|longer than the ttl/,
    bad: [
      {},
      { streams: [] },
      { streams: [{ ...wish, topic: 'A' }] },
      { streams: [{ ...wish, period: '5' }] },
    ],
  },
  'scenario-app': {
    good: scenarios,
    faults: (value) => scenarioFaults(value, 'shopping').map((f) => f.says),
    beyond:
      /names no route|names a route with|is the same as|has a parameter twice|either hasParam|must be a path, as|same page|needs none|is there twice|is no part of|must be an object/,
    bad: [
      {},
      { ...scenarios[0], entry: 'A' },
      { ...scenarios[0], routes: {} },
      { ...scenarios[0], theme: { tokens: 'neon' } },
      { ...scenarios[0], menu: [{}] },
    ].map(json),
  },
  'scenario-prototype': {
    good: prototypes,
    faults: (value) => scenarioSays(checkPrototype(value)),
    beyond: /^beyond: /,
    bad: [
      {},
      { ...prototypes[0], id: 'A' },
      { ...prototypes[0], version: '1' },
      { ...prototypes[0], dslVersion: '2' },
      { ...prototypes[0], name: { EN: 'x' } },
      { ...prototypes[0], steps: [{ id: 'a', do: 'shout' }] },
      { ...prototypes[0], steps: [{ id: 'a', do: [{ do: [{ more: 1 }] }] }] },
      { ...prototypes[0], triggers: [{ type: 'moon' }] },
      { ...prototypes[0], slots: { 'a b': { cap: 'x' } } },
    ].map(json),
  },
  'scenario-implementation': {
    good: [json(implementation), { rewriteVersion: 0 }],
    faults: (value) => scenarioSays(checkImplementation(value, medicine)),
    beyond: /^beyond: /,
    bad: [
      {},
      { ...implementation, rewriteVersion: '1' },
      { ...implementation, rewrite: [{ match: {}, action: 'drop' }] },
      { ...implementation, rewrite: [{ match: { id: 'a' }, action: 'drop', more: 1 }] },
      { ...implementation, bindings: { slots: { a: { skill: 'A' } } } },
      { ...implementation, steps: [] },
    ].map(json),
  },
  desktop: {
    good: [json(defaultScenario), json({ ...defaultScenario, roles: { kid: kids } })],
    faults: (value) => {
      const faults = faultsOf(scenarioSchema, value).map((f) => f.says);
      return faults.length > 0 ? faults : thrown(checkUses as (document: unknown) => void)(value);
    },
    beyond: /uses must have "icon_manager"/,
    bad: [
      {},
      { ...defaultScenario, policy: { allowSkills: ['A'], ownerOnlySkills: [] } },
      { ...defaultScenario, roles: { owner: {} } },
      { ...defaultScenario, behavior: { ...defaultScenario.behavior, onIconClick: 'x.y' } },
    ].map(json),
  },
  'weather-update': {
    good: [json(report), json({ ...report, forecast: undefined })],
    faults: (value) => faultsOf(weatherSchema, value).map((f) => f.says),
    beyond: /^$/,
    bad: [{}, { ...report, ts: 'now' }, { ...report, temp_c: '1' }, { ...report, place: '' }],
  },
  package: {
    good: [json(pack), json({ ...pack, publisher: undefined })],
    faults: thrown(checkMeta),
    beyond:
      /is not a version|is there twice|not in the order|lies below|has no (manifest|skill)|name of the package|bytes together/,
    bad: [
      {},
      { ...pack, format: 'ingle-skill/2' },
      { ...pack, id: '../x' },
      { ...pack, publisher: '' },
      { ...pack, files: [packed('../x')] },
      { ...pack, files: [packed('A')] },
      { ...pack, files: [packed('x'.repeat(101))] },
      { ...pack, files: [packed('x', 8 * 2 ** 20 + 1)] },
      { ...pack, files: Array.from({ length: 513 }, (_, i) => packed(`f${i}`)) },
    ].map(json),
  },
  manifest: {
    good: [...skills, panel],
    faults: thrown(checkManifest),
    beyond:
      /is the hub's own|a visual skill needs it|needs a schema, an entrypoint or an app|where the skill is an app|has pages of its own|has no app|must be one binding|which a tile does not have|binding|names no property/,
    bad: [
      {},
      { ...panel, id: 'Panel' },
      { ...panel, version: '1' },
      { ...panel, more: 1 },
      { ...panel, capabilities: { ui: { ...panel.capabilities.ui, modes: ['panel', 'panel'] } } },
      { ...panel, capabilities: { ui: { ...panel.capabilities.ui, pages: 'public' } } },
      { ...panel, capabilities: { ui: { ...panel.capabilities.ui, titles: { Russian: 'x' } } } },
      { ...panel, capabilities: { ui: { ...panel.capabilities.ui, sizeHints: { w: 5, h: 900 } } } },
    ],
  },
  device: {
    good: [
      ...readdirSync('image/devices')
        .filter((f) => f.endsWith('.yaml'))
        .map((f) => json(parse(read(`image/devices/${f}`)))),
      least,
    ],
    faults: (document) => checkDevice(document).issues.map((i) => `${i.path} ${i.says}`),
    beyond: /is read at .*:1 with|at most 27 bytes|^ssh\.keys/,
    bad: [
      {},
      { ...least, model: 'X' },
      { ...least, colour: 'red' },
      { ...least, country: 'XX' },
      { ...least, channels: [] },
      { ...least, packages: ['vim', 'vim'] },
      { ...least, brand: { name: ' Hearth' } },
      { ...least, brand: { texts: { en: { title: '\u3164' } } } },
      { ...least, console: { secret: 'hunter2' } },
    ],
  },
  'ui-v0': {
    good: [...logged.map(logsView), lanternView, every, ...shown.map(updatesView)].map(json),
    faults: (document) => validateView(document).map((f) => f.says),
    beyond: /nests deeper than|may have at most 2000 nodes/,
    bad: [
      { schema: 'ui/v0' },
      { ...every, schema: 'ui/v1' },
      { ...every, layout: { type: 'iframe' } },
      { ...every, layout: { type: 'text' } },
      { ...every, layout: { type: 'text', text: '{{state.a()}}' } },
      { ...every, layout: { type: 'button', label: 'x', action: { type: 'http.get' } } },
      {
        ...every,
        layout: { type: 'stack', children: [{ type: 'stack', children: [{ type: 'row', onclick: 1 }] }] },
      },
      { ...every, layout: { type: 'table', columns: [], rows: 'state.rows' } },
    ],
  },
  'ui-v0.1': {
    good: [json(hubStatusView()), { ...every, schema: 'ui/v0.1' }, later],
    // A document of the earlier version is held against that one's schema.
    faults: (document) =>
      document['schema'] === 'ui/v0' ? ['ui/v0'] : validateView(document).map((f) => f.says),
    beyond: /nests deeper than|may have at most 2000 nodes/,
    bad: [
      { schema: 'ui/v0.1' },
      { ...later, layout: { type: 'tabs', tabs: [] } },
      { ...later, layout: { type: 'tabs', tabs: [{ children: [] }] } },
      { ...later, layout: { type: 'progress', label: 'x' } },
      { ...later, layout: { type: 'chart.bar' } },
      ...[{ input: 'choice' }, { input: 'dial' }, { max: 0 }, { options: 1 }].map((more) => ({
        ...later,
        layout: {
          type: 'form',
          label: 'x',
          fields: [{ key: 'a', label: 'A', ...more }],
          action: { type: 'http.post', path: '/v1/x' },
        },
      })),
    ],
  },
  'usdl-0.2': {
    good: [orders],
    faults: (document) => faultsOf(usdlSchema, document).map((f) => f.says),
    beyond: /^$/,
    bad: [
      { version: 'usdl/0.2' },
      { ...orders, version: 'usdl/1.0' },
      { ...orders, layout: { slot: 'left' } },
      { ...orders, actions: { x: { emit: 'bus' } } },
      ...[
        { type: 'Iframe' },
        { type: 'Table', columns: [{ key: 'a' }] },
        { type: 'Select', bind: '$.a' },
        { type: 'Card', onclick: 'x' },
        { type: 'Card', components: [{ type: 'Toolbar', components: [{ type: 'Widget' }] }] },
        { type: 'Chart', spec: { vega: {} } },
        { type: 'Form', fields: [] },
      ].map((c) => ({ ...orders, components: [c] })),
    ],
  },
};

const published: Record<string, Json> = {};
const valid: Record<string, ValidateFunction> = {};
test.before(async () => {
  const bundle = await rollup(schemas('services/cli/schemas.ts', 'dist/schemas', { onwarn() {} }));
  const { output } = await bundle.generate({ format: 'es', entryFileNames: 'schemas.js' });
  for (const file of output)
    if (file.type === 'asset')
      published[file.fileName.replace('.json', '')] = JSON.parse(String(file.source));
  // It holds each schema against the dialect's own before it takes it.
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
  ajv.addVocabulary([SAYS]);
  for (const [name, schema] of Object.entries(published)) valid[name] = ajv.compile(schema);
});

test('the build publishes a schema of manifests, packages, scenarios, desktops, device files, views, interest and weather, and nothing else', () => {
  assert.equal(Object.keys(published).sort(), Object.keys(kinds).sort());
});

for (const [name, { good, bad, faults }] of Object.entries(kinds)) {
  test(`the schema of ${name} is valid JSON Schema 2020-12 and says what it is`, () => {
    const { $schema, $id, title, description } = published[name]!;
    assert.is($schema, 'https://json-schema.org/draft/2020-12/schema');
    assert.is($id, `urn:ingle:schema:${name}`);
    for (const words of [title, description]) assert.ok(String(words).length > 10, name);
    assert.throws(
      () => new Ajv2020().compile({ ...published[name], required: 'model' }),
      /schema is invalid/,
    );
  });

  test(`the schema of ${name} takes every one there is, and the product does`, () => {
    for (const document of good) {
      assert.ok(valid[name]!(document), JSON.stringify(valid[name]!.errors));
      assert.equal(faults(document), []);
    }
  });

  test(`the schema of ${name} refuses what is wrong, and the product does`, () => {
    for (const document of bad) {
      assert.not(valid[name]!(document), JSON.stringify(document));
      assert.ok(faults(document).length > 0, JSON.stringify(document));
    }
  });
}

/** Every place of a document. */
const places = (value: unknown, at: string[] = []): string[][] =>
  value !== null && typeof value === 'object'
    ? Object.entries(value).flatMap(([k, v]) => [[...at, k], ...places(v, [...at, k])])
    : [];
const words = [
  '',
  ' ',
  'x',
  'modal',
  'ui/v0',
  'text',
  '{{state.a}}',
  '{{',
  '{{x}}',
  'https://a.example',
  '00',
  'DE',
];
const more = [
  '#a8431a',
  '1.2.0',
  'ttyS0',
  'a b',
  '\u3164',
  'Очаг',
  '👩‍🚀'.repeat(30),
  'x'.repeat(4001),
  '\n',
  'é ',
];
const others: unknown[] = [
  0,
  -1,
  1.5,
  49,
  50,
  201,
  4000,
  1e9,
  true,
  false,
  {},
  [],
  ['x'],
  ['x', 'x'],
  [1],
  { a: 1 },
];
const names = ['more', 'type', 'title', 'id', '$schema', 'a/b~c', 'constructor', 'ru', 'children', 'path'];
type Change = { place: number; how: 'put' | 'take' | 'add' | 'twice'; value: unknown; name: string };
const change: fc.Arbitrary<Change> = fc.record({
  place: fc.nat(),
  how: fc.constantFrom('put', 'take', 'add', 'twice'),
  value: fc.oneof(
    fc.constantFrom(...words, ...more, ...others),
    fc.jsonValue({ maxDepth: 2 }).filter((v) => v !== null),
  ),
  name: fc.constantFrom(...names),
});

/** A document with something changed in it. */
function changed(document: Json, { place, how, value, name }: Change): Json {
  const copy = json(document);
  const all = places(copy);
  const path = all[place % all.length]!;
  const last = path.at(-1)!;
  const parent = path.slice(0, -1).reduce<unknown>((v, k) => (v as Json)[k], copy) as Json;
  const at = parent[last];
  if (how === 'take') {
    if (Array.isArray(parent)) parent.splice(Number(last), 1);
    else delete parent[last];
  } else if (how === 'add' && at !== null && typeof at === 'object' && !Array.isArray(at))
    (at as Json)[name] = value;
  else if (how === 'twice' && Array.isArray(at)) at.push(...at);
  else parent[last] = value;
  return json(copy);
}
const nullFree = (v: unknown): boolean =>
  v !== null && (typeof v !== 'object' || Object.values(v).every(nullFree));

for (const [name, { good, faults, beyond }] of Object.entries(kinds))
  test(`whatever is changed in a good ${name}, schema and product agree but for the rules beyond a schema`, () => {
    let both = 0;
    let neither = 0;
    const one = fc.tuple(fc.constantFrom(...good), fc.array(change, { minLength: 1, maxLength: 3 }));
    fc.assert(
      fc.property(one, ([document, changes]) => {
        const other = changes.reduce((d, c) => (places(d).length > 0 ? changed(d, c) : d), document);
        // An empty value of YAML is a field that is not there; a schema sees a null.
        if (!nullFree(other)) return;
        const says = faults(other);
        const takes = valid[name]!(other);
        if (takes) {
          both++;
          assert.ok(
            says.every((f) => beyond.test(f)),
            `only the product refuses ${JSON.stringify(other)}: ${says}`,
          );
        } else {
          neither++;
          assert.ok(
            says.length > 0,
            `only the schema refuses ${JSON.stringify(other)}: ${JSON.stringify(valid[name]!.errors)}`,
          );
        }
      }),
      { numRuns: 1500 },
    );
    assert.ok(both > 40 && neither > 40, `${both} were taken, ${neither} refused`);
  });

test.run();
