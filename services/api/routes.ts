// The local API's paths: who may ask what, and who answers.
import { type Caller, isElevated } from '../../firmware/documents/acl.ts';
import type { Call } from '../../firmware/documents/commands.ts';
import { commandsKey, formatKey } from '../../firmware/documents/key.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { parseObject, shape } from '../../firmware/protocol/json.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import type { Manifest, Mode } from '../../firmware/skills/manifest.ts';
import type { Store } from '../../firmware/system/store.ts';
import { pickBranch } from '../../firmware/ui/overlay.ts';
import { listIcons, orderIcons, pinIcon } from './icons.ts';
import type { Observe } from './observe.ts';
import type { Response } from './server.ts';
import type { Status } from './status.ts';
import { type Order, orders, type Updates } from './update.ts';

export interface Parts {
  store: Store;
  skills: Skills;
  status: Status;
  observe: Observe;
  updates: Updates;
  /** Documents a caller may read whose key begins with a prefix. */
  index: (caller: Caller, prefix: string) => Promise<Response>;
  /** Branches of a document that exist. */
  branches: (owner_id: string, skill_id: string, doc_type: string) => Promise<string[]>;
}

/** A request whose caller is known; `owner_id` is whose things it is about. */
export interface Asked extends Omit<Call, 'principal'> {
  caller: Caller;
  query: URLSearchParams;
}

type Route = (asked: Asked, match: RegExpExecArray, p: Parts) => Promise<Response> | Response;
/** Refuses by throwing; asked before the journal is, so that nobody gets an answer that is not for them. */
type Guard = (caller: Caller, match: RegExpExecArray, p: Parts) => void;

export const json = (body: unknown, status = 200): Response => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

/** Only the owner, or local control. */
function ownerOnly(caller: Caller): void {
  if (caller !== null && caller.role !== 'owner')
    throw new IngleError('forbidden', 'Only the owner of this hub may do this.');
}

/** Only the owner with a passkey checked lately, or local control. */
export function elevated(caller: Caller): void {
  ownerOnly(caller);
  if (!isElevated(caller, Date.now() / 1000))
    throw new IngleError('assertion_required', 'Confirm with your passkey to open this.');
}

/** The manifest of a skill the caller may use. */
export function usable(skills: Skills, skill_id: string, caller: Caller): Manifest {
  const known = skills.known().get(skill_id);
  if (!known) throw new IngleError('not_found', `There is no skill "${skill_id.slice(0, 60)}".`);
  if (known.manifest.permissions?.ownerOnly) elevated(caller);
  return known.manifest;
}

async function open(asked: Asked, p: Parts): Promise<Response> {
  const { skill_id, mode } = shape(parseObject(asked.body), { skill_id: 'string', mode: 'string' });
  const { capabilities } = usable(p.skills, skill_id, asked.caller);
  const ui = capabilities.ui;
  if (!ui) throw new IngleError('not_found', `The skill "${skill_id}" has no screen.`);
  if (!ui.modes.includes(mode as Mode))
    throw new IngleError('invalid_request', `The skill offers the modes ${ui.modes.join(', ')}.`, {
      pointer: '/mode',
    });
  if (ui.schema !== 'ui/v0')
    throw new IngleError(
      'not_supported',
      'This skill shows a page of its own, which this hub cannot open yet.',
    );
  const { owner_id } = asked;
  const device = asked.caller?.browser ?? 'local';
  const key = async (doc_type: 'view' | 'state', wanted: (branch: string) => boolean) => {
    const there = await p.branches(owner_id, skill_id, doc_type);
    return formatKey({ owner_id, skill_id, doc_type, branch: pickBranch(there.filter(wanted)) ?? 'main' });
  };
  const shared = (b: string) => b === 'main' || b.startsWith('ab/');
  const mine = (b: string) => shared(b) || b === `device/${device}` || b === `owner/${owner_id}`;
  return json({
    schema: 'ui/v0',
    view: await key('view', mine),
    // Personal branches of a state lie over it, they do not stand for it.
    state: await key('state', shared),
    prefs: formatKey({ owner_id, skill_id, doc_type: 'state', branch: `device/${device}` }),
    commands: commandsKey(owner_id, device),
    sizeHints: ui.sizeHints ?? { w: 400, h: 500 },
    title: ui.title,
    mode,
  });
}

async function skillRequest(
  asked: Asked,
  [, skill_id = '', path = '']: RegExpExecArray,
  p: Parts,
): Promise<Response> {
  const { id, owner_id, method, body } = asked;
  const query = asked.query.size > 0 ? `?${asked.query}` : '';
  const a = await p.skills.request(skill_id, { id, owner_id, method, path: path + query, body });
  const type = a.headers['content-type'];
  return { status: a.status, headers: type ? { 'content-type': type } : {}, body: a.body };
}

const changed = async (work: Promise<void>): Promise<Response> => {
  await work;
  return json({ ok: true });
};

const anybody: Guard = () => {};
const mayUse: Guard = (caller, [, skill_id = ''], p) => void usable(p.skills, skill_id, caller);

/** Every path: its methods, who may ask, what answers. */
export const routes: [methods: string, path: RegExp, Guard, Route][] = [
  ['GET', /^\/v1\/brand$/, anybody, (_, __, p) => json(p.status.brand)],
  ['GET', /^\/api\/status$/, ownerOnly, async (_, __, p) => json(await p.status.hub())],
  ['GET', /^\/api\/node\/status$/, ownerOnly, (_, __, p) => json(p.status.node())],
  ['GET', /^\/api\/services$/, ownerOnly, async (_, __, p) => json(await p.status.services())],
  ['GET', /^\/api\/setup$/, ownerOnly, async (_, __, p) => json(await p.status.setup())],
  ['POST', /^\/api\/setup\/restart$/, elevated, (_, __, p) => changed(p.status.restartSetup())],
  [
    'GET',
    /^\/api\/observe\/stream$/,
    elevated,
    ({ query }, _, p) => p.observe.stream(query.get('topic') ?? ''),
  ],
  ['GET', /^\/api\/admin\/update\/status$/, ownerOnly, async (_, __, p) => json(await p.updates.status())],
  ['GET', /^\/api\/admin\/update\/stream$/, elevated, (_, __, p) => p.observe.stream('update.')],
  [
    'POST',
    new RegExp(`^/api/admin/update/(${orders.join('|')})$`),
    elevated,
    async ({ body }, [, what], p) => json(await p.updates.order(what as Order, body)),
  ],
  [
    'GET',
    /^\/docs\/index$/,
    anybody,
    ({ caller, query }, _, p) => p.index(caller, query.get('prefix') ?? ''),
  ],
  [
    'GET',
    /^\/v1\/icons$/,
    anybody,
    async ({ caller, owner_id }, _, p) => json(await listIcons(p.store, p.skills.known(), caller, owner_id)),
  ],
  [
    'POST',
    /^\/v1\/icons\/pin$/,
    anybody,
    ({ owner_id, body }, _, p) => changed(pinIcon(p.store, p.skills.known(), owner_id, parseObject(body))),
  ],
  [
    'POST',
    /^\/v1\/icons\/order$/,
    anybody,
    ({ owner_id, body }, _, p) => changed(orderIcons(p.store, p.skills.known(), owner_id, parseObject(body))),
  ],
  ['POST', /^\/v1\/open$/, anybody, (asked, _, p) => open(asked, p)],
  [
    'GET POST PUT PATCH DELETE',
    /^\/skills\/([a-z][a-z0-9_]{0,47})(\/v1\/[\w\-./~%]+)$/,
    mayUse,
    skillRequest,
  ],
];

/** Paths a command document may ask for. */
export const commandPaths = /^\/(?:skills\/|v1\/icons\/)/;

/**
 * What answers a request, once the caller may ask it; `unavailable` before a restart comes from the answer itself.
 * @throws IngleError `not_found`, `method_not_allowed`, `forbidden`, `assertion_required`
 */
export function route(
  { caller, method }: Pick<Asked, 'caller' | 'method'>,
  path: string,
  p: Parts,
): (asked: Asked) => Promise<Response> {
  const fits = routes.flatMap(([methods, form, guard, answer]) => {
    const match = form.exec(path);
    return match ? [{ methods, match, guard, answer }] : [];
  });
  if (fits.length === 0 || path.includes('..'))
    throw new IngleError('not_found', 'There is nothing at this path.');
  const fit = fits.find((r) => r.methods.split(' ').includes(method));
  if (!fit) throw new IngleError('method_not_allowed', `This path does not take ${method.slice(0, 10)}.`);
  fit.guard(caller, fit.match, p);
  return async (asked) => {
    p.updates.admit(method, path);
    return fit.answer(asked, fit.match, p);
  };
}
