// hub_status: this hub's real uptime, load, versions, services and link, as a view and a live state.
import { readFileSync } from 'node:fs';
import { release } from 'node:os';
import type { JsonObject, Skill } from '../../../firmware/skills/sdk/skill.ts';
import type { HubContext, HubSkill } from '../../../firmware/skills/skill.ts';
import { readSlots, skillNames } from '../../../firmware/skills/table.ts';
import { nameOf, readConfig, version } from '../../../firmware/system/config.ts';
import { labelOf, messageBus, unitStates } from '../../../firmware/system/units.ts';
import { hubStatusText } from '../../../firmware/text/hub_status.ts';
import { type Language, type Localized, localizer, translator } from '../../../firmware/text/i18n.ts';
import { uplink1 } from '../../../firmware/uplink/contract.ts';
import { APART, healthOf, type Sample, sampled } from './health.ts';
import { type CpuTimes, cpuPercent, parseMeminfo, parseStat, parseUptime } from './proc.ts';
import { hubStatusView } from './view.ts';

/** Between samples while somebody looks, and while nobody does, milliseconds. */
const WATCHED_MS = 2000;
const UNWATCHED_MS = 60_000;

const t = localizer(hubStatusText);
const titleIn = (language: Language) => translator(hubStatusText, language)('title');
const proc = (name: string) => readFileSync(`/proc/${name}`, 'utf8');

function start(ctx: HubContext): Skill {
  const config = readConfig();
  const { kept } = config;
  let samples: Sample[] = [];
  let cpu: CpuTimes = parseStat(proc('stat'));
  let percent = 0;
  let sqlite = '';
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  async function link(): Promise<JsonObject> {
    try {
      const s = await ctx.client(uplink1).Status({}, 3000);
      return {
        connected: s.connected,
        text: s.connected ? t('connected') : t('away'),
        // A socket is an end-to-end channel open now; a pending route is one of root's that leads here without one.
        sockets: s.channels,
        pending: s.pending,
      };
    } catch {
      return { connected: false, text: t('away'), sockets: 0, pending: 0 };
    }
  }

  /** Reads the machine. `cpu` is the load since the reading before. */
  async function measure(): Promise<JsonObject> {
    const at = Date.now();
    // Asked again at once, there is no span to measure over.
    const fresh = at - (samples.at(-1)?.at ?? 0) >= 500;
    if (fresh) {
      const now = parseStat(proc('stat'));
      percent = cpuPercent(cpu, now) ?? percent;
      cpu = now;
    }
    const { total_kib, used_kib } = parseMeminfo(proc('meminfo'));
    const memory = Math.round((1000 * used_kib) / total_kib) / 10;
    const seconds = parseUptime(proc('uptime'));
    if (fresh) samples = sampled(samples, { at, cpu: percent, memory });
    const [linked, taken, startable] = await Promise.all([
      link(),
      ctx.names(),
      ctx.client(messageBus).ListActivatableNames({}),
    ]);
    // Only ingle-api asks a skill anything, so while this skill serves an owner it runs.
    const units = unitStates({
      taken,
      startable: startable.names,
      kept,
      skills: skillNames(readSlots(config).slots),
      api: ctx.owners().length > 0,
    });
    const health = healthOf({
      connected: linked['connected'] === true,
      memory,
      cpu: samples.flatMap((s) => s.cpu ?? []),
      stopped: units.filter((u) => !u.running && kept.includes(u.bus)).map(labelOf),
    });
    const gb = (kib: number, l: Language) =>
      new Intl.NumberFormat(l, { maximumFractionDigits: 1 }).format((kib * 1024) / 1e9);
    return {
      name: nameOf(config),
      health: { ...health },
      uptime: { seconds, text: uptimeText(seconds) },
      cpu: { percent },
      memory: {
        percent: memory,
        used_kib,
        total_kib,
        text: t('ofMemory', (l) => ({ used: gb(used_kib, l), total: gb(total_kib, l) })),
      },
      versions: { ingle: version, node: process.versions.node, kernel: release(), sqlite: sqlite || '-' },
      link: linked,
      samples: samples.map((s) => ({ ...s })),
      services: units.map((u) => ({
        unit: labelOf(u),
        running: u.running,
        state: u.running ? t('running') : t('stopped'),
      })),
    };
  }

  function uptimeText(seconds: number): Localized {
    const d = Math.floor(seconds / 86_400);
    const h = Math.floor(seconds / 3600) % 24;
    const m = Math.floor(seconds / 60) % 60;
    return d > 0 ? t('days', { d, h, m }) : t('hours', { h, m, s: seconds % 60 });
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
  // The library's own word, asked once: SQLite is loaded for it and not used further here.
  import('../../../firmware/system/store.ts')
    .then((m) => m.sqliteVersion())
    .then((v) => {
      sqlite = v;
      run();
    })
    .catch((cause) => ctx.log.warn('SQLite does not tell its version', { cause }));

  return {
    attached(owner) {
      // What was measured before the last sleep is the chart's beginning.
      const before = ctx.state(owner)['samples'];
      if (samples.length === 0 && Array.isArray(before)) samples = before as unknown as Sample[];
      ctx.setView(owner, hubStatusView());
      if (ctx.state(owner)['refresh'] === undefined)
        ctx.setState(owner, { refresh: { count: 0, refreshed_at: null, text: t('never') } });
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
            state: (now) => {
              const before = now['refresh'] as { count?: number } | undefined;
              const count = (before?.count ?? 0) + 1;
              const text = t('refreshed', (l) => ({
                time: new Date(refreshed_at).toLocaleTimeString(l),
                count,
              }));
              return { ...measured, refresh: { count, refreshed_at, text } };
            },
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
