// Answers of firmware/skills/api.ts: the desktop's icons, opening a screen, a skill's own paths.
import { commandsKey, formatKey } from '../../firmware/documents/key.ts';
import { bind, type Handlers } from '../../firmware/protocol/endpoint/router.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { Role } from '../../firmware/protocol/roles.ts';
import { actionsOf, checkInput } from '../../firmware/skills/actions.ts';
import { skillsApi } from '../../firmware/skills/api.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import type { Mode } from '../../firmware/skills/manifest.ts';
import { pickBranch } from '../../firmware/ui/overlay.ts';
import type { Desktop } from './desktop.ts';
import { type Asked, type LocalEndpoint, usable, usableBy } from './dispatch.ts';
import type { Response } from './server.ts';

interface Parts {
  skills: Skills;
  desktop: Desktop;
  /** Branches of a document that exist. */
  branches: (owner_id: string, skill_id: string, doc_type: string) => Promise<string[]>;
}

export function skillEndpoints(p: Parts): LocalEndpoint[] {
  const { skills, desktop } = p;
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
    open: (asked) => open(asked, asked.body, p),
    async request({ id, owner_id, method, params, search, body, last_event_id }) {
      const query = search.size > 0 ? `?${search}` : '';
      const path = `/v1/${params.path}${query}`;
      const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
      const { manifest } = skills.known().get(params.skill_id)!;
      checkInput(manifest, method, params.path, bytes);
      const known: Record<string, string> = last_event_id ? { 'last-event-id': last_event_id } : {};
      const asked = { id, owner_id, method, path, headers: known, body: bytes };
      const a = await skills.request(params.skill_id, asked);
      return { status: a.status, headers: headersOf(a.headers['content-type']), body: a.body };
    },
  };
  return bind(skillsApi, handlers);
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
