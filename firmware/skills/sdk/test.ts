// @ingle/skill-sdk/test: a skill in memory, for its tests. No hub, no bus, no disk; time is given.
import { randomUUID } from 'node:crypto';
import * as Y from 'yjs';
import { readContent } from '../../documents/content.ts';
import { checkAsked } from '../../fetch/request.ts';
import { utf8 } from '../../protocol/bytes.ts';
import { checked } from '../../protocol/endpoint/check.ts';
import { IngleError, isErrorCode } from '../../protocol/errors.ts';
import type { Language } from '../../text/i18n.ts';
import { toClient, toSkill, uiPage } from '../../ui/topics.ts';
import { memoryDisk } from '../disk.ts';
import { contentCheck } from '../documents.ts';
import { type Fetches, fetchOver } from '../fetch.ts';
import { type Host, startHost } from '../host.ts';
import { openKept } from '../keep.ts';
import { checkManifest, type Manifest } from '../manifest.ts';
import { openStorage } from '../storage.ts';
import type { Clock } from '../timers.ts';
import type { Json, JsonObject, SkillDefinition, SkillLog, SkillStorage, UiPage, UiQuery } from './skill.ts';
import type { View } from './view.ts';

/** A refusal with details goes as an answer in the one error shape; to a test it is the error it was. */
function refuse(said: Json | undefined): void {
  const { error, message, details } = (said ?? {}) as JsonObject;
  if (isErrorCode(error)) throw new IngleError(error, String(message), details as JsonObject | undefined);
}

export interface TestOptions {
  /** The content of manifest.json. */
  manifest: unknown;
  /** Milliseconds since 1970 at the beginning; by default 1 January 2026. */
  now?: number;
  language?: Language;
  log?: Partial<SkillLog>;
  /** Stands in for the internet. Hosts and bounds are checked before, as by the hub. Without it there is no network. */
  fetch?: (asked: TestFetch) => TestFetched | Promise<TestFetched>;
}

/** What a stand-in is asked. */
export interface TestFetch {
  url: string;
  method: 'GET' | 'POST';
  /** Names in lower case, without what the hub leaves out. */
  headers: Record<string, string>;
  body: Uint8Array;
}

/** What a stand-in answers; `body` as JSON unless it is a text or bytes. */
export interface TestFetched {
  status?: number;
  headers?: Record<string, string>;
  body?: Json | Uint8Array;
}

export interface TestReply {
  status: number;
  /** The JSON of the answer; undefined without a body. */
  body: Json | undefined;
}

export interface TestSkill {
  readonly now: number;
  /** What it has published, in order. */
  readonly published: readonly { topic: string; payload: Json }[];
  /** What it has told people, in order. */
  readonly told: readonly { owner_id: string; topic: string; payload: Json }[];
  /** What it has logged as errors. */
  readonly errors: readonly string[];
  /** What is stored, as the skill's own `ctx.storage`. */
  readonly storage: SkillStorage;
  attach(owner_id: string): Promise<void>;
  /** So many look at an owner's documents. */
  watch(owner_id: string, viewers: number): Promise<void>;
  /** @throws IngleError what the skill refuses with; `internal` for what else it throws */
  request(
    method: string,
    path: string,
    o?: { owner_id?: string; body?: JsonObject; id?: string; lastEventId?: string },
  ): Promise<TestReply>;
  /** Presses something: ui.action. @throws IngleError as `request` does */
  action(action_id: string, payload?: JsonObject, o?: { owner_id?: string; id?: string }): Promise<TestReply>;
  /** Asks for rows: ui.query. @throws IngleError as `request` does */
  query(query: string, o?: Partial<Omit<UiQuery, 'query'>>): Promise<UiPage>;
  state(owner_id?: string): JsonObject;
  /** The view. @throws IngleError `invalid_request` for one the hub would refuse, with every fault */
  view(owner_id?: string): View;
  /** Lets time pass: timers fire in order, each with its own time, and what they do ends. */
  advance(ms: number): Promise<void>;
  /**
   * Starts it again, with what was stored and its documents; as another version, its data is migrated.
   * @param o.after milliseconds it is off
   * @param o.killed it gets no `stop`
   * @throws IngleError what keeps it from starting; it can be started again
   */
  restart(o?: {
    definition?: SkillDefinition;
    manifest?: unknown;
    after?: number;
    killed?: boolean;
  }): Promise<void>;
  stop(): void;
}

/** Who calls, on a bus. */
const caller = { sender: ':test' };

/** Time that stands still until it is moved. */
function givenTime(begin: number): Clock & { move(ms: number, settle: () => Promise<void>): Promise<void> } {
  let now = begin;
  const waiting = new Set<{ at: number; work: () => void }>();
  return {
    now: () => now,
    after(ms, work) {
      const one = { at: now + ms, work };
      waiting.add(one);
      return () => void waiting.delete(one);
    },
    async move(ms, settle) {
      const end = now + ms;
      for (;;) {
        await settle();
        const next = [...waiting].filter((w) => w.at <= end).sort((a, b) => a.at - b.at)[0];
        if (!next) break;
        waiting.delete(next);
        now = Math.max(now, next.at);
        next.work();
      }
      now = end;
    },
  };
}

/** Lets everything that waits for nothing outside go on. */
async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((done) => setImmediate(done));
}

/** The internet of a test: what a stand-in answers, asked within the bounds the hub sets. */
function standIn(answer: TestOptions['fetch'], { permissions }: Manifest): Fetches {
  return async (asked) => {
    const { url, ...out } = checkAsked(asked, permissions?.hosts ?? []);
    if (!answer) throw new IngleError('unavailable', `${url.hostname} cannot be reached. Try again later.`);
    const { status = 200, headers = {}, body = '' } = await answer({ ...out, url: url.href });
    const bytes =
      body instanceof Uint8Array ? body : utf8(typeof body === 'string' ? body : JSON.stringify(body));
    return { status, url: url.href, headers, body: bytes };
  };
}

/** The documents of each owner, as the hub keeps them. */
function ownersDocuments() {
  const owners = new Map<string, Map<string, Y.Doc>>();
  /** An owner, or the first. */
  const one = (owner_id: string | undefined): string => owner_id ?? owners.keys().next().value ?? '';
  return {
    owners: () => owners.keys(),
    one,
    async attach(host: () => Host, owner_id: string): Promise<void> {
      const docs = owners.get(owner_id) ?? new Map(['view:main', 'state:main'].map((d) => [d, new Y.Doc()]));
      owners.set(owner_id, docs);
      const documents = [...docs].map(([doc, y]) => ({ doc, update: Y.encodeStateAsUpdate(y) }));
      const lacked = await host().implementation.Attach({ owner_id, viewers: 0, documents }, caller);
      for (const { doc, update } of lacked.documents) Y.applyUpdate(docs.get(doc)!, update);
    },
    update: (owner_id: string, doc: string, update: Uint8Array): void =>
      Y.applyUpdate(owners.get(owner_id)!.get(doc)!, update),
    content(doc: string, owner_id: string | undefined): JsonObject {
      const docs = owners.get(one(owner_id));
      if (!docs) throw new IngleError('not_found', `The owner "${one(owner_id)}" is not attached.`);
      return readContent(docs.get(doc)!);
    },
  };
}

/**
 * Starts a skill.
 * @throws IngleError `invalid_request` for a manifest that is none; what the skill's `start` throws
 */
export async function startSkill(definition: SkillDefinition, o: TestOptions): Promise<TestSkill> {
  const disk = memoryDisk();
  const clock = givenTime(o.now ?? Date.UTC(2026, 0, 1));
  const published: { topic: string; payload: Json }[] = [];
  const told: { owner_id: string; topic: string; payload: Json }[] = [];
  const errors: string[] = [];
  const documents = ownersDocuments();
  const none = () => {};
  const log: SkillLog = { error: none, warn: none, notice: none, info: none, debug: none, ...o.log };
  const error: SkillLog['error'] = (message, fields) => {
    const cause = fields?.['cause'];
    errors.push(cause instanceof Error ? `${message}: ${cause.message}` : message);
    log.error(message, fields);
  };
  let [code, manifest] = [definition, o.manifest];
  let host: Host | undefined;
  let storage: SkillStorage | undefined;

  async function start(): Promise<void> {
    const own = checkManifest(manifest);
    const vault = await openKept(disk, own.version, { log: { ...log, error }, migrate: code.migrate });
    const nowhere = (): never => {
      throw new IngleError('not_supported', 'There is no bus in a test.');
    };
    storage = openStorage(vault);
    host = startHost(own, code, {
      vault,
      clock,
      context: {
        language: o.language ?? 'en',
        log: { ...log, error },
        fetch: fetchOver(standIn(o.fetch, own)),
        publish: (topic, payload) => published.push({ topic, payload }),
        client: nowhere,
        names: nowhere,
      },
      say: (owner_id, topic, payload) =>
        told.push({ owner_id, topic, payload: checked(toClient[topic].payload, payload) as unknown as Json }),
      update: documents.update,
    });
    for (const owner_id of documents.owners()) await attach(owner_id);
  }
  const running = (): Host => {
    if (!host) throw new IngleError('unavailable', 'The skill does not run.');
    return host;
  };
  async function attach(owner_id: string): Promise<void> {
    await documents.attach(running, owner_id);
    await settle();
  }
  async function request(
    ...[method, path, { owner_id, body, id, lastEventId } = {}]: Parameters<TestSkill['request']>
  ): Promise<TestReply> {
    const given = new TextEncoder().encode(body ? JSON.stringify(body) : '');
    const one = documents.one(owner_id);
    const headers: Record<string, string> = lastEventId ? { 'last-event-id': lastEventId } : {};
    const asked = { id: id ?? `t${randomUUID()}`, owner_id: one, method, path, headers, body: given };
    const r = await running().implementation.Request(asked, caller);
    await settle();
    const text = new TextDecoder().decode(r.body);
    const isJson = r.headers['content-type'] === 'application/json';
    const said = isJson ? (JSON.parse(text) as Json) : text || undefined;
    if (r.status >= 400) refuse(said);
    return { status: r.status, body: said };
  }
  const stop = (killed: boolean) => {
    const h = host;
    host = undefined;
    if (!h) return;
    if (killed) h.abandon();
    else h.stop();
  };

  await start();
  return {
    get now() {
      return clock.now();
    },
    published,
    told,
    errors,
    get storage() {
      return storage!;
    },
    attach,
    async watch(owner_id, viewers) {
      await running().implementation.Watch({ owner_id, viewers }, caller);
      await settle();
    },
    request,
    async action(action_id, payload = {}, a = {}) {
      const body = checked(toSkill['ui.action'].payload, { action_id, payload }) as unknown as JsonObject;
      return request('POST', '/v1/ui/action', { ...a, body });
    },
    async query(query, { owner_id, ...a } = {}) {
      const body = checked(toSkill['ui.query'].payload, { query, ...a }) as unknown as JsonObject;
      const r = await request('POST', '/v1/ui/query', { ...(owner_id ? { owner_id } : {}), body });
      return checked(uiPage, r.body) as unknown as UiPage;
    },
    state: (owner_id) => documents.content('state:main', owner_id),
    view(owner_id) {
      const view = documents.content('view:main', owner_id);
      contentCheck('view:main')!(view);
      return view as unknown as View;
    },
    advance: (ms) => clock.move(ms, settle),
    async restart(r = {}) {
      stop(r.killed ?? false);
      await clock.move(r.after ?? 0, settle);
      if (r.definition) code = r.definition;
      if (r.manifest !== undefined) manifest = r.manifest;
      await start();
      await settle();
    },
    stop: () => stop(false),
  };
}
