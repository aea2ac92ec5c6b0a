// What a skill of the image has beside the SDK's context: the bus, as far as its policy lets it.
import type { Caller as BusCaller, Contract } from '../system/contract.ts';
import type { SkillContext, SkillDefinition } from './sdk/skill.ts';

export interface HubContext extends SkillContext {
  /** A caller of another service, as far as the bus policy lets this skill. */
  client<C extends Contract>(c: C): BusCaller<C>;
  /** Bus names that are taken now. */
  names(): Promise<string[]>;
}

export type HubSkill = SkillDefinition<HubContext>;
