// hub_status: this hub's real uptime, load, versions, services and link, as a view and a live state.
import { release } from 'node:os';
import type { JsonObject, Skill } from '../../../firmware/skills/sdk/skill.ts';
import type { HubContext, HubSkill } from '../../../firmware/skills/skill.ts';
import { readSlots, skillNames } from '../../../firmware/skills/table.ts';
import { nameOf, readConfig, sqlite, version } from '../../../firmware/system/config.ts';
import { messageBus, unitStates } from '../../../firmware/system/units.ts';
import { hubStatusText } from '../../../firmware/text/hub_status.ts';
import { type Language, translator } from '../../../firmware/text/i18n.ts';
import { uplink1 } from '../../../firmware/uplink/contract.ts';
import { APART, type Sample } from './health.ts';
import { openMeter } from './meter.ts';
import { type Link, measuredState, neverRefreshed, refreshedAt } from './state.ts';
import { hubStatusView } from './view.ts';

/** Between samples while somebody looks, and while nobody does, milliseconds. */
const WATCHED_MS = 2000;
const UNWATCHED_MS = 60_000;

const titleIn = (language: Language) => translator(hubStatusText, language)('title');

function start(ctx: HubContext): Skill {
  const config = readConfig();
  const { kept } = config;
  const meter = openMeter();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  async function link(): Promise<Link | undefined> {
    try {
      return await ctx.client(uplink1).Status({}, 3000);
    } catch {
      return undefined;
    }
  }

  async function measure(): Promise<JsonObject> {
    const reading = meter.read();
    const [linked, taken, startable] = await Promise.all([
      link(),
      ctx.names(),
      ctx.client(messageBus).ListActivatableNames({}),
    ]);
    return measuredState({
      name: nameOf(config),
      reading,
      link: linked,
      // Only ingle-api asks a skill anything, so while this skill serves an owner it runs.
      units: unitStates({
        taken,
        startable: startable.names,
        kept,
        skills: skillNames(readSlots(config).slots),
        api: ctx.owners().length > 0,
      }),
      kept,
      versions: { ingle: version, node: process.versions.node, kernel: release(), sqlite },
    });
  }

  async function tick(): Promise<void> {
    clearTimeout(timer);
    const owners = ctx.owners();
    if (owners.length > 0) {
      const state = await measure();
      for (const owner of ctx.owners()) ctx.setState(owner, state);
    }
    clearTimeout(timer);
    if (!stopped) timer = setTimeout(run, ctx.viewers() > 0 ? WATCHED_MS : UNWATCHED_MS);
  }
  function run(): void {
    tick().catch((cause) => ctx.log.error('measuring failed', { cause }));
  }
  // History goes on while nobody looks: the skill wakes for a sample and sleeps again.
  ctx.timers
    .set('sample', { every: APART })
    .catch((cause) => ctx.log.warn('no history is kept while nobody looks', { cause }));

  return {
    attached(owner) {
      const before = ctx.state(owner)['samples'];
      if (Array.isArray(before)) meter.resume(before as unknown as Sample[]);
      ctx.setView(owner, hubStatusView());
      if (ctx.state(owner)['refresh'] === undefined) ctx.setState(owner, { refresh: neverRefreshed() });
      run();
    },
    watched(_owner, viewers) {
      if (viewers > 0) run();
    },
    timer: tick,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
    endpoints: [
      { method: 'GET', path: '/v1/status/summary', answer: async () => ({ body: await measure() }) },
      { method: 'GET', path: '/v1/state', answer: ({ owner_id }) => ({ body: { ...ctx.state(owner_id) } }) },
      {
        method: 'POST',
        path: '/v1/refresh',
        answer: async () => {
          const measured = await measure();
          const refreshed_at = new Date().toISOString();
          return {
            body: { refreshed_at },
            state: (now) => ({ ...measured, refresh: refreshedAt(refreshed_at, now['refresh']) }),
          };
        },
      },
    ],
  };
}

export const skill: HubSkill = {
  title: titleIn,
  start,
};
