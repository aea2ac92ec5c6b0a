// What a skill's author writes against: a small context, endpoints, one state and one view an owner. Types only; nothing
// of the hub's insides is named here, as this file leaves the house with the SDK.
import type { Wanted } from '../../interest/wanted.ts';
import type { Language } from '../../text/i18n.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** A patch of a state: keys to set; `undefined` takes a key away. */
export type Patch = { [key: string]: Json | undefined };

export interface SkillRequest {
  /** Idempotency id: the same id is answered once and then from memory. */
  id: string;
  owner_id: string;
  method: string;
  /** `/v1/...`, without the query. */
  path: string;
  query: URLSearchParams;
  /** The JSON body; an empty object where there was none. */
  body: JsonObject;
  /** The id of the last event a reader of events has had (the header Last-Event-ID). */
  lastEventId?: string;
}

export interface SkillReply {
  /** HTTP status; 200 with a body and 204 without one. */
  status?: number;
  body?: Json;
  /**
   * Instead of `body`, of a GET: a text of this type. A page is shown without scripts. Events (WHATWG "Server-sent
   * events") end with the answer; their reader comes back after `retry` and says what it had.
   */
  text?: string;
  type?: 'text/plain' | 'text/html' | 'text/event-stream';
  /**
   * The request's effect on the owner's state. It runs when the reply is due and is stored together with the fact
   * that the request is done, so a crash leaves both or neither.
   */
  state?: (now: Readonly<JsonObject>) => Patch;
}

/** What somebody did on a screen: `{ action_id, payload, context }` of the topic ui.action. */
export interface UiAction extends Omit<SkillRequest, 'method' | 'path' | 'query' | 'body'> {
  action_id: string;
  payload: JsonObject;
  context: { skill?: string; path?: string; session?: string };
}

/** A page of rows that a table asks for: the topic ui.query. */
export interface UiQuery {
  owner_id: string;
  query: string;
  params: JsonObject;
  /** From 0. */
  page: number;
  pageSize: number;
  sort?: { key: string; descending?: boolean };
  search: string;
}

export interface UiPage {
  /** At most 500. */
  rows: Json[];
  /** Rows of all pages. */
  total: number;
}

/** What a skill tells a person who looks. A text is for every reader, or one for each language. */
export interface Told {
  'ui.toast': { text: string | Record<string, string>; kind?: 'info' | 'warning' | 'error' };
  'ui.notify': {
    title: string | Record<string, string>;
    body?: string | Record<string, string>;
    tag?: string;
  };
  'ui.route': { area: 'main' | 'side' | 'modal'; to: string; params?: JsonObject };
}

export interface SkillEndpoint {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `/v1/...`; a segment `{name}` takes any one segment. */
  path: string;
  answer(request: SkillRequest): SkillReply | Promise<SkillReply>;
}

/**
 * JSON values by key that survive a power cut. At most 64 KiB a value, 4096 keys and 2 MiB in all: what is larger is
 * refused with `too_large`, and nothing that was stored is lost. Each change writes all of it anew, so it is for
 * settings and results, not for measurements by the second.
 */
export interface Storage {
  /** A copy of what is stored; undefined where nothing is. A change shows once it is on the disk. */
  get<T extends Json = Json>(key: string): T | undefined;
  /** Keys in the order they were first set. */
  keys(): string[];
  /**
   * Resolves when the value is on the disk.
   * @throws IngleError `too_large` for a value or a storage that is full, `invalid_request` for what is no JSON or no key
   * (1 to 128 characters), `unavailable` when the disk does not take it
   */
  set(key: string, value: Json): Promise<void>;
  delete(key: string): Promise<void>;
}

/** The skill's own storage, and one for each owner. */
export interface SkillStorage extends Storage {
  of(owner_id: string): Storage;
}

/** When a timer fires: a time (milliseconds since 1970, or a Date), or each so many milliseconds from now (at least 1000). */
export type When = number | Date | { every: number };

/** A timer that fires. */
export interface Fired {
  name: string;
  /** When it was due, milliseconds since 1970. */
  due: number;
  /** How much later than that it is, milliseconds: much where the hub was off. */
  late: number;
}

/** Timers that survive a restart, at most 64. The hub wakes a skill that sleeps for them; one that is due within half a minute keeps it awake. */
export interface Timers {
  /** Sets or replaces a timer. Resolves when it is on the disk. */
  set(name: string, when: When): Promise<void>;
  clear(name: string): Promise<void>;
  /** When each is due next, milliseconds since 1970, by name. */
  due(): Record<string, number>;
}

export type { Wanted };

/**
 * Who wants to be told what, of a skill whose manifest says `capabilities.streams.supportsDeclarativeInterest`. The host
 * answers `POST /v1/interest`, keeps at most 64 subscriptions (16 an owner) over restarts, and renews and ends them.
 */
export interface Interest {
  /** What is wanted now, merged over all: the shortest period, areas within others left out. */
  wanted(): Wanted[];
}

export interface FetchOptions {
  /** GET (the default) or POST. */
  method?: 'GET' | 'POST';
  /** At most 32 of 8 KiB in all. Cookies and headers of the connection are left out. */
  headers?: Record<string, string>;
  /** At most 64 KiB; of POST only. */
  body?: string | Uint8Array;
  /** Gives up waiting. The fetch may still be made. */
  signal?: AbortSignal;
}

export interface FetchAnswer {
  status: number;
  /** Whether the status is 200 to 299. */
  ok: boolean;
  /** Where it came from, after redirects. */
  url: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Uint8Array;
  text(): string;
  /** @throws SyntaxError */
  json(): Json;
}

export type SkillLog = Record<
  'error' | 'warn' | 'notice' | 'info' | 'debug',
  (message: string, fields?: Record<string, unknown>) => void
>;

export interface SkillContext {
  readonly id: string;
  /** The hub's own language, for the log and for what is spoken; readers have their own. */
  readonly language: Language;
  readonly log: SkillLog;
  readonly storage: SkillStorage;
  readonly timers: Timers;
  readonly interest: Interest;
  /** Owners this skill serves now. */
  owners(): string[];
  /** How many viewers an owner's documents have; without an owner, all together. */
  viewers(owner_id?: string): number;
  state(owner_id: string): Readonly<JsonObject>;
  /** Changes an owner's state document; only what differs travels. */
  setState(owner_id: string, patch: Patch): void;
  /** Replaces an owner's view document. */
  setView(owner_id: string, view: object): void;
  publish(topic: string, payload: Json): void;
  /**
   * Tells a person something, on every screen they have and the next one they open.
   * @throws IngleError `invalid_request` for what the topic does not carry
   */
  tell<K extends keyof Told>(owner_id: string, topic: K, payload: Told[K]): void;
  /**
   * Fetches over https through the hub, from hosts that `permissions.hosts` of the manifest names. An answer has at most
   * 1 MiB and 15 s; a skill has 4 fetches at once and 60 a minute.
   * @throws IngleError `forbidden` for another host or one that is not public, `invalid_request`, `rate_limited`,
   * `too_large`, `timeout`, `unavailable` for a host that cannot be reached; what `signal` was aborted with
   */
  fetch(url: string, o?: FetchOptions): Promise<FetchAnswer>;
}

export interface Skill {
  /** Paths below `/v1/`. `/v1/ui/manifest` and `/v1/ui/panel` are answered for a ui/v0 screen where none is here. */
  endpoints: readonly SkillEndpoint[];
  /** Somebody did something on the screen (ui.action). Once for each id; what `state` changes is stored with that. */
  action?(action: UiAction): SkillReply | Promise<SkillReply>;
  /** A page of rows for a table (ui.query). It may be asked at any time and changes nothing. */
  query?(query: UiQuery): UiPage | Promise<UiPage>;
  /** A new owner is served; its state may hold what was stored. */
  attached?(owner_id: string): void;
  /** The number of viewers changed. */
  watched?(owner_id: string, viewers: number): void;
  /**
   * A timer fires, at least once: again after a start when a crash came before this was done. One that was missed fires
   * once. What it throws is in the log, and the timer counts as done.
   */
  timer?(fired: Fired): void | Promise<void>;
  /**
   * These are due: publish on their topics. Each comes as often as somebody asks, at once after a start, and never after
   * the last who asked has ended. A skill that somebody waits for does not sleep.
   */
  wanted?(due: Wanted[]): void | Promise<void>;
  stop?(): void;
}

export interface Migration {
  /** The version whose data lies in the storage, and the one that starts. */
  from: string;
  to: string;
  /** A draft: it takes the place of the storage when `migrate` ends well, whole or not at all. */
  storage: SkillStorage;
}

/** What `skill.js` of a bundle exports as `skill`, CommonJS or a module. Its manifest lies beside it. */
export interface SkillDefinition<C extends SkillContext = SkillContext> {
  /** The title in a language, where it is not the manifest's. */
  title?: (language: Language) => string;
  /**
   * Brings stored data to this version, within 10 s, before `start`. When it throws or takes longer, the data stays as
   * it was and this version does not start.
   */
  migrate?: (m: Migration) => void | Promise<void>;
  start(context: C): Skill;
}
