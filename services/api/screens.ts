// Answers of firmware/skills/api.ts: the desktop's icons, opening a screen, a skill's own paths.
import type { Caller } from '../../firmware/documents/acl.ts';
import { commandsKey, formatKey } from '../../firmware/documents/key.ts';
import { checked } from '../../firmware/protocol/endpoint/check.ts';
import { bind, type Handlers } from '../../firmware/protocol/endpoint/router.ts';
import { IngleError, toIngleError } from '../../firmware/protocol/errors.ts';
import { parseObject } from '../../firmware/protocol/json.ts';
import { actionsOf, checkInput } from '../../firmware/skills/actions.ts';
import { skillsApi } from '../../firmware/skills/api.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import type { Answer } from '../../firmware/skills/live.ts';
import type { Mode } from '../../firmware/skills/manifest.ts';
import { actionPath, queryPath } from '../../firmware/skills/screen-topics.ts';
import type { Store } from '../../firmware/system/store.ts';
import { pickBranch } from '../../firmware/ui/overlay.ts';
import { toSkill, uiPage } from '../../firmware/ui/topics.ts';
import { type Asked, isShownTo, type LocalEndpoint, usable, usableBy } from './dispatch.ts';
import { listIcons, orderIcons, pinIcon } from './icons.ts';
import type { Response } from './server.ts';

interface Parts {
  store: Store;
  skills: Skills;
  /** Branches of a document that exist. */
  branches: (owner_id: string, skill_id: string, doc_type: string) => Promise<string[]>;
}

export function skillEndpoints(p: Parts): LocalEndpoint[] {
  const { store, skills } = p;
  /** What is not for somebody is not there for them. */
  const shownTo = (caller: Caller): Set<string> =>
    new Set([...skills.known()].flatMap(([id, k]) => (isShownTo(k.manifest, caller) ? [id] : [])));
  const handlers: Handlers<typeof skillsApi, Asked, Response> = {
    icons: ({ caller, owner_id }) => listIcons(store, skills.known(), caller, owner_id),
    actions: ({ caller }) => ({ actions: actionsOf(usableBy(skills, caller)) }),
    async pin({ caller, owner_id, body }) {
      await pinIcon(store, shownTo(caller), owner_id, body);
      return { ok: true };
    },
    async order({ caller, owner_id, body }) {
      await orderIcons(store, shownTo(caller), owner_id, body.order);
      return { ok: true };
    },
    open: (asked) => open(asked, asked.body, p),
    async request({ id, owner_id, method, params, search, body, last_event_id }) {
      const query = search.size > 0 ? `?${search}` : '';
      const path = `/v1/${params.path}${query}`;
      const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
      const { manifest } = skills.known().get(params.skill_id)!;
      checkInput(manifest, method, params.path, bytes);
      const known: Record<string, string> = last_event_id ? { 'last-event-id': last_event_id } : {};
      const asked = { id, owner_id, method, path, headers: known, body: bytes };
      const topic = isToTopic(method, `/v1/${params.path}`);
      if (topic) checked(toSkill[topic].payload, parseObject(bytes));
      const a = await skills.request(params.skill_id, asked);
      if (topic === 'ui.query') checkPage(a);
      return { status: a.status, headers: headersOf(a.headers['content-type']), body: a.body };
    },
  };
  return bind(skillsApi, handlers);
}

/** The topic of screens that a request of a client carries. */
function isToTopic(method: string, path: string): 'ui.action' | 'ui.query' | undefined {
  if (method !== 'POST') return undefined;
  return path === actionPath ? 'ui.action' : path === queryPath ? 'ui.query' : undefined;
}

/** @throws IngleError `internal` where a skill answers a query with something that is no page */
function checkPage({ status, body }: Answer): void {
  if (status >= 400) return;
  try {
    checked(uiPage, JSON.parse(new TextDecoder().decode(body)));
  } catch (cause) {
    throw new IngleError('internal', `The skill's answer is no page of rows: ${toIngleError(cause).message}`);
  }
}

const texts = ['text/plain', 'text/html', 'text/event-stream'].map((t) => `${t}; charset=utf-8`);
/** What a skill's page may do where it is opened: be seen. */
const stillPage =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'";

/** The headers of a skill's answer; of what it says itself only the type counts, where it is one of ours. */
function headersOf(type: string | undefined): Record<string, string> {
  if (!type) return {};
  if (type !== 'application/json' && !texts.includes(type)) return { 'content-type': texts[0]! };
  return {
    'content-type': type,
    ...(type.startsWith('text/html') ? { 'content-security-policy': stillPage } : {}),
  };
}

async function open(asked: Asked, { skill_id, mode }: { skill_id: string; mode: string }, p: Parts) {
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
  return {
    schema: 'ui/v0' as const,
    view: await key('view', mine),
    // Personal branches of a state lie over it, they do not stand for it.
    state: await key('state', shared),
    prefs: formatKey({ owner_id, skill_id, doc_type: 'state', branch: `device/${device}` }),
    commands: commandsKey(owner_id, device),
    sizeHints: ui.sizeHints ?? { w: 400, h: 500 },
    title: ui.title,
    mode,
  };
}
