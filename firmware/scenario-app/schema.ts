// scenario.yaml, the scenario app of a skill: its schema, and the rules between its fields. Pure.
import * as T from 'typebox';
import { skillIdForm } from '../documents/key.ts';
import { type Fault, faultsOf, SAYS } from '../protocol/endpoint/check.ts';
import { tokenSets } from '../ui/app.ts';
import { pathOf } from '../ui/expression.ts';
import { paramsOf, routeForm } from '../ui/route.ts';

const closed = { additionalProperties: false };
/** Names of routes; one also names what a link leads to. */
const nameForm = '^[a-z][a-z0-9_-]{0,39}$';
const contractForm = '^[A-Za-z][A-Za-z0-9_.:-]{0,63}$';
const fileForm = '^[a-z0-9_][a-z0-9._-]*(?:/[a-z0-9_][a-z0-9._-]*)*\\.(?:ya?ml|json)$';

const route = (description: string) =>
  T.String({ pattern: nameForm, [SAYS]: { pattern: 'is no name of a route' }, description });
const skill = T.String({ pattern: skillIdForm, [SAYS]: { pattern: 'is no id of a skill' } });
const contract = (description: string) =>
  T.String({
    pattern: contractForm,
    [SAYS]: { pattern: 'is no name of a contract, as orders.list' },
    description,
  });
const words = (maxLength: number, description: string) =>
  T.Unsafe<string | Record<string, string>>({
    type: ['string', 'object'],
    minLength: 1,
    maxLength,
    minProperties: 1,
    maxProperties: 20,
    propertyNames: { pattern: '^[A-Za-z-]{2,20}$' },
    additionalProperties: { type: 'string', minLength: 1, maxLength },
    [SAYS]: { type: 'must be a text, or a text for each language' },
    description: `${description} A text, or one for each language: {en: …, ru: …}.`,
  });
const anyObject = (description: string) => T.Unsafe<Record<string, unknown>>({ type: 'object', description });

const guard = T.Object(
  {
    hasParam: T.Optional(
      T.String({ pattern: '^[A-Za-z][A-Za-z0-9_]{0,31}$', description: 'A parameter that must be there.' }),
    ),
    has: T.Optional(
      T.String({
        maxLength: 512,
        pattern: '^\\$',
        description: 'A path of the view model where something must be.',
      }),
    ),
    else: T.Optional(route('The route that is shown in its place.')),
  },
  closed,
);

const prefetch = T.Object(
  {
    query: contract('Query that the page’s table asks.'),
    params: T.Optional(anyObject('As the table has them; expressions in it are filled in.')),
  },
  closed,
);

const oneRoute = T.Object(
  {
    path: T.String({
      maxLength: 200,
      pattern: routeForm,
      [SAYS]: { pattern: 'must be a path as "/" or "/day/:date"' },
      description: 'Path below /s/<skill>/; ":name" is a parameter, $route.name on the page.',
    }),
    title: words(80, 'Title of the page.'),
    usdl: T.String({
      maxLength: 100,
      pattern: fileForm,
      [SAYS]: { pattern: 'must be a .yaml or .json file below the skill’s folder, in lower case' },
      description: 'File of the page in USDL.',
    }),
    guards: T.Optional(T.Array(guard, { maxItems: 8, description: 'What must be there.' })),
    prefetch: T.Optional(
      T.Array(prefetch, { maxItems: 8, description: 'What is asked for when the page opens.' }),
    ),
  },
  closed,
);

export const scenarioAppSchema = T.Object(
  {
    $schema: T.Optional(T.String({ maxLength: 200, description: 'Where an editor finds this schema.' })),
    name: T.String({ minLength: 1, maxLength: 64, description: 'Name, for its author.' }),
    version: T.String({ minLength: 1, maxLength: 64, description: 'Version, in its author’s words.' }),
    title: words(80, 'Title of the app.'),
    entry: route('The route it opens with.'),
    theme: T.Optional(
      T.Object(
        { tokens: T.Enum([...tokenSets], { description: 'A set of colours.' }) },
        { ...closed, description: 'How it looks.' },
      ),
    ),
    permissions: T.Optional(
      T.Array(
        T.Object(
          {
            skill,
            contracts: T.Array(contract('Name of a query or an action.'), {
              maxItems: 64,
              uniqueItems: true,
              description: 'What the app may ask of the skill.',
            }),
          },
          closed,
        ),
        { maxItems: 16, description: 'Other skills, whose state the app reads and which it may ask.' },
      ),
    ),
    viewModel: T.Optional(
      T.Object(
        { initial: anyObject('By skill, what lies below its state: {shopping: {items: {}}}.') },
        { ...closed, description: 'The view model: a part for the skill, and one for each in permissions.' },
      ),
    ),
    routes: T.Unsafe<Record<string, T.Static<typeof oneRoute>>>({
      type: 'object',
      minProperties: 1,
      maxProperties: 32,
      propertyNames: { pattern: nameForm },
      additionalProperties: oneRoute,
      description: 'The pages, by name.',
    }),
    menu: T.Optional(
      T.Array(T.Object({ route: route('A route without parameters.') }, closed), {
        maxItems: 8,
        description: 'What the menu leads to, in order.',
      }),
    ),
  },
  {
    ...closed,
    $id: 'urn:ingle:schema:scenario-app',
    title: 'Ingle scenario app',
    description: 'scenario.yaml: an app of pages that a skill brings, mounted at /s/<skill>/.',
  },
);

export type ScenarioApp = T.Static<typeof scenarioAppSchema>;

/** What the schema does not say. @param id the skill the app comes with */
function crossFaults({ entry, routes, menu = [], permissions = [], viewModel }: ScenarioApp, id: string) {
  const faults: Fault[] = [];
  const leads = (name: string | undefined, pointer: string, isPlain: boolean) => {
    if (name === undefined) return;
    const to = Object.hasOwn(routes, name) ? routes[name] : undefined;
    if (!to) faults.push({ pointer, says: `names no route; there is ${Object.keys(routes).join(', ')}` });
    else if (isPlain && paramsOf(to.path).length > 0)
      faults.push({ pointer, says: 'names a route with parameters' });
  };
  leads(entry, '/entry', true);
  for (const [i, { route }] of menu.entries()) leads(route, `/menu/${i}/route`, true);
  const shapes = new Map<string, string>();
  for (const [name, { path, guards = [] }] of Object.entries(routes)) {
    const at = `/routes/${name}`;
    const shape = path.replace(/:\w+/g, ':');
    if (shapes.has(shape))
      faults.push({ pointer: `${at}/path`, says: `is the same as that of "${shapes.get(shape)}"` });
    shapes.set(shape, name);
    if (new Set(paramsOf(path)).size < paramsOf(path).length)
      faults.push({ pointer: `${at}/path`, says: 'has a parameter twice' });
    guards.forEach((g, i) => {
      const here = `${at}/guards/${i}`;
      if ((g.hasParam === undefined) === (g.has === undefined))
        faults.push({ pointer: here, says: 'says either hasParam or has' });
      if (g.has !== undefined && !pathOf(g.has, { root: ['state'] }))
        faults.push({ pointer: `${here}/has`, says: 'must be a path, as $.shopping.items' });
      if (g.else === name) faults.push({ pointer: `${here}/else`, says: 'leads to the same page' });
      leads(g.else, `${here}/else`, true);
    });
  }
  const named = permissions.map((p) => p.skill);
  permissions.forEach(({ skill }, i) => {
    const pointer = `/permissions/${i}/skill`;
    if (skill === id) faults.push({ pointer, says: 'is the skill of the app, which needs none' });
    else if (named.indexOf(skill) < i) faults.push({ pointer, says: 'is there twice' });
  });
  for (const [name, value] of Object.entries(viewModel?.initial ?? {})) {
    const pointer = `/viewModel/initial/${name.replace(/~/g, '~0').replace(/\//g, '~1')}`;
    if (name !== id && !named.includes(name))
      faults.push({ pointer, says: `is no part of the view model; there is ${[id, ...named].join(', ')}` });
    else if (value === null || typeof value !== 'object' || Array.isArray(value))
      faults.push({ pointer, says: 'must be an object' });
  }
  return faults;
}

/** Every fault of a scenario, each with its pointer. */
export function scenarioFaults(value: unknown, id: string): Fault[] {
  const faults = faultsOf(scenarioAppSchema, value);
  return faults.length > 0 ? faults : crossFaults(value as ScenarioApp, id);
}
