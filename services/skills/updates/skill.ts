// updates: which version runs, what there is, how far it is, what came of it; and the orders, as buttons.
import type { JsonObject, Skill, SkillReply } from '../../../firmware/skills/sdk/skill.ts';
import type { HubContext, HubSkill } from '../../../firmware/skills/skill.ts';
import { isAbsent } from '../../../firmware/system/bus-errors.ts';
import { version } from '../../../firmware/system/config.ts';
import { type Language, translator } from '../../../firmware/text/i18n.ts';
import { updateText } from '../../../firmware/text/update.ts';
import { update1 } from '../../../firmware/update/contract.ts';
import { describe, type Told, unsupported } from './describe.ts';
import { updatesView } from './view.ts';

/** Between looks while somebody watches: while something moves, and while nothing does, milliseconds. */
const MOVING_MS = 1000;
const STILL_MS = 5000;

const titleIn = (language: Language) => translator(updateText, language)('title');

function start(ctx: HubContext): Skill {
  const update = ctx.client(update1);
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let view = '';
  let moving = false;

  /** What Update1 says; a hub without it runs from a checkout. */
  async function ask(): Promise<Told> {
    try {
      return await update.Status({}, 10_000);
    } catch (e) {
      if (isAbsent(e)) return unsupported(version);
      throw e;
    }
  }

  async function look(): Promise<JsonObject> {
    const { state, shown, busy } = describe(await ask());
    moving = busy;
    const next = JSON.stringify(shown);
    for (const owner of ctx.owners()) {
      if (next !== view) ctx.setView(owner, updatesView(shown) as unknown as JsonObject);
      ctx.setState(owner, state);
    }
    view = next;
    return state;
  }

  async function tick(): Promise<void> {
    clearTimeout(timer);
    if (ctx.owners().length > 0)
      await look().catch((cause) => ctx.log.warn('ingle-update does not answer', { cause }));
    clearTimeout(timer);
    // Nobody watches: the service behind is left to its sleep.
    if (!stopped && ctx.viewers() > 0) timer = setTimeout(() => void tick(), moving ? MOVING_MS : STILL_MS);
  }

  /** An order of a button: what goes wrong is shown on the screen as well as answered. */
  const order = (give: () => Promise<unknown>) => async (): Promise<SkillReply> => {
    try {
      await give();
    } catch (e) {
      await look().catch(() => {});
      throw e;
    }
    const state = await look();
    void tick();
    return { body: { state: state['state'] ?? '' }, state: () => state };
  };

  return {
    attached(owner) {
      const s = describe(unsupported(version));
      if (ctx.state(owner)['headline'] === undefined) ctx.setState(owner, s.state);
      ctx.setView(owner, updatesView(s.shown) as unknown as JsonObject);
      view = '';
      void tick();
    },
    watched(_owner, viewers) {
      if (viewers > 0) void tick();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
    endpoints: [
      { method: 'GET', path: '/v1/state', answer: async () => ({ body: await look() }) },
      { method: 'POST', path: '/v1/check', answer: order(() => update.Check({ channel: '' }, 40_000)) },
      {
        method: 'POST',
        path: '/v1/install',
        answer: order(() => update.Install({ source: '', restart: '' })),
      },
      { method: 'POST', path: '/v1/restart', answer: order(() => update.Restart({ when: 'now' })) },
      { method: 'POST', path: '/v1/night', answer: order(() => update.Restart({ when: 'night' })) },
      { method: 'POST', path: '/v1/cancel', answer: order(() => update.Cancel({})) },
      { method: 'POST', path: '/v1/rollback', answer: order(() => update.Rollback({})) },
    ],
  };
}

export const skill: HubSkill = {
  title: titleIn,
  start,
};
