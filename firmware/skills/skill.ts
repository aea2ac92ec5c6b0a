// What a skill's author writes against: a small context, endpoints, one state and one view an owner.
import type { Json, JsonObject } from '../documents/content.ts';
import type { Place } from '../protocol/endpoint/router.ts';
import type { Caller as BusCaller, Contract } from '../system/contract.ts';
import type { Log } from '../system/log.ts';
import type { Language } from '../text/i18n.ts';

export type { Json, JsonObject };

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
}

export interface SkillReply {
  status?: number;
  body?: Json;
  /**
   * The request's effect on the owner's state. It runs when the reply is due and is stored together with the fact
   * that the request is done, so a crash leaves both or neither.
   */
  state?: (now: Readonly<JsonObject>) => Patch;
}

export interface SkillEndpoint extends Place {
  answer(request: SkillRequest): SkillReply | Promise<SkillReply>;
}

export interface SkillContext {
  readonly id: string;
  readonly language: Language;
  readonly log: Log;
  /** Owners this skill serves now. */
  owners(): string[];
  /** How many viewers an owner's documents have; without an owner, all together. */
  viewers(owner_id?: string): number;
  state(owner_id: string): Readonly<JsonObject>;
  /** Changes an owner's state document; only what differs travels. */
  setState(owner_id: string, patch: Patch): void;
  /** Replaces an owner's view document. */
  setView(owner_id: string, view: JsonObject): void;
  publish(topic: string, payload: Json): void;
  /** A caller of another service, as far as the bus policy lets this skill. */
  client<C extends Contract>(c: C): BusCaller<C>;
  /** Bus names that are taken now. */
  names(): Promise<string[]>;
}

export interface Skill {
  /** Paths below `/v1/`, as the local API's are declared (protocol/endpoint). */
  endpoints: readonly SkillEndpoint[];
  /** A new owner is served; its state may hold what was stored. */
  attached?(owner_id: string): void;
  /** The number of viewers changed. */
  watched?(owner_id: string, viewers: number): void;
  stop?(): void;
}

/** What `skill.js` of a bundle exports as `skill`. Its manifest lies beside it. */
export interface SkillDefinition {
  /** The title in a language, where it is not the manifest's. */
  title?: (language: Language) => string;
  start(context: SkillContext): Skill;
}
