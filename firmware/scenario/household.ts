// Whose scenarios run, when and how: roles, what a run is given, triggers of people's scenarios, and what is said to the hub.
import { parseMilliseconds } from '../documents/duration.ts';
import { compileIntents, type Recognized, recognize } from '../intent/match.ts';
import type { RuleSet } from '../intent/schema.ts';
import { type Speech, speechGrammar } from '../intent/speech.ts';
import { IngleError } from '../protocol/errors.ts';
import type { Log } from '../system/log.ts';
import type { Language } from '../text/i18n.ts';
import type { Runs, Start } from './engine.ts';
import { evaluate, holds, type Value } from './expression.ts';
import type { Library } from './library.ts';
import type { Tell, Topics } from './live.ts';
import { planOf } from './plan.ts';
import type { Program } from './program.ts';
import type { Schedule, WantedJob } from './schedule.ts';
import type { Prototype, Trigger } from './schema.ts';
import { conditionOf, fill, templateOf } from './template.ts';

/** Somebody who asks for a scenario. */
export interface Asker {
  user: string;
  /** owner, admin, adult, kid, guest. */
  role: string;
  name?: string;
  locale?: string;
}

export interface Asking {
  ctx?: { [key: string]: Value };
  io?: { in?: string[]; out?: string[]; fallback?: string[] };
  priority?: 'LOW' | 'NORM' | 'HIGH';
  force?: boolean;
  origin: string;
}

/** Who may start a scenario that names nobody. */
const everyday = ['admin', 'adult'];

/** Whether somebody of this role may start a scenario. */
export const mayStart = ({ roles }: Prototype, role: string): boolean =>
  role === 'owner' || (roles ?? everyday).includes(role as never);

/** Whether somebody may look at and change what belongs to another person. */
export const mayManage = (role: string): boolean => role === 'owner' || role === 'admin';

/** Whose implementation a scenario has that not everybody has for themselves. */
export const HOUSE = 'house';
export const userOf = ({ multiUser }: Prototype, user: string): string => (multiUser ? user : HOUSE);

/** The source a run keeps, and back. */
interface Source {
  scenario: Prototype;
  bound: string[];
}
export function compileSource(source: string): Program {
  const { scenario, bound } = JSON.parse(source) as Source;
  return planOf(scenario, bound);
}

export interface Household {
  /** What starting a scenario takes. @throws IngleError `not_found`, `forbidden`, `conflict`, `invalid_request` */
  startOf(id: string, asker: Asker, asking: Asking): Start;
  /** Triggers follow what people have turned on. */
  settle(): Promise<void>;
  /** What was said, and the scenario it starts. */
  recognize(
    text: string,
    o: { now: string; user: string; language?: Language },
  ): (Recognized & { scenario_id: string | null }) | undefined;
  /** @throws IngleError `invalid_request` with every fault */
  setRules(rules: RuleSet, bindings: Readonly<Record<string, string>>): void;
  /** The grammar of what can be said in a language, of words that the recogniser knows. */
  speech(language: Language, knows: (word: string) => boolean): Speech;
  /** The skill that somebody bound to a slot. */
  boundTo(user: string, id: string, slot: string): string | undefined;
  /** Whether an event of the bus would start something. */
  isHearing(): boolean;
  stop(): void;
}

export interface HouseholdOptions {
  library: Library;
  schedule: Pick<Schedule, 'settle'>;
  topics: Topics;
  runs: Pick<Runs, 'start'>;
  log: Log;
  tell: Tell;
  /** Who somebody is now; undefined for a person who is gone. */
  askerOf(user: string): Promise<Asker | undefined>;
  zone: string;
  locale: string;
  /** What the hub has, as `mic`; constraints name it. */
  has(): ReadonlySet<string>;
}

interface State extends HouseholdOptions {
  hears: Map<string, () => void>;
  rules: ReturnType<typeof compileIntents>;
  bindings: Readonly<Record<string, string>>;
}

export function openHousehold(o: HouseholdOptions): Household {
  const s: State = { ...o, hears: new Map(), rules: compileIntents({ rules: [] }), bindings: {} };
  return {
    startOf: (id, asker, asking) => startOf(s, id, asker, asking),
    settle: () => settle(s),
    recognize(text, { user, ...at }) {
      const found = recognize(s.rules, text, at);
      return found && { ...found, scenario_id: scenarioOf(s, found.intent, user) };
    },
    setRules(rules, bindings) {
      s.rules = compileIntents(rules);
      s.bindings = bindings;
    },
    speech: (language, knows) => speechGrammar(s.rules, { language, knows }),
    boundTo: (user, id, slot) => {
      const { prototype } = s.library.find(id);
      return s.library.effective(userOf(prototype, user), id).bindings.slots?.[slot]?.skill;
    },
    isHearing: () => s.hears.size > 0,
    stop() {
      for (const end of s.hears.values()) end();
    },
  };
}

function startOf(s: State, id: string, asker: Asker, asking: Asking): Start {
  const { prototype, version } = s.library.find(id);
  if (!mayStart(prototype, asker.role))
    throw new IngleError('forbidden', 'This scenario is not for you. Ask whoever runs the hub.');
  const user = userOf(prototype, asker.user);
  const { scenario, bindings } = s.library.effective(user, id);
  const slots = Object.entries(scenario.slots ?? {});
  const bound = slots.flatMap(([name]) => (bindings.slots?.[name] ? [name] : []));
  const open = slots.find(([name, slot]) => !slot.optional && !bound.includes(name));
  if (open)
    throw new IngleError(
      'conflict',
      `Choose a skill for "${open[0]}" in the settings of the scenario first.`,
      {
        slot: open[0],
      },
    );
  const lacks = (scenario.constraints ?? []).find((c) => c.startsWith('has:') && !s.has().has(c.slice(4)));
  if (lacks)
    throw new IngleError('not_supported', `This hub has no ${lacks.slice(4)}, which the scenario needs.`);
  const source: Source = { scenario, bound };
  const active = scenario.io?.settings?.['output.active'];
  const { io = {} } = asking;
  const ctx: { [key: string]: Value } = {
    ...asking.ctx,
    user: { id: asker.user, name: asker.name ?? null, role: asker.role },
    role: asker.role,
    locale: asker.locale ?? s.locale,
    io: {
      in: io.in ?? [...(scenario.io?.input ?? ['voice', 'text'])],
      out: io.out ?? (typeof active === 'string' ? [active] : [...(scenario.io?.output ?? ['voice'])]),
      fallback: io.fallback ?? [...(scenario.io?.output ?? []), 'text', 'phone'],
    },
  };
  return {
    ...{
      scenario_id: id,
      version,
      source: JSON.stringify(source),
      user: asker.user,
      ctx,
      origin: asking.origin,
    },
    priority: asking.priority ?? scenario.priority ?? 'NORM',
    policy: scenario.policy ?? 'single',
    ...(asking.force ? { force: true } : {}),
  };
}

/**
 * The scenario that an intent starts: what the owner bound, else the first that has it as a trigger and that nobody has
 * turned off. One that nobody has touched may be asked for: whoever speaks wants it now.
 */
function scenarioOf(s: State, intent: string, user: string): string | null {
  if (Object.hasOwn(s.bindings, intent)) return s.bindings[intent]!;
  const isOff = (id: string, p: Prototype) => {
    const { rev, implementation } = s.library.implementation(userOf(p, user), id);
    return rev > 0 && implementation.enabled === false;
  };
  const has = (t: Trigger) => t.type === 'intent' && t.name === intent;
  return (
    s.library.active().find(({ id, prototype: p }) => p.triggers?.some(has) && !isOff(id, p))?.id ?? null
  );
}

async function settle(s: State): Promise<void> {
  const jobs: WantedJob[] = [];
  const events = new Map<string, () => Promise<() => void>>();
  for (const { user, id, implementation } of s.library.implementations()) {
    if (implementation.enabled === false) continue;
    const prototype = s.library.active().find((p) => p.id === id)?.prototype;
    for (const [i, t] of (prototype?.triggers ?? []).entries()) {
      const key = `${user}.${id.replace('/', '.')}.${i}`;
      if (t.type === 'time') jobs.push(jobOf(s, t, { job_id: `trigger.${key}`, scenario_id: id, user }));
      if (t.type === 'event') events.set(`${key} ${JSON.stringify(t)}`, () => listen(s, t, id, user));
    }
  }
  await s.schedule.settle(jobs);
  for (const [key, end] of s.hears)
    if (!events.has(key)) {
      s.hears.delete(key);
      end();
    }
  for (const [key, begin] of events) if (!s.hears.has(key)) s.hears.set(key, await begin());
}

function jobOf(
  s: State,
  t: Extract<Trigger, { type: 'time' }>,
  of: Pick<WantedJob, 'job_id' | 'scenario_id' | 'user'>,
): WantedJob {
  return {
    ...of,
    cron: t.cron,
    zone: t.zone ?? s.zone,
    missed: t.missed ?? 'once',
    grace_ms: parseMilliseconds(t.grace) ?? 3_600_000,
    origin: of.scenario_id,
  };
}

/** Starts a scenario at each event that counts. */
async function listen(
  s: State,
  t: Extract<Trigger, { type: 'event' }>,
  id: string,
  user: string,
): Promise<() => void> {
  const when = t.when === undefined ? undefined : conditionOf(t.when);
  const ctx = templateOf(t.ctx ?? {});
  return s.topics.subscribe(t.topic, (payload) => {
    const scope = { $: { payload } };
    const begin = async () => {
      if (when && !holds(evaluate(when, scope))) return;
      const asker = await s.askerOf(user);
      if (!asker) return;
      const filled = fill(ctx, scope) as { [key: string]: Value };
      await s.runs.start(startOf(s, id, asker, { ctx: filled, origin: `event:${t.topic}` }));
    };
    begin().catch((cause) => {
      // One that runs already is what `single` is for.
      const level = cause instanceof IngleError && cause.code === 'conflict' ? 'info' : 'warn';
      s.log[level]('an event starts no scenario', { scenario: id, topic: t.topic, cause });
    });
  });
}
