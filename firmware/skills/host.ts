// Runs one skill: its documents an owner, its requests once each. Knows no bus; services/skill-host wires it.
import { randomUUID } from 'node:crypto';
import { mergeContent, readContent, sourceOf, treeKey } from '../documents/content.ts';
import { IngleError } from '../protocol/errors.ts';
import { toDict } from '../system/contract.ts';
import { type Language, languages } from '../text/i18n.ts';
import { isToClient, type ToClient } from '../ui/topic-names.ts';
import { openInterest } from './interest.ts';
import type { Answers } from './load.ts';
import type { Manifest } from './manifest.ts';
import { limit, openRequests } from './requests.ts';
import { topicPaths } from './screen-topics.ts';
import type { JsonObject, Skill, SkillEndpoint } from './sdk/skill.ts';
import { lackedBy, type ServedOwners, servedOwners, takeStored } from './served.ts';
import type { HubContext, HubSkill } from './skill.ts';
import { openStorage, type Vault } from './storage.ts';
import { type Clock, openTimers, systemClock } from './timers.ts';
import { uiPaths } from './ui-paths.ts';

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

/** Problems of a document that are written to the log. */
const SAID = 20;
/** How long timers wait for the first owner, milliseconds. */
const ALONE_MS = 10_000;

/** What a skill sees and changes of the owners it serves. */
function ownersOf(
  served: ServedOwners,
  say: ((owner_id: string, topic: ToClient, payload: JsonObject) => void) | undefined,
): Pick<HubContext, 'owners' | 'viewers' | 'state' | 'setState' | 'tell' | 'setView'> {
  const { document } = served;
  return {
    owners: served.owners,
    viewers: (owner_id) =>
      owner_id === undefined ? served.viewers() : (served.find(owner_id)?.viewers ?? 0),
    state: (owner_id) => readContent(document(owner_id, 'state:main')),
    setState: (owner_id, patch) => mergeContent(document(owner_id, 'state:main'), patch),
    tell(owner_id, topic, payload) {
      document(owner_id, 'state:main');
      if (!isToClient(topic)) throw new IngleError('invalid_request', `A skill tells no "${topic}".`);
      say?.(owner_id, topic, payload as unknown as JsonObject);
    },
    setView(owner_id, view) {
      const doc = document(owner_id, 'view:main');
      // The hub's tree stands beside the view, and is the hub's to change.
      const given = sourceOf(view as JsonObject);
      const gone = Object.keys(readContent(doc)).filter((k) => k !== treeKey && !Object.hasOwn(given, k));
      mergeContent(doc, { ...Object.fromEntries(gone.map((k) => [k, undefined])), ...given });
    },
  };
}

/** The manifest as it is shown, in the skill's own words where it has them. */
function shownManifest(manifest: Manifest, definition: HubSkill, language: Language): Manifest {
  const ui = manifest.capabilities.ui;
  if (!ui) return manifest;
  const titleIn = titlesOf(manifest, definition);
  const title = definition.title ? titleIn(language) : (ui.title ?? manifest.id);
  const titles = definition.title ? Object.fromEntries(languages.map((l) => [l, titleIn(l)])) : ui.titles;
  return {
    ...manifest,
    capabilities: { ...manifest.capabilities, ui: { ...ui, title, ...(titles ? { titles } : {}) } },
  };
}

const titlesOf =
  ({ id, capabilities: { ui } }: Manifest, definition: HubSkill) =>
  (l: Language): string =>
    definition.title?.(l) ?? ui?.titles?.[l] ?? ui?.title ?? id;

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
  const served = servedOwners(o.update);
  const { language, log } = o.context;
  const timeoutMs = o.timeoutMs ?? 20_000;
  const clock = o.clock ?? systemClock;
  const timers = openTimers(o.vault, log, clock, o.due);
  const storage = openStorage(o.vault);
  const interest = openInterest(storage, { log, clock, makeId: randomUUID });
  const isAsked = manifest.capabilities.streams?.supportsDeclarativeInterest === true;
  const context: HubContext = {
    ...o.context,
    id: manifest.id,
    storage,
    timers: timers.timers,
    interest: interest.interest,
    ...ownersOf(served, o.say),
  };
  const skill: Skill = definition.start(context);
  // What fired before an owner is there could show nobody anything.
  const unwait = clock.after(ALONE_MS, startTimers);
  function startTimers(): void {
    unwait();
    const within = (work: () => void | Promise<void>) => limit((async () => work())(), timeoutMs);
    timers.start((fired) => within(() => skill.timer?.(fired)));
    if (isAsked) interest.start((due) => within(() => skill.wanted?.(due)));
  }
  const own = uiPaths(manifest, {
    language,
    title: titlesOf(manifest, definition),
    view: (owner_id) => sourceOf(readContent(served.document(owner_id, 'view:main'))),
    state: context.state,
  });
  const isTaken = (e: SkillEndpoint) =>
    skill.endpoints.some((s) => s.method === e.method && s.path === e.path);
  const endpoints = [
    ...skill.endpoints,
    ...[...own, ...topicPaths(skill)].filter((e) => !isTaken(e)),
    ...(isAsked ? [interest.endpoint] : []),
  ];

  function abandon(): void {
    unwait();
    timers.stop();
    interest.stop();
  }

  function watch(owner_id: string, viewers: number): void {
    served.serve(owner_id).viewers = viewers;
    try {
      skill.watched?.(owner_id, viewers);
    } catch (cause) {
      // Its documents are what they are; who looks need not suffer for it.
      log.error('the skill fails when somebody looks', { viewers, cause: cause as Error });
    }
  }

  const implementation: Answers = {
    Manifest: () => ({
      manifest: toDict(shownManifest(manifest, definition, language) as unknown as Record<string, unknown>),
    }),
    Attach({ owner_id, viewers, documents }) {
      const fresh = !served.find(owner_id);
      const s = served.serve(owner_id);
      const stored = new Map(documents.map((d) => [d.doc, d.update]));
      takeStored(s, stored);
      s.answering = true;
      try {
        if (fresh) skill.attached?.(owner_id);
        if (fresh && served.owners().length === 1) startTimers();
        watch(owner_id, viewers);
      } finally {
        s.answering = false;
      }
      return { documents: lackedBy(s, stored) };
    },
    Due: () => ({ at: timers.next() }),
    Kept({ at }) {
      timers.kept(at);
      return {};
    },
    Watch({ owner_id, viewers }) {
      watch(owner_id, viewers);
      return {};
    },
    Told({ doc, refused, problems }) {
      for (const problem of problems.slice(0, SAID))
        log.warn(`the hub ${refused ? 'refuses' : 'marks a part of'} ${doc}`, { ...problem });
      return {};
    },
    Request: openRequests(endpoints, served, { log, timeoutMs }),
  };
  return {
    manifest,
    implementation,
    viewers: served.viewers,
    isNeeded: () => served.viewers() > 0 || timers.waiting() || (isAsked && interest.waiting()),
    stop() {
      abandon();
      skill.stop?.();
    },
    abandon,
  };
}
