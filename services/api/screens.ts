// Answers of firmware/skills/api.ts: the desktop's icons, opening a screen, a skill's own paths.
import { listDocuments } from '../../firmware/documents/archive.ts';
import { etagOf, type JsonObject } from '../../firmware/documents/content.ts';
import { commandsKey, formatKey } from '../../firmware/documents/key.ts';
import type { Library } from '../../firmware/documents/library.ts';
import { isOver, makePreview } from '../../firmware/documents/preview.ts';
import { checked } from '../../firmware/protocol/endpoint/check.ts';
import { bind, type Handlers, nothing } from '../../firmware/protocol/endpoint/router.ts';
import { IngleError, toIngleError } from '../../firmware/protocol/errors.ts';
import { parseObject } from '../../firmware/protocol/json.ts';
import type { Role } from '../../firmware/protocol/roles.ts';
import { isPagePath } from '../../firmware/protocol/skill-page.ts';
import { actionsOf, checkInput } from '../../firmware/skills/actions.ts';
import type { Answer } from '../../firmware/skills/answer.ts';
import { skillsApi } from '../../firmware/skills/api.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import type { Mode } from '../../firmware/skills/manifest.ts';
import { actionPath, queryPath } from '../../firmware/skills/screen-topics.ts';
import type { Store } from '../../firmware/system/store.ts';
import { pickBranch } from '../../firmware/ui/overlay.ts';
import { toSkill, uiPage } from '../../firmware/ui/topics.ts';
import type { Desktop } from './desktop.ts';
import { type Asked, type LocalEndpoint, usable, usableBy } from './dispatch.ts';
import type { Response } from './http.ts';

interface Parts {
  store: Store;
  skills: Skills;
  desktop: Desktop;
  library: Library;
}

const nothingIn = etagOf({});

/** Branches of a document that exist now: one that was emptied is as none, and so is one whose time is over. */
async function branchesOf(store: Store, prefix: string): Promise<string[]> {
  const now = Math.floor(Date.now() / 1000);
  const rows = await listDocuments(store, prefix);
  return rows
    .filter((row) => row.etag !== nothingIn && !isOver(row, now))
    .map((row) => row.key.slice(prefix.length));
}

export function skillEndpoints(p: Parts): LocalEndpoint[] {
  const { store, skills, desktop } = p;
  /** Local control sees what the person does whose things it asks about. */
  function roleOf({ caller, owner_id }: Asked): Role {
    if (caller?.role === 'member') throw new IngleError('forbidden', 'A hub has no desktop here.');
    return caller?.role ?? desktop.roleOf(owner_id) ?? 'owner';
  }
  const handlers: Handlers<typeof skillsApi, Asked, Response> = {
    icons: (asked) => desktop.icons(asked.owner_id, roleOf(asked)),
    actions: ({ caller }) => ({ actions: actionsOf(usableBy(p, caller)) }),
    async pin(asked) {
      const { skill_id, pinned } = asked.body;
      await desktop.pin(asked.owner_id, roleOf(asked), skill_id, pinned);
      return { ok: true };
    },
    async order(asked) {
      await desktop.arrange(asked.owner_id, roleOf(asked), asked.body);
      return { ok: true };
    },
    async arrange(asked) {
      await desktop.arrange(asked.owner_id, roleOf(asked), asked.body);
      return { ok: true };
    },
    async read(asked) {
      await desktop.read(asked.owner_id, roleOf(asked), asked.body.to);
      return { ok: true };
    },
    open: (asked) => open(asked, asked.body, p),
    async preview({ caller, owner_id, body }) {
      const { skill_id, view, state, seconds = 3600 } = body;
      usable(p, skill_id, caller);
      const rows = await listDocuments(store, `${owner_id}/${skill_id}/`);
      const { token, ...made } = await makePreview(p.library, {
        ...{ owner_id, skill_id, seconds, there: rows.map((r) => r.key) },
        view: view as JsonObject,
        state: state as JsonObject | undefined,
      });
      return { ...made, token, fragment: `#preview.${token}`, problems: [...made.problems] };
    },
    async sharedPage({ id, owner_id, caller, params: { skill_id, path } }) {
      const { capabilities } = usable(p, skill_id, caller);
      if (capabilities.ui?.pages !== 'root')
        throw new IngleError('forbidden', 'The pages of this skill do not go through root.');
      if (!isPagePath(path)) throw nothing();
      const asked = { id, owner_id, method: 'GET', path: `/v1/ui/${path}`, body: new Uint8Array() };
      const a = await skills.request(skill_id, asked);
      return { status: a.status, headers: headersOf(a.headers['content-type']), body: a.body };
    },
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

async function open(
  asked: Asked,
  { skill_id, mode, preview }: { skill_id: string; mode: string; preview?: string | undefined },
  p: Parts,
) {
  const { capabilities } = usable(p, skill_id, asked.caller);
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
  // It comes up while its screen's documents are joined.
  p.skills.rouse(skill_id);
  const { owner_id } = asked;
  const device = asked.caller?.browser ?? 'local';
  const [views, states] = await Promise.all(
    (['view', 'state'] as const).map((doc_type) =>
      branchesOf(p.store, `${owner_id}/${skill_id}/${doc_type}:`),
    ),
  );
  if (preview !== undefined && !views!.includes(`preview/${preview}`))
    throw new IngleError('not_found', 'There is no such preview, or its time is over.');
  const own = `owner/${owner_id}`;
  const shared = (b: string) => b === 'main' || /^(ab|preview)\//.test(b);
  const mine = (b: string) => shared(b) || b === `device/${device}` || b === own;
  const key = (doc_type: 'view' | 'state', branches: string[]) =>
    formatKey({ owner_id, skill_id, doc_type, branch: pickBranch(branches, preview, device) ?? 'main' });
  return {
    schema: 'ui/v0' as const,
    view: key('view', views!.filter(mine)),
    // Personal branches of a state lie over it, they do not stand for it.
    state: key('state', states!.filter(shared)),
    ...(states!.includes(own)
      ? { own: formatKey({ owner_id, skill_id, doc_type: 'state', branch: own }) }
      : {}),
    prefs: formatKey({ owner_id, skill_id, doc_type: 'state', branch: `device/${device}` }),
    commands: commandsKey(owner_id, device),
    sizeHints: ui.sizeHints ?? { w: 400, h: 500 },
    title: ui.title,
    mode,
  };
}
