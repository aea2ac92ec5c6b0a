// The desktop scenario document: which skills a desktop has, for whom, and how it looks. Its schema and its check. Pure.
import * as T from 'typebox';
import { skillIdForm } from '../documents/key.ts';
import { refusal, SAYS } from '../protocol/endpoint/check.ts';

const closed = { additionalProperties: false };
const text = (maxLength: number, description: string) => T.String({ minLength: 1, maxLength, description });
const skillId = T.String({ pattern: skillIdForm, [SAYS]: { pattern: 'is no id of a skill' } });
const most = { maxItems: 256, uniqueItems: true };
const skills = (description: string) => T.Array(skillId, { ...most, description });
const allowed = T.Array(
  T.String({
    pattern: `^\\*$|${skillIdForm}`,
    [SAYS]: { pattern: 'is neither an id of a skill nor "*"' },
  }),
  { ...most, description: 'Skills it offers; "*" are all that have a screen.' },
);
const pixels = (maximum: number, description: string) =>
  T.Number({ minimum: 0, maximum, description, [SAYS]: `must be a number of pixels from 0 to ${maximum}` });

const cols = T.Integer({
  ...{ minimum: 1, maximum: 12, [SAYS]: 'must be a whole number from 1 to 12' },
  description: 'Most icons in a row; a narrow screen has fewer.',
});
const gap = pixels(48, 'Between icons, pixels.');
const padding = pixels(64, 'Around them, pixels.');
const statusBar = T.Boolean({
  description: 'The bar with the name of the hub and how it is reached. Warnings show without it.',
});

const role = T.Object(
  {
    allowSkills: T.Optional(allowed),
    ownerOnlySkills: T.Optional(skills('Skills that are kept from this role, beside those of "policy".')),
    layout: T.Optional(
      T.Object(
        {
          grid: T.Optional(
            T.Object({ cols: T.Optional(cols), gap: T.Optional(gap), padding: T.Optional(padding) }, closed),
          ),
          statusBar: T.Optional(statusBar),
        },
        closed,
      ),
    ),
  },
  { ...closed, description: 'What is different for a role. It has what "policy" allows at most.' },
);

/** The skill that shows the icons; a part of the hub. */
export const iconManager = 'icon_manager';
export const operations = {
  sourceOfApps: `${iconManager}.list_installed`,
  onIconClick: [`${iconManager}.open_modal`, `${iconManager}.open_panel`],
} as const;

export const scenarioSchema = T.Object(
  {
    $schema: T.Optional(T.String({ maxLength: 200, description: 'Where an editor finds this schema.' })),
    id: text(64, 'Name of the document.'),
    version: text(64, "The document's version, in its author's words."),
    uses: skills('Skills the document is made with; the icon manager is one.'),
    layout: T.Object({ grid: T.Object({ cols, gap, padding }, closed), statusBar }, closed),
    behavior: T.Object(
      {
        sourceOfApps: T.Literal(operations.sourceOfApps, {
          description: "Where icons come from: the icon manager's list of what is installed.",
        }),
        onIconClick: T.Enum([...operations.onIconClick], {
          description: 'What a tap on an icon does with its skill: open a window, or a panel.',
        }),
      },
      closed,
    ),
    policy: T.Object(
      {
        allowSkills: allowed,
        ownerOnlySkills: skills(
          'Skills for the owner alone, after a passkey check; those whose manifest says so are anyway.',
        ),
      },
      closed,
    ),
    roles: T.Optional(
      T.Object(
        {
          admin: T.Optional(role),
          adult: T.Optional(role),
          kid: T.Optional(role),
          guest: T.Optional(role),
        },
        closed,
      ),
    ),
  },
  {
    ...closed,
    $id: 'urn:ingle:schema:desktop',
    title: 'Ingle desktop scenario document',
    description: 'Which skills a desktop has, for whom, and how it looks: PUT /api/desktop.',
  },
);

export type Scenario = T.Static<typeof scenarioSchema>;

/**
 * What the schema does not say: a document that names operations of the icon manager uses it.
 * @param at where in the request the document is
 * @throws IngleError `invalid_request`
 */
export function checkUses({ uses }: Scenario, at = ''): void {
  if (!uses.includes(iconManager))
    throw refusal(
      [{ pointer: `${at}/uses`, says: `must have "${iconManager}", whose operations "behavior" names` }],
      "The document's",
    );
}

/** The skills a document names, each with where. */
export function namedIn({ uses, policy, roles = {} }: Scenario): { skill_id: string; pointer: string }[] {
  const named = (ids: readonly string[] | undefined, at: string) =>
    (ids ?? []).map((skill_id, i) => ({ skill_id, pointer: `${at}/${i}` }));
  const lists = (of: Partial<Scenario['policy']>, at: string) => [
    ...named(of.allowSkills, `${at}/allowSkills`),
    ...named(of.ownerOnlySkills, `${at}/ownerOnlySkills`),
  ];
  return [
    ...named(uses, '/uses'),
    ...lists(policy, '/policy'),
    ...Object.entries(roles).flatMap(([role, of]) => lists(of, `/roles/${role}`)),
  ].filter((n) => n.skill_id !== '*' && n.skill_id !== iconManager);
}
