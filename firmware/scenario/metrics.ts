// What happened to runs and steps, counted: bounded in series, however many scenarios and actions there are. Pure.
import { countIn, type Family, type Histogram, histogramOf, samplesOf } from '../observe/exposition.ts';
import type { Tell } from './live.ts';

/** Names a label tells apart; what comes after them is counted together. */
const MOST_NAMES = 32;
const OTHER = 'other';

/** Upper bounds of buckets, seconds. */
const STEP_S = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600];
const RUN_S = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800, 3600, 21_600, 86_400];

/** As it is kept from one process to the next. */
export interface Counted {
  events: Record<string, number>;
  /** `<scenario> <state>`. */
  runs: Record<string, number>;
  errors: Record<string, number>;
  run_s: Record<string, Histogram>;
  step_s: Record<string, Histogram>;
}

export interface Gauges {
  open: number;
  jobs: number;
}

export interface Metrics {
  tell: Tell;
  /** How often each event was told. */
  readonly events: Readonly<Record<string, number>>;
  families(now: Gauges): Family[];
  counted(): Counted;
}

const table = <V>(of: Record<string, V> = {}): Record<string, V> => Object.assign(Object.create(null), of);

/** The name itself while there is room for it, or what it is counted with. */
function bounded(of: object, name: string): string {
  return name in of || Object.keys(of).length < MOST_NAMES ? name : OTHER;
}
function add(of: Record<string, number>, name: string): void {
  of[name] = (of[name] ?? 0) + 1;
}
function measure(of: Record<string, Histogram>, bounds: readonly number[], name: string, ms: unknown): void {
  if (typeof ms !== 'number' || !(ms >= 0)) return;
  const key = bounded(of, name);
  of[key] ??= histogramOf(bounds);
  countIn(of[key], bounds, ms / 1000);
}

/** @param kept what the process before has counted; with other buckets it counts for nothing */
export function openMetrics(kept?: Partial<Counted>): Metrics {
  const fits = (of: Record<string, Histogram> | undefined, bounds: readonly number[]) =>
    Object.values(of ?? {}).every((h) => h.counts.length === bounds.length + 1) ? of : undefined;
  const c: Counted = {
    events: table(kept?.events),
    runs: table(kept?.runs),
    errors: table(kept?.errors),
    run_s: table(fits(kept?.run_s, RUN_S)),
    step_s: table(fits(kept?.step_s, STEP_S)),
  };
  const scenarios = table<true>();
  for (const key of Object.keys(c.runs)) scenarios[key.split(' ')[0]!] = true;
  const counts = (of: Record<string, number>, label: string) =>
    Object.entries(of).map(([name, value]) => ({ labels: { [label]: name }, value }));
  const measured = (of: Record<string, Histogram>, bounds: readonly number[], label: string) =>
    Object.entries(of).flatMap(([name, h]) => samplesOf(h, bounds, { [label]: name }));
  return {
    events: c.events,
    tell(event, p) {
      add(c.events, event);
      if (event === 'scenario.finish') {
        const id = bounded(scenarios, String(p['scenario_id']));
        scenarios[id] = true;
        add(c.runs, `${id} ${String(p['state'])}`);
        measure(c.run_s, RUN_S, id, p['latency_ms']);
      } else if (event === 'step.finish') measure(c.step_s, STEP_S, String(p['action']), p['latency_ms']);
      else if (event === 'step.error') add(c.errors, bounded(c.errors, String(p['error'])));
    },
    families: ({ open, jobs }) => [
      {
        name: 'ingle_scenario_events_total',
        type: 'counter',
        help: 'Events of scenarios, as they are told on the bus.',
        samples: counts(c.events, 'event'),
      },
      {
        name: 'ingle_scenario_runs_total',
        type: 'counter',
        help: 'Runs that are over, by scenario and end state.',
        samples: Object.entries(c.runs).map(([key, value]) => {
          const [scenario = '', state = ''] = key.split(' ');
          return { labels: { scenario, state }, value };
        }),
      },
      {
        name: 'ingle_scenario_step_errors_total',
        type: 'counter',
        help: 'Tries of steps that failed, by code.',
        samples: counts(c.errors, 'code'),
      },
      {
        name: 'ingle_scenario_run_seconds',
        type: 'histogram',
        help: 'From the start of a run to its end.',
        samples: measured(c.run_s, RUN_S, 'scenario'),
      },
      {
        name: 'ingle_scenario_step_seconds',
        type: 'histogram',
        help: 'What one action or wait of a step took.',
        samples: measured(c.step_s, STEP_S, 'action'),
      },
      {
        name: 'ingle_scenario_open_runs',
        type: 'gauge',
        help: 'Runs that are not over.',
        samples: [{ value: open }],
      },
      { name: 'ingle_scenario_jobs', type: 'gauge', help: 'Planned starts.', samples: [{ value: jobs }] },
    ],
    counted: () => c,
  };
}
