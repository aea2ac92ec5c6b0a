// The table of roles, by the endpoints that are declared and the documents there are: a page of the docs. Pure.
import { type Principal, rightsOf, skillAcl } from '../documents/acl.ts';
import { commandsSkill, parseKey } from '../documents/key.ts';
import type { Area } from '../protocol/endpoint/endpoint.ts';
import { methodsOf } from '../protocol/endpoint/endpoint.ts';
import { type Role, roles } from '../protocol/roles.ts';
import { type LocalWho, openTo } from '../system/local-api.ts';

/** What a cell says of a role that an endpoint is declared for. */
const says: Partial<Record<LocalWho, string>> = { elevated: 'passkey', skill: 'by skill' };

/** What an endpoint is to each role: `yes`, `passkey` (checked lately), `by skill`, or nothing. */
export const cellOf = (who: LocalWho, role: Role): string =>
  openTo[who].includes(role) ? (says[who] ?? 'yes') : '';

const person = 'person_x';
const principal = (role: Role): Principal => ({
  ...{ owner_id: role === 'owner' ? 'own' : person, browser: 'mine', role, elevated_until: 0 },
  ...(role === 'owner' ? {} : { household: 'own' }),
});

/** Kinds of documents: how they are called, a key (`me` stands for the caller's id), and entries beside a skill's own. */
const documents: readonly [what: string, key: string, more?: readonly string[]][] = [
  ['a skill’s view and state, of one’s own', 'me/lamp/state:main'],
  ['what one sets for oneself in a skill', 'me/lamp/state:owner/me'],
  ['what one sets on this browser', 'me/lamp/state:device/mine'],
  ['what one set on another browser of one’s own', 'me/lamp/state:device/other'],
  ['commands of this browser', `me/${commandsSkill}/state:device/mine`],
  ['a skill’s view and state, of the owner', 'own/lamp/state:main'],
  ['the same with the entry ROLE:KID:read', 'own/lamp/state:main', ['ROLE:KID:read']],
  ['what the owner set on a browser', 'own/lamp/state:device/phone'],
  ['a skill’s view and state, of another person', 'person_y/lamp/state:main'],
];

function documentCell([, key, more = []]: (typeof documents)[number], role: Role): string {
  const who = principal(role);
  const { read, write } = rightsOf(
    parseKey(key.replaceAll('me/', `${who.owner_id}/`).replace(/\/me$/, `/${who.owner_id}`)),
    [...skillAcl('lamp'), ...more],
    who,
  );
  return write ? 'writes' : read ? 'reads' : '';
}

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
const table = (first: string, rows: readonly (readonly string[])[]) =>
  [row([first, ...roles]), row(['---', ...roles.map(() => '---')]), ...rows.map(row)].join('\n');

export function rolesPage(areas: Readonly<Record<string, Area<LocalWho>>>): string {
  const endpoints = Object.values(areas)
    .flatMap((area) => Object.values(area))
    .filter((e) => e.who !== 'public' && e.who !== 'signed')
    .map((e) => [`\`${methodsOf(e).join(' ')} ${e.path}\``, ...roles.map((role) => cellOf(e.who, role))]);
  return `# Who may do what

Made from the declarations of the endpoints and the rules of documents; \`INGLE_WRITE=1 node test/run.mjs people/roles\` writes it anew, and the test fails while it is not as they are.

The owner invites people with one of four roles. Everybody has documents, pins and an order of their own, under an id of their own. Who is no owner has no right that a fresh check of a passkey opens: \`passkey\` is for the owner alone, and so are skills with \`ownerOnly\`. A skill whose manifest names \`permissions.roles\` is for the owner and these; the desktop document may keep it from more, and gives nobody what a manifest closes. Whoever works at the hub's own terminal is local control and may do everything, but for what only another hub of the subnet says over its channel (\`register\`, \`heartbeat\`, \`deregister\`). Such a member has no role: beside these it may read \`context\` and \`nodes\`, and nothing else.

## Endpoints

\`yes\`: may call. \`passkey\`: may call after a passkey was checked, for 12 hours. \`by skill\`: as the skill's manifest and the desktop document say. Empty: is refused with \`forbidden\`.

${table('endpoint', endpoints)}

## Documents

\`own\` is the owner of the hub. Skills write their documents themselves, each under its own name.

${table(
  'document',
  documents.map((d) => [d[0], ...roles.map((role) => documentCell(d, role))]),
)}
`;
}
