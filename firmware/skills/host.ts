// Runs one skill: its documents an owner, its requests once each. Knows no bus; services/skill-host wires it.
import { randomUUID } from 'node:crypto';
import * as Y from 'yjs';
import { mergeContent, mergeMeta, readContent, sourceOf, treeKey } from '../documents/content.ts';
import { isOwnerId } from '../documents/key.ts';
import { router } from '../protocol/endpoint/router.ts';
import { IngleError, toIngleError } from '../protocol/errors.ts';
import { parseObject } from '../protocol/json.ts';
import { toDict } from '../system/contract.ts';
import { type Language, languages } from '../text/i18n.ts';
import { isToClient, type ToClient } from '../ui/topic-names.ts';
import { openInterest } from './interest.ts';
import type { Answer } from './live.ts';
import type { Answers } from './load.ts';
import type { Manifest } from './manifest.ts';
import { fromMark, marksOf } from './marks.ts';
import { saidBySkill } from './said.ts';
import { queryPath, topicPaths } from './screen-topics.ts';
import type { JsonObject, Patch, Skill, SkillEndpoint, SkillReply, SkillRequest } from './sdk/skill.ts';
import type { HubContext, HubSkill } from './skill.ts';
import { openStorage, type Vault } from './storage.ts';
import { type Clock, openTimers, systemClock } from './timers.ts';
import { uiPaths } from './ui-paths.ts';

interface Served {
  documents: Map<string, Y.Doc>;
  viewers: number;
  /** Answers under way or given, by idempotency id. */
  answers: Map<string, Promise<Answer>>;
}

export interface Host {
  readonly manifest: Manifest;
  readonly implementation: Answers;
  /** How many look at its documents, of all owners. */
  viewers(): number;
  /** Whether it has to stay awake: somebody looks, or a timer is set. */
  isNeeded(): boolean;
  stop(): void;
  /** Nothing of it goes on, and the skill is not told: what a kill leaves. */
  abandon(): void;
}

/** The documents a skill has; more come with branches. */
const names = ['view:main', 'state:main'];
/** Answers kept in memory an owner, and those kept in the state document to survive a crash. */
const KEPT = 256;
/** Problems of a document that are written to the log. */
const SAID = 20;
const MARKED = 64;
const MARK_BYTES = 256;
/** How long timers wait for the first owner, milliseconds. */
const ALONE_MS = 10_000;

/**
 * Starts a skill.
 * @param manifest that of its bundle
 * @param o.update is told of each change of a document, in order.
 */
export function startHost(
  manifest: Manifest,
  definition: HubSkill,
  o: {
    context: Pick<HubContext, 'language' | 'log' | 'publish' | 'fetch' | 'client' | 'names'>;
    /** What it keeps, brought to this version. */
    vault: Vault;
    clock?: Clock;
    update: (owner_id: string, doc: string, update: Uint8Array) => void;
    /** Carries what the skill tells a person. */
    say?: (owner_id: string, topic: ToClient, payload: JsonObject) => void;
    /** Told when another timer is the next. */
    due?: (at: number) => void;
    timeoutMs?: number;
  },
): Host {
  const served = new Map<string, Served>();

  function serve(owner_id: string): Served {
    const known = served.get(owner_id);
    if (known) return known;
    if (!isOwnerId(owner_id)) throw new IngleError('invalid_request', 'That is no owner id.');
    const s: Served = { documents: new Map(), viewers: 0, answers: new Map() };
    for (const name of names) {
      const doc = new Y.Doc();
      doc.on('update', (update: Uint8Array, origin: unknown) => {
        if (origin !== 'stored') o.update(owner_id, name, update);
      });
      s.documents.set(name, doc);
    }
    served.set(owner_id, s);
    return s;
  }
  const document = (owner_id: string, name: string): Y.Doc => {
    const doc = served.get(owner_id)?.documents.get(name);
    if (!doc) throw new IngleError('not_found', `The skill does not serve ${owner_id}.`);
    return doc;
  };

  const allViewers = () => [...served.values()].reduce((n, s) => n + s.viewers, 0);

  const clock = o.clock ?? systemClock;
  const timers = openTimers(o.vault, o.context.log, clock, o.due);
  /** When somebody will start this process again. */
  let kept = 0;
  const storage = openStorage(o.vault);
  const interest = openInterest(storage, { log: o.context.log, clock, makeId: randomUUID });
  const isAsked = manifest.capabilities.streams?.supportsDeclarativeInterest === true;
  const context: HubContext = {
    ...o.context,
    id: manifest.id,
    storage,
    timers: timers.timers,
    interest: interest.interest,
    owners: () => [...served.keys()],
    viewers: (owner_id) => (owner_id === undefined ? allViewers() : (served.get(owner_id)?.viewers ?? 0)),
    state: (owner_id) => readContent(document(owner_id, 'state:main')),
    setState: (owner_id, patch) => mergeContent(document(owner_id, 'state:main'), patch),
    tell(owner_id, topic, payload) {
      document(owner_id, 'state:main');
      if (!isToClient(topic)) throw new IngleError('invalid_request', `A skill tells no "${topic}".`);
      o.say?.(owner_id, topic, payload as unknown as JsonObject);
    },
    setView(owner_id, view) {
      const doc = document(owner_id, 'view:main');
      // The hub's tree stands beside the view, and is the hub's to change.
      const given = sourceOf(view as JsonObject);
      const gone = Object.keys(readContent(doc)).filter((k) => k !== treeKey && !Object.hasOwn(given, k));
      mergeContent(doc, { ...Object.fromEntries(gone.map((k) => [k, undefined])), ...given });
    },
  };
  const skill: Skill = definition.start(context);
  // What fired before an owner is there could show nobody anything.
  const unwait = clock.after(ALONE_MS, startTimers);
  function startTimers(): void {
    unwait();
    const within = (work: () => void | Promise<void>) => limit((async () => work())(), o.timeoutMs ?? 20_000);
    timers.start((fired) => within(() => skill.timer?.(fired)));
    if (isAsked) interest.start((due) => within(() => skill.wanted?.(due)));
  }
  const titleIn = (l: Language) => {
    const ui = manifest.capabilities.ui;
    return definition.title?.(l) ?? ui?.titles?.[l] ?? ui?.title ?? manifest.id;
  };
  const own = uiPaths(manifest, {
    language: o.context.language,
    title: titleIn,
    view: (owner_id) => sourceOf(readContent(document(owner_id, 'view:main'))),
    state: context.state,
  });
  const isTaken = (e: SkillEndpoint) =>
    skill.endpoints.some((s) => s.method === e.method && s.path === e.path);
  const all = [
    ...skill.endpoints,
    ...[...own, ...topicPaths(skill)].filter((e) => !isTaken(e)),
    ...(isAsked ? [interest.endpoint] : []),
  ];
  const { find } = router(all.map((endpoint) => ({ endpoint })));

  function abandon(): void {
    unwait();
    timers.stop();
    interest.stop();
  }

  /** The effect of a request and the mark that it is done, as one change. */
  function finish(request: SkillRequest, reply: SkillReply): Answer {
    const body = reply.text ?? (reply.body === undefined ? '' : JSON.stringify(reply.body));
    const type =
      reply.text === undefined ? 'application/json' : `${reply.type ?? 'text/plain'}; charset=utf-8`;
    const answer: Answer = {
      status: reply.status ?? (body ? 200 : 204),
      headers: body ? { 'content-type': type } : {},
      body: new TextEncoder().encode(body),
    };
    if (!isRemembered(request)) return answer;
    const doc = document(request.owner_id, 'state:main');
    const patch: Patch = reply.state?.(readContent(doc)) ?? {};
    const marks = marksOf(doc).filter((m) => m.id !== request.id);
    marks.push({ id: request.id, status: answer.status, body: body.length <= MARK_BYTES ? body : '{}' });
    doc.transact(() => {
      mergeContent(doc, patch);
      mergeMeta(doc, { done: marks.slice(-MARKED).map((m) => ({ ...m })) });
    });
    return answer;
  }

  async function run(request: SkillRequest): Promise<Answer> {
    const { endpoint } = find(request.method, request.path).bound;
    return finish(request, await endpoint.answer(request));
  }

  /** As `run`, but a fault in the skill's own code is its answer, told in the one shape. */
  async function answer(request: SkillRequest): Promise<Answer> {
    try {
      return await limit(run(request), o.timeoutMs ?? 20_000);
    } catch (cause) {
      const said = saidBySkill(cause);
      if (!said) o.context.log.error('the skill failed', { path: request.path, cause: cause as Error });
      // An error of the bus has no details, as those of fields: they go as the answer that says the same.
      if (said?.details)
        return {
          status: said.status,
          headers: { 'content-type': 'application/json' },
          body: new TextEncoder().encode(JSON.stringify(said.body())),
        };
      throw said ?? toIngleError(cause);
    }
  }

  const implementation: Answers = {
    Manifest: () => {
      const ui = manifest.capabilities.ui;
      const title = definition.title ? titleIn(o.context.language) : (ui?.title ?? manifest.id);
      const titles = definition.title
        ? Object.fromEntries(languages.map((l) => [l, titleIn(l)]))
        : ui?.titles;
      const shown = ui
        ? {
            ...manifest,
            capabilities: { ...manifest.capabilities, ui: { ...ui, title, ...(titles ? { titles } : {}) } },
          }
        : manifest;
      return { manifest: toDict(shown as unknown as Record<string, unknown>) };
    },
    Attach({ owner_id, documents }) {
      const fresh = !served.has(owner_id);
      const s = serve(owner_id);
      const stored = new Map(documents.map((d) => [d.doc, d.update]));
      for (const [name, update] of stored) {
        const doc = s.documents.get(name);
        if (!doc) continue;
        try {
          Y.applyUpdate(doc, update, 'stored');
        } catch {
          throw new IngleError('invalid_request', `The stored ${name} cannot be read.`);
        }
      }
      if (fresh) skill.attached?.(owner_id);
      if (fresh && served.size === 1) startTimers();
      const out: { doc: string; update: Uint8Array }[] = [];
      for (const [name, doc] of s.documents) {
        const given = stored.get(name);
        const vector = given ? Y.encodeStateVectorFromUpdate(given) : undefined;
        out.push({ doc: name, update: Y.encodeStateAsUpdate(doc, vector) });
      }
      return { documents: out };
    },
    Due: () => ({ at: timers.next() }),
    Kept({ at }) {
      kept = at;
      return {};
    },
    Watch({ owner_id, viewers }) {
      const s = serve(owner_id);
      s.viewers = viewers;
      skill.watched?.(owner_id, viewers);
      return {};
    },
    Told({ doc, refused, problems }) {
      for (const problem of problems.slice(0, SAID))
        o.context.log.warn(`the hub ${refused ? 'refuses' : 'marks a part of'} ${doc}`, { ...problem });
      return {};
    },
    async Request({ id, owner_id, method, path, headers, body }) {
      const s = served.get(owner_id);
      if (!s) throw new IngleError('unavailable', 'The skill does not serve this owner yet. Try again.');
      const bare = path.split('?', 1)[0]!;
      const isKept = isRemembered({ method, path: bare });
      if (isKept) {
        const mark = marksOf(document(owner_id, 'state:main')).find((m) => m.id === id);
        if (mark) return fromMark(mark);
        const known = s.answers.get(id);
        if (known) return known;
      }
      const query = path.slice(bare.length + 1);
      const given = parseObject(body) as JsonObject;
      const request: SkillRequest = {
        id,
        owner_id,
        method,
        path: bare,
        query: new URLSearchParams(query),
        body: given,
        ...(headers['last-event-id'] ? { lastEventId: headers['last-event-id'] } : {}),
      };
      const result = answer(request);
      if (isKept) {
        s.answers.set(id, result);
        // What failed may be tried again; what was done may not.
        result.then(
          (a) => a.status >= 400 && s.answers.delete(id),
          () => s.answers.delete(id),
        );
        if (s.answers.size > KEPT) s.answers.delete(s.answers.keys().next().value!);
      }
      return result;
    },
  };
  return {
    manifest,
    implementation,
    viewers: allViewers,
    isNeeded: () => allViewers() > 0 || timers.waiting(kept) || (isAsked && interest.waiting()),
    stop() {
      abandon();
      skill.stop?.();
    },
    abandon,
  };
}

/** Whether a request is done once by its id; what changes nothing is simply done again. */
const isRemembered = ({ method, path }: Pick<SkillRequest, 'method' | 'path'>): boolean =>
  method !== 'GET' && path !== queryPath;

function limit<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new IngleError('timeout', 'The skill took too long.')), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
