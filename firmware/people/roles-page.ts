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
  ['one’s own view and state of a skill', 'me/lamp/state:main'],
  ['one’s own settings in a skill', 'me/lamp/state:owner/me'],
  ['one’s own settings on this browser', 'me/lamp/state:device/mine'],
  ['one’s own settings on another of one’s browsers', 'me/lamp/state:device/other'],
  ['commands of this browser', `me/${commandsSkill}/state:device/mine`],
  ['the owner’s view and state of a skill', 'own/lamp/state:main'],
  ['the same, with the entry ROLE:KID:read', 'own/lamp/state:main', ['ROLE:KID:read']],
  ['the owner’s settings on a browser', 'own/lamp/state:device/phone'],
  ['another person’s view and state of a skill', 'person_y/lamp/state:main'],
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

Made from the declarations of the endpoints and the rules for documents. \`INGLE_WRITE=1 node test/run.mjs people/roles\` writes this page anew; the test fails when it is out of date.

The owner invites people and gives each of them one of four roles. Everybody has their own documents, pins and order of icons, under their own id. Rights that need a freshly checked passkey (\`passkey\`) are the owner's alone, and so are skills with \`ownerOnly\`. A skill whose manifest has \`permissions.roles\` is for the owner and the roles named there; the desktop document may withhold it from some of them, but never gives it to anybody else. Whoever works at the hub's own terminal has local control and may do everything except what only another hub of the subnet says over its channel (\`register\`, \`heartbeat\`, \`deregister\`, \`runs\`). Such a hub has no role; besides these it may read \`context\` and \`nodes\`, and nothing else.

## Endpoints

\`yes\`: may call. \`passkey\`: may call for 12 hours after a passkey was checked. \`by skill\`: the skill's manifest and the desktop document decide. Empty: refused with \`forbidden\`.

${table('endpoint', endpoints)}

## Documents

\`own\` is the owner of the hub. Each skill writes its own documents, under its own name.

${table(
  'document',
  documents.map((d) => [d[0], ...roles.map((role) => documentCell(d, role))]),
)}
`;
}
