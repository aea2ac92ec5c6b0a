// The skill manifest: what a skill is, shows and may do. Its schema, and a check that speaks to the skill's author. Pure.
import * as T from 'typebox';
import { houseSkills, skillIdForm } from '../documents/key.ts';
import { faultsOf, refusal, SAYS } from '../protocol/endpoint/check.ts';
import { IngleError } from '../protocol/errors.ts';
import { MAX_BODY } from '../protocol/limits.ts';
import { personRoles } from '../protocol/roles.ts';
import { bindingError, pathOf } from '../ui/binding.ts';
import { actionsSchema } from './actions.ts';
import { CAPS, LEAST } from './limits.ts';
import { localized } from './localized.ts';

const closed = { additionalProperties: false };
const semver = '^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(-[0-9A-Za-z.-]+)?(\\+[0-9A-Za-z.-]+)?$';
const iconForm = '^(?:[a-z0-9][a-z0-9-]{0,63}|data:image/svg\\+xml[;,][\\s\\S]+)$';
/** A name of at least two labels (RFC 1123), the last of which no IPv4 address has. */
/** One host name in lower case: `api.example.org`. */
export const hostForm =
  '^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)+(?!\\d+$)[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$';
const share = (name: keyof typeof CAPS, unit: string, doc: string) =>
  T.Optional(
    T.Integer({
      ...{ minimum: LEAST[name], maximum: CAPS[name] },
      [SAYS]: `must be ${LEAST[name]} to ${CAPS[name]} ${unit}`,
      description: `${doc} ${CAPS[name]} where it is left out, which is the most a hub gives.`,
    }),
  );
const text = (maxLength: number, more: T.TStringOptions) => T.String({ minLength: 1, maxLength, ...more });
const pixels = T.Number({ minimum: 50, maximum: 4000, [SAYS]: 'must be a number of pixels from 50 to 4000' });

const bound = (description: string) =>
  T.Union([T.String({ minLength: 1, maxLength: 200 }), localized(200)], {
    [SAYS]: 'must be a text of 1 to 200 characters, or one for each language',
    description: `${description} A text with bindings into the state (\`{{state.temp}} °C\`), or one for each language. Where something it binds is missing, it is not shown.`,
  });
const glance = T.Object(
  {
    value: T.Optional(bound('What one looks for first, large: a few characters.')),
    line: T.Optional(bound('A short sentence below it.')),
    spark: T.Optional(
      T.String({
        maxLength: 200,
        description: 'Numbers to draw as a small line, one binding: `{{state.samples[*].cpu}}`.',
      }),
    ),
    alert: T.Optional(bound('What is not as it should be; then the tile asks for attention.')),
  },
  {
    ...closed,
    description:
      'What its tile on the desktop tells, live, without the skill being awake. It is seen before a passkey is asked for.',
  },
);

const ui = T.Object(
  {
    icon: T.Optional(
      text(8192, {
        pattern: iconForm,
        [SAYS]: { pattern: 'is neither an icon name nor data:image/svg+xml' },
        description: 'A name of an icon set, or a data:image/svg+xml value.',
      }),
    ),
    title: text(80, { description: 'Name of the skill under its icon.' }),
    titles: T.Optional(localized(80, 'The title by language (BCP 47); "title" stands in.')),
    entrypoint: T.Optional(
      text(200, {
        pattern: '^/v1/ui/[\\w\\-/]+$',
        [SAYS]: { pattern: 'must be a path below /v1/ui/' },
        description: 'Path of the panel page, for a skill whose screen is a page.',
      }),
    ),
    modes: T.Array(T.Enum(['modal', 'panel']), {
      minItems: 1,
      uniqueItems: true,
      [SAYS]: { type: 'must be a list of "modal" and "panel"', minItems: 'must name "modal" or "panel"' },
      description: 'How its screen may open.',
    }),
    sizeHints: T.Optional(T.Object({ w: pixels, h: pixels }, { ...closed, description: 'Size in pixels.' })),
    schema: T.Optional(
      T.Literal('ui/v0', { description: "The skill's screen is data: a ui/v0 view document." }),
    ),
    pages: T.Optional(
      T.Enum(['private', 'root'], {
        [SAYS]: 'must be "private" or "root"',
        description:
          'How a page of its own (UMF) comes to the browser: "private", the default, through the end-to-end channel; "root", through the public service, which can then read it and all files below /v1/ui/.',
      }),
    ),
    glance: T.Optional(glance),
    app: T.Optional(
      T.Literal('scenario.yaml', {
        description: 'The skill is a scenario app: pages of its own, which this file names.',
      }),
    ),
  },
  closed,
);

export const manifestSchema = T.Object(
  {
    $schema: T.Optional(T.String({ description: 'Where an editor finds this schema.' })),
    id: T.String({
      pattern: skillIdForm,
      [SAYS]: 'must be lower-case letters, digits and "_", beginning with a letter, at most 48',
      description: 'The skill, and the last part of its bus name.',
    }),
    version: text(64, {
      pattern: semver,
      [SAYS]: { pattern: 'is not a semantic version, as 1.0.0' },
      description: 'Semantic version (semver.org 2.0.0).',
    }),
    capabilities: T.Object(
      {
        visual: T.Optional(T.Boolean({ description: 'It has a screen; "ui" says which.' })),
        ui: T.Optional(ui),
        actions: T.Optional(actionsSchema),
        streams: T.Optional(T.Object({ supportsDeclarativeInterest: T.Optional(T.Boolean()) }, closed)),
      },
      closed,
    ),
    permissions: T.Optional(
      T.Object(
        {
          ownerOnly: T.Optional(T.Boolean({ description: 'Opens only after a fresh passkey check.' })),
          roles: T.Optional(
            T.Array(T.Enum([...personRoles]), {
              uniqueItems: true,
              [SAYS]: {
                type: 'must be a list of roles',
                enum: 'is no role; roles are admin, adult, kid, guest',
              },
              description: 'Who may use it beside the owner; everybody where it is left out.',
            }),
          ),
          hosts: T.Optional(
            T.Array(
              T.String({
                pattern: hostForm,
                [SAYS]: { pattern: 'must be one host name in lower case, as api.example.org' },
              }),
              {
                maxItems: 16,
                uniqueItems: true,
                description: 'Hosts the hub fetches from for it, over https: exact names.',
              },
            ),
          ),
          contracts: T.Optional(
            T.Array(
              T.Object(
                {
                  skill: T.String({ pattern: skillIdForm, [SAYS]: { pattern: 'is no id of a skill' } }),
                  contracts: T.Array(
                    T.String({
                      pattern: '^[A-Za-z][A-Za-z0-9_.:-]{0,63}$',
                      [SAYS]: { pattern: 'is no name of a contract, as orders.list' },
                    }),
                    { maxItems: 64, uniqueItems: true },
                  ),
                },
                closed,
              ),
              {
                maxItems: 16,
                description:
                  'What its app may ask of other skills, whose state it reads: as "permissions" of scenario.yaml, from where the build takes it.',
              },
            ),
          ),
          grants: T.Optional(
            T.Array(T.Enum(['journal']), {
              minItems: 1,
              uniqueItems: true,
              description:
                "What the hub's maker alone gives, to skills of the image and to packages signed with the maker's key. journal: the log of the hub's services.",
            }),
          ),
        },
        closed,
      ),
    ),
    limits: T.Optional(
      T.Object(
        {
          memory_mib: share('memory_mib', 'MiB', 'Memory of all its processes; what takes more is ended.'),
          cpu_percent: share('cpu_percent', 'percent', 'Of one processor; what wants more waits.'),
        },
        { ...closed, description: 'What it takes of the machine at most.' },
      ),
    ),
  },
  {
    ...closed,
    $id: 'urn:ingle:schema:manifest',
    title: 'Ingle skill manifest',
    description: 'skills/<skill>/manifest.json: what a skill is, shows and may do.',
  },
);

export type Manifest = T.Static<typeof manifestSchema>;
export type Grant = NonNullable<NonNullable<Manifest['permissions']>['grants']>[number];
export type Mode = NonNullable<Manifest['capabilities']['ui']>['modes'][number];

/** What the schema does not say: fields that need one another. */
function crossFaults({ id, capabilities: { visual, ui, actions = {} }, permissions }: Manifest) {
  if (houseSkills.includes(id)) return [{ pointer: '/id', says: "is the hub's own" }];
  if (permissions?.ownerOnly && permissions.roles)
    return [{ pointer: '/permissions/roles', says: 'says nothing where the skill is for the owner only' }];
  const pointer = '/capabilities/ui';
  for (const [id, { input }] of Object.entries(actions)) {
    const at = input.required?.findIndex((name) => !Object.hasOwn(input.properties, name)) ?? -1;
    if (at >= 0)
      return [{ pointer: `/capabilities/actions/${id}/input/required/${at}`, says: 'names no property' }];
  }
  if (visual && !ui) return [{ pointer, says: 'is missing, a visual skill needs it' }];
  if (ui && !ui.schema && !ui.entrypoint && !ui.app)
    return [{ pointer, says: 'needs a schema, an entrypoint or an app' }];
  if (ui?.app && (ui.schema || ui.entrypoint))
    return [
      { pointer: `${pointer}/app`, says: 'has pages of its own, and no schema or entrypoint beside them' },
    ];
  if (ui?.app && ui.pages)
    return [{ pointer: `${pointer}/pages`, says: 'says nothing where the skill is an app' }];
  if (permissions?.contracts && !ui?.app)
    return [{ pointer: '/permissions/contracts', says: 'says nothing where the skill has no app' }];
  return ui?.glance ? glanceFaults(ui.glance) : [];
}

/** Bindings of a glance see the state, and nothing else. */
function glanceFaults({ spark, ...texts }: T.Static<typeof glance>) {
  const at = '/capabilities/ui/glance';
  const wrong = (text: string) =>
    bindingError(text) ?? (/\{\{\s*meta\b/.test(text) ? 'binds meta, which a tile does not have' : null);
  const faults = Object.entries(texts).flatMap(([name, words]) =>
    typeof words === 'string'
      ? [{ pointer: `${at}/${name}`, says: wrong(words) }]
      : Object.entries(words).map(([l, text]) => ({ pointer: `${at}/${name}/${l}`, says: wrong(text) })),
  );
  const isPath = spark === undefined || (pathOf(spark) !== null && wrong(spark) === null);
  if (!isPath) faults.push({ pointer: `${at}/spark`, says: 'must be one binding into the state' });
  return faults.flatMap(({ pointer, says }) => (says === null ? [] : [{ pointer, says }]));
}

/**
 * Checks a manifest strictly.
 * @throws IngleError `invalid_request`: a sentence with all faults; details as `refusal` has them. `too_large`
 */
export function checkManifest(value: unknown): Manifest {
  if ((JSON.stringify(value) ?? '').length > MAX_BODY)
    throw new IngleError('too_large', `A manifest may have at most ${MAX_BODY} bytes.`);
  const faults = faultsOf(manifestSchema, value);
  const all = faults.length > 0 ? faults : crossFaults(value as Manifest);
  if (all.length > 0) throw refusal(all, all[0]?.pointer ? "The manifest's" : 'The manifest');
  return value as Manifest;
}

/** What a skill shows of itself in its manifest: its titles. The rest is as its bundle says. */
export function titled(manifest: Manifest, said: Manifest): Manifest {
  const { ui, ...capabilities } = manifest.capabilities;
  const { title, titles } = said.capabilities.ui ?? {};
  if (!ui || !title) return manifest;
  return {
    ...manifest,
    capabilities: { ...capabilities, ui: { ...ui, title, ...(titles ? { titles } : {}) } },
  };
}
