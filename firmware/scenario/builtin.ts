// The hub's own actions: it speaks, listens and prints, asks skills, tells a person, keeps names, plans what comes later.
import { parseMilliseconds } from '../documents/duration.ts';
import { IngleError } from '../protocol/errors.ts';
import { pickLanguage } from '../text/i18n.ts';
import type { Action, Actions, Asked, Taken } from './action.ts';
import { isTimeKnown } from './clock.ts';
import { textOf, type Value } from './expression.ts';
import { type HttpWays, httpActions } from './http-action.ts';
import { chosenFor, localizedText } from './localized.ts';
import type { Offer } from './offers.ts';
import type { Records } from './records.ts';
import { dateAt, nextTimeOfDay, tellLengths, tellTimes } from './time-of-day.ts';
import type { Interruption } from './voice.ts';

/** What actions reach of the hub. Each throws IngleError; `unavailable` and `not_supported` where nothing is there. */
export interface Ways {
  /**
   * Speaks; settles when it was spoken, or when somebody spoke who could: in a conversation. `phrases` are what is
   * waited for then.
   */
  speak(text: string, lang: string, of: { run_id: string; phrases: string[] }): Promise<Interruption>;
  /** Listens for at most so many seconds; `phrases` are what may be said, none for anything. */
  listen(o: { seconds: number; phrases: string[]; lang: string }): Promise<{ heard: boolean; text: string }>;
  print(text: string, level: string): void;
  /** A notice to a person's screens and phone. `id` is the same for the same notice. */
  notify(o: { id: string; user: string; title: Value; body: Value }): Promise<void>;
  /** An action of a skill, for a person. `id` is the same for the same effect. */
  skill(o: {
    id: string;
    user: string;
    role: string;
    skill: string;
    action: string;
    args: Value;
  }): Promise<Value>;
  /** What the action of a skill says that it takes of a quota. @throws IngleError `unavailable` where nobody can say */
  takes(o: { user: string; role: string; skill: string; action: string }): Promise<Taken | undefined>;
  /** The skills that a person may use, with their actions. */
  offers(o: { user: string; role: string }): Promise<Offer[]>;
  /** How the hub is: what its own skill says of it. */
  health(): Promise<Value>;
  /** One request over https, to one of its hosts. */
  fetch: HttpWays['fetch'];
  publish(topic: string, payload: Value): void;
  /** @param role whom the run that asks acts as: what it plans may do no more */
  schedule(o: {
    job_id: string;
    user: string;
    role: string;
    scenario_id: string;
    at: number;
    ctx: Value;
  }): Promise<void>;
  unschedule(job_id: string): Promise<void>;
  now(): number;
  /** The time zone of the hub, as Europe/Berlin. */
  zone: string;
  /** Ends what somebody's runs have begun; the activities that were ended. */
  end(activity: string, user: string): Promise<string[]>;
}

const text = (asked: Asked, name: string): string => localizedText(asked.args[name] ?? '', asked.ctx.locale);
const need = (asked: Asked, name: string): string => {
  const t = text(asked, name);
  if (t === '') throw new IngleError('invalid_request', `The action needs "${name}".`);
  return t;
};
const languageOf = (asked: Asked): string =>
  text(asked, 'lang') || (asked.ctx.locale.startsWith('ru') ? 'ru' : 'en');
/** About how long a text takes to speak, seconds. */
const spokenSeconds = (t: string): number => Math.max(1, Math.ceil(t.length / 14));

/** Says something by the ways the person has, the first that works: voice, then text, then the phone. */
async function say(
  w: Ways,
  asked: Asked,
  t: string,
  phrases: string[] = [],
): Promise<{ by: string; interrupted?: boolean; text?: string }> {
  const { out, fallback } = asked.ctx.io;
  const ways = [...new Set([...out, ...fallback])];
  let last: unknown = new IngleError('unavailable', 'There is no way to tell the person.');
  let printed = '';
  for (const way of ways.length > 0 ? ways : ['voice'])
    try {
      if (way === 'voice') {
        const { interrupted, text } = await w.speak(t, languageOf(asked), { run_id: asked.run_id, phrases });
        if (interrupted) return { by: way, interrupted, text };
      } else if (way === 'phone')
        await w.notify({ id: asked.key, user: asked.ctx.user, title: t, body: null });
      else {
        if (!printed) w.print(t, 'info');
        printed ||= way;
        // Nobody has to be at a console: unless that was asked for, the person is told by what comes after it as well.
        if (!out.includes(way)) continue;
      }
      return { by: way };
    } catch (e) {
      last = e;
      if (asked.signal.aborted) break;
    }
  if (printed && !asked.signal.aborted) return { by: printed };
  throw last;
}

function phrasesOf(asked: Asked): string[] {
  const named = chosenFor<Value>(asked.args['phrases'] ?? [], asked.ctx.locale);
  return (Array.isArray(named) ? named : []).map((p) => localizedText(p, asked.ctx.locale)).filter(Boolean);
}

async function listen(w: Ways, asked: Asked): Promise<Value> {
  const given = asked.args['timeout_s'];
  const seconds = typeof given === 'number' && given > 0 ? Math.min(30, given) : 8;
  return { ...(await w.listen({ seconds, phrases: phrasesOf(asked), lang: languageOf(asked) })) };
}

/** Says a text and listens; who answers before it was said is heard. */
async function ask(w: Ways, asked: Asked, t: string): Promise<Value> {
  const said = await say(w, asked, t, phrasesOf(asked));
  return said.interrupted ? { heard: true, text: said.text ?? '' } : listen(w, asked);
}

/** Where a key of memory lies. @throws IngleError `invalid_request` */
export function memoryKey(key: string, o: { user: string; run_id: string }): string {
  const m = /^(user|session|subnet)\.([A-Za-z0-9_.-]{1,100})$/.exec(key);
  if (!m) throw new IngleError('invalid_request', 'A key of memory begins with user., session. or subnet.');
  if (m[1] === 'subnet') return `subnet.${m[2]}`;
  return m[1] === 'user' ? `user.${o.user}.${m[2]}` : `session.${o.run_id}.${m[2]}`;
}

function memory(records: Pick<Records, 'memory' | 'write'>) {
  const get = async (asked: Asked, key: string): Promise<Value> => {
    const at = memoryKey(key, { user: asked.ctx.user, run_id: asked.run_id });
    return (await records.memory(at))[at] ?? null;
  };
  const set = async (asked: Asked, key: string, value: Value): Promise<void> => {
    const at = memoryKey(key, { user: asked.ctx.user, run_id: asked.run_id });
    await records.write([{ op: 'memory', key: at, value }]);
  };
  return { get, set };
}

/** When something is planned for: `at` (ISO 8601 with its zone) or `in` (a duration, or seconds). */
function timeOf(w: Ways, { args }: Asked): number {
  const { at, in: within } = args;
  const time = typeof at === 'string' && /(?:Z|[+-]\d\d:?\d\d)$/.test(at) ? Date.parse(at) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  const ms = typeof within === 'number' ? within * 1000 : parseMilliseconds(within);
  if (ms !== undefined && ms > 0) return w.now() + ms;
  throw new IngleError(
    'invalid_request',
    'It needs "at", an ISO 8601 time with its zone, or "in", a duration.',
  );
}

type Table = Record<string, Action>;
const speech = (of: string) => (asked: Asked) => ({
  kind: 'tts' as const,
  amount: spokenSeconds(text(asked, of)),
});
const hearing = ({ args }: Asked) => ({ kind: 'stt' as const, amount: Number(args['timeout_s'] ?? 8) || 8 });

function voice(w: Ways): Table {
  return {
    'io.console.print': {
      doc: 'Prints a line on the open consoles: text, level.',
      interrupted: 'pass',
      async perform(a) {
        w.print(need(a, 'text'), text(a, 'level') || 'info');
        return null;
      },
    },
    'io.voice.tts.speak': {
      doc: 'Speaks: text, lang.',
      interrupted: 'pass',
      takes: speech('text'),
      async perform(a) {
        await w.speak(need(a, 'text'), languageOf(a), { run_id: a.run_id, phrases: [] });
        return null;
      },
    },
    'io.voice.stt.listen': {
      doc: 'Listens: timeout_s, phrases. Answers heard and text.',
      interrupted: 'fail',
      takes: hearing,
      perform: (a) => listen(w, a),
    },
    'io.say': {
      doc: 'Says a text by the first way that works: voice, text, the phone.',
      interrupted: 'pass',
      takes: speech('text'),
      perform: async (a) => ({ ...(await say(w, a, need(a, 'text'))) }),
    },
    'io.ask': {
      doc: 'Says a text, then listens.',
      interrupted: 'fail',
      takes: (a) => [speech('text')(a), hearing(a)],
      perform: (a) => ask(w, a, need(a, 'text')),
    },
    notify: {
      doc: "A notice to the person's screens and phone: title, body.",
      interrupted: 'again',
      async perform(a) {
        const { title = null, body = null } = a.args;
        if (title === null) throw new IngleError('invalid_request', 'A notice needs a "title".');
        await w.notify({ id: a.key, user: text(a, 'user') || a.ctx.user, title, body });
        return null;
      },
    },
  };
}

/** Whom a skill is asked for. */
const of = ({ ctx: { user, role } }: Asked) => ({ user, role });

function skills(w: Ways): Table {
  const ask = (a: Asked, skill: string, action: string, args: Value) =>
    w.skill({ id: a.key, ...of(a), skill, action, args });
  return {
    'skills.run': {
      doc: 'An action of a skill: skill, action, args.',
      interrupted: 'again',
      takes: (a) => w.takes({ ...of(a), skill: need(a, 'skill'), action: need(a, 'action') }),
      perform: (a) => ask(a, need(a, 'skill'), need(a, 'action'), a.args['args'] ?? {}),
    },
    'skills.handle': {
      doc: 'Tells skills something: topic, payload.',
      interrupted: 'pass',
      async perform(a) {
        w.publish(need(a, 'topic'), {
          ...(a.args['skill'] ? { skill: a.args['skill'] } : {}),
          payload: a.args['payload'] ?? null,
        });
        return null;
      },
    },
    'hub.health': {
      doc: 'How the hub is: text, and alert, which is empty while all is well.',
      interrupted: 'again',
      perform: () => w.health(),
    },
    'slot.call': {
      doc: 'A method of the skill that is bound to a slot.',
      interrupted: 'again',
      takes: (a) => w.takes({ ...of(a), skill: a.skill!, action: need(a, 'action') }),
      perform: (a) => ask(a, a.skill!, need(a, 'action'), a.args['args'] ?? {}),
    },
  };
}

function keeping(w: Ways, records: Pick<Records, 'memory' | 'write'>): Table {
  const m = memory(records);
  return {
    'profile.get_name': {
      doc: "The person's name as they told it, or null.",
      interrupted: 'again',
      perform: (a) => m.get(a, 'user.name'),
    },
    'profile.set_name': {
      doc: "Keeps the person's name: name.",
      interrupted: 'again',
      async perform(a) {
        await m.set(a, 'user.name', need(a, 'name').slice(0, 100));
        return null;
      },
    },
    'memory.get': {
      doc: 'What is kept under a key (user., session., subnet.): key.',
      interrupted: 'again',
      perform: (a) => m.get(a, need(a, 'key')),
    },
    'memory.set': {
      doc: 'Keeps a value under a key: key, value; null forgets it.',
      interrupted: 'again',
      async perform(a) {
        await m.set(a, need(a, 'key'), a.args['value'] ?? null);
        return null;
      },
    },
    'schedule.at': {
      doc: 'Starts a scenario later: at or in, scenario, ctx. Answers job_id.',
      interrupted: 'again',
      async perform(a) {
        // The key names the effect, so a second call for it makes no second job.
        const job_id = `step-${a.key.replace(/[^A-Za-z0-9_-]/g, '-')}`.slice(0, 128);
        const scenario_id = text(a, 'scenario') || a.scenario_id;
        await w.schedule({
          job_id,
          user: a.ctx.user,
          role: a.ctx.role,
          scenario_id,
          at: timeOf(w, a),
          ctx: a.args['ctx'] ?? {},
        });
        return { job_id };
      },
    },
    'schedule.cancel': {
      doc: 'Takes back what was planned: job_id.',
      interrupted: 'again',
      async perform(a) {
        await w.unschedule(need(a, 'job_id')).catch((e) => {
          if (!(e instanceof IngleError) || e.code !== 'not_found') throw e;
        });
        return null;
      },
    },
  };
}

/** Of a value, or a list of them, what has a form; of a name of an activity what follows its last slash. */
const ofForm = (value: Value | undefined, form: RegExp): string[] =>
  [value ?? []]
    .flat()
    .map((v) => textOf(v).replace(/^.*\//, ''))
    .filter((t) => form.test(t));
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/;

function times(w: Ways): Table {
  return {
    'time.next': {
      doc: 'When a time of day comes next: time (HH:MM), date (YYYY-MM-DD). Answers at, null where it is over, and date.',
      interrupted: 'again',
      async perform(a) {
        if (!isTimeKnown({ wall: w.now }))
          throw new IngleError(
            'unavailable',
            'The hub does not know the time yet. Connect it to the network, and try again.',
          );
        const at = nextTimeOfDay({ time: need(a, 'time'), date: text(a, 'date') }, { ...w, now: w.now() });
        return at === null ? { at, date: '' } : { at: new Date(at).toISOString(), date: dateAt(at, w.zone) };
      },
    },
    'time.words': {
      doc: 'How times are told, and lengths: at, ISO 8601 times; seconds; each may be a list, and names of activities that end so. What is neither is left out. Answers words.',
      interrupted: 'again',
      async perform(a) {
        const language = pickLanguage([a.ctx.locale]);
        const inOrder = (values: number[]) => values.filter(Number.isFinite).sort((x, y) => x - y);
        const at = inOrder(ofForm(a.args['at'], isoTime).map((t) => Date.parse(t)));
        const told = tellTimes(at, { ...w, language, now: w.now() });
        const lengths = tellLengths(inOrder(ofForm(a.args['seconds'], /^\d{1,9}$/).map(Number)), language);
        return { words: [told, lengths].filter(Boolean).join(', ') };
      },
    },
    'activity.stop': {
      doc: "Ends what the person's runs have begun: activity. Answers stopped: of each what follows on its slash.",
      interrupted: 'again',
      async perform(a) {
        const names = await w.end(need(a, 'activity'), a.ctx.user);
        return { stopped: [...new Set(names.map((name) => name.slice(name.indexOf('/') + 1)))].sort() };
      },
    },
  };
}

/** A name of an action of a skill: `<skill>.<action>`. */
const ofSkill = /^([a-z][a-z0-9_]{0,47})\.([a-z][a-z0-9_]{0,47})$/;

export function builtinActions(
  w: Ways,
  records: Pick<Records, 'memory' | 'write'>,
  hostsOf: HttpWays['hostsOf'],
): Actions & { names(): string[] } {
  const table: Table = {
    ...{ ...voice(w), ...skills(w), ...keeping(w, records), ...times(w) },
    ...httpActions({ fetch: w.fetch, hostsOf }),
  };
  return {
    names: () => Object.keys(table),
    find(name) {
      if (Object.hasOwn(table, name)) return table[name];
      const m = ofSkill.exec(name);
      if (!m) return undefined;
      const [, skill, action] = m as unknown as [string, string, string];
      return {
        doc: `The action ${action} of the skill ${skill}.`,
        interrupted: 'again',
        takes: (a) => w.takes({ ...of(a), skill, action }),
        perform: (a) => w.skill({ id: a.key, ...of(a), skill, action, args: { ...a.args } }),
      };
    },
  };
}
