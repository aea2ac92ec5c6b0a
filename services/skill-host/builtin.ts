// The skills this build carries, loaded only when asked for.
import type { SkillDefinition } from '../../firmware/skills/skill.ts';

export const builtin: Record<string, () => Promise<SkillDefinition>> = {
  hub_status: async () => (await import('../skills/hub_status/skill.ts')).hubStatus,
  updates: async () => (await import('../skills/updates/skill.ts')).updates,
};
