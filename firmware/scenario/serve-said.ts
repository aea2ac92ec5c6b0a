// What is said to the hub, for io.ingle.Scenario1: rules, what a sentence means and starts, the conversation.
import type { RuleSet } from '../intent/schema.ts';
import { forget, stillUnmatched, teach, type Unmatched, withUnmatched } from '../intent/teacher.ts';
import { IngleError } from '../protocol/errors.ts';
import { type Language, languages, pickLanguage } from '../text/i18n.ts';
import type { Rules } from './answers.ts';
import type { Ways } from './builtin.ts';
import type { Value } from './expression.ts';
import { type Asker, type Asking, SAID } from './household.ts';
import type { Records } from './records.ts';
import { houseRules } from './rules.ts';
import { askerFrom, dict, json, type Methods, type Parts } from './serve-parts.ts';
import type { Voice } from './voice.ts';

interface KeptRules {
  rules: RuleSet['rules'];
  lists: NonNullable<RuleSet['lists']>;
  bindings: Record<string, string>;
}
const rulesKey = 'hub.rules';
const unmatchedKey = 'hub.unmatched';
const keptRules = async (records: Records): Promise<KeptRules> =>
  ((await records.memory(rulesKey))[rulesKey] as unknown as KeptRules) ?? {
    rules: [],
    lists: {},
    bindings: {},
  };

const keptUnmatched = async (records: Records): Promise<readonly Unmatched[]> =>
  ((await records.memory(unmatchedKey))[unmatchedKey] ?? []) as unknown as Unmatched[];

function useRules({ household, sayable }: Parts, { rules, lists, bindings }: KeptRules): void {
  household.setRules(
    { rules: [...rules, ...houseRules.rules], lists: { ...houseRules.lists, ...lists } },
    bindings,
  );
  sayable.changed();
}
/** Rules are in force and on the disk once this settles, and what they understand is no longer among the phrases. */
async function keep(p: Parts, rules: KeptRules, all?: readonly Unmatched[]): Promise<void> {
  const { records, household, o } = p;
  const before = await keptRules(records);
  const phrases = all ?? (await keptUnmatched(records));
  useRules(p, rules);
  try {
    const at = { now: localNow(o.clock.wall(), o.zone), user: '' };
    const unmatched = stillUnmatched(phrases, (phrase) => Boolean(household.recognize(phrase, at)));
    await records.write([
      { op: 'memory', key: rulesKey, value: rules as unknown as Value },
      { op: 'memory', key: unmatchedKey, value: unmatched as unknown as Value },
    ]);
  } catch (e) {
    // What is not on the disk would be gone at the next start.
    useRules(p, before);
    throw e;
  }
}
export async function loadRules(p: Parts): Promise<void> {
  try {
    useRules(p, await keptRules(p.records));
  } catch (cause) {
    p.o.log.error('the rules of intents cannot be used', { cause: cause as Error });
    useRules(p, { rules: [], lists: {}, bindings: {} });
  }
}

/** `2026-11-25T20:04` at a place. */
function localNow(wall: number, zone: string): string {
  const parts = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'short',
  }).format(wall);
  return parts.replace(' ', 'T');
}

/** What a text means, and the run it starts; phrases that nothing understands are kept for the owner. */
export async function understand(
  { o, household, runs, records, teaching, tell, topics }: Parts,
  {
    text,
    asker,
    ctx,
    start,
    starting,
    out = [],
  }: {
    text: string;
    asker: Asker;
    ctx: Record<string, Value>;
    start: boolean;
    starting?: (run_id: string) => void;
    /** Where it answers, where that is not the scenario's own choice. */
    out?: string[];
  },
) {
  const now = localNow(o.clock.wall(), o.zone);
  const found = household.recognize(text, { now, user: asker.user });
  if (!found) {
    await teaching.add(async () => {
      // It was taught meanwhile.
      if (household.recognize(text, { now, user: asker.user })) return;
      const all = await keptUnmatched(records);
      const next = withUnmatched(all, text, o.clock.wall());
      if (next !== all)
        await records.write([{ op: 'memory', key: unmatchedKey, value: next as unknown as Value }]);
    });
    return { intent: '', slots: {}, scenario_id: '', run_id: '' };
  }
  const { intent, slots, scenario_id } = found;
  tell('intent.detected', { intent, scenario_id, user: asker.user });
  let run_id = '';
  if (start && scenario_id !== null) {
    const io = out.length > 0 ? { io: { out } } : {};
    const asking: Asking = { ctx: { ...ctx, ...slots }, ...io, origin: `${SAID}${intent}` };
    const begin = await household.startOf(scenario_id, asker, asking);
    run_id = crypto.randomUUID();
    starting?.(run_id);
    await runs.start({ ...begin, run_id });
  }
  // Without what was said: whoever else waits for a topic may hear it. A topic holds no colon, and an intent may.
  const { user, role } = asker;
  if (start)
    topics.publish(`nlp.intent.${intent.replaceAll(':', '.')}`, {
      ...{ intent, scenario_id: scenario_id ?? '', run_id, user, role },
    });
  return { intent, slots, scenario_id: scenario_id ?? '', run_id };
}

/** What a run says in a conversation stops when somebody speaks; everything else is said to its end. */
export const speaking =
  (ways: Pick<Ways, 'speak'>, voice: () => Voice): Ways['speak'] =>
  (text, lang, of) =>
    voice().isOf(of.run_id)
      ? voice().speak(text, pickLanguage([lang]), of.phrases)
      : ways.speak(text, lang, of);

export function saidMethods(p: Parts) {
  const { o, voice, attention, sayable, household, records } = p;
  const languageOf = (lang: string) => {
    if (lang !== '' && !languages.includes(lang as Language))
      throw new IngleError('invalid_request', `Speech is in ${languages.join(' or ')}.`, {
        pointer: '/lang',
      });
    return pickLanguage([lang || o.locale]);
  };
  return {
    async Wake({ asker, lang }) {
      const { heard, text, intent, scenario_id, run_id } = await voice.wake(
        { ...askerFrom(asker), locale: languageOf(lang) },
        languageOf(lang),
      );
      return { heard, text, intent, scenario_id, run_id };
    },
    Hush() {
      voice.stop();
      return {};
    },
    Voice({ lang }) {
      const language = languageOf(lang);
      const unknown = sayable.unknown(language);
      const { unspoken } = household.speech(language, (w) => !unknown.includes(w));
      const waking = attention.attending();
      return { state: voice.state, waking, unspoken: unspoken.map(dict), unknown: [...unknown] };
    },
    Talk() {
      if (voice.state === 'IDLE') void attention.wake();
      else voice.stop();
      return {};
    },
    async Attend({ on }) {
      await attention.turn(on);
      return {};
    },
    async Recognize({ text, asker, ctx, start, out }) {
      const { slots, ...found } = await understand(p, {
        text,
        asker: askerFrom(asker),
        ctx: json(ctx),
        start,
        out,
      });
      return { ...found, slots: dict(slots) };
    },
    async Rules() {
      const unmatched = await keptUnmatched(records);
      return {
        rules: dict<Rules>({
          ...(await keptRules(records)),
          unmatched: [...unmatched],
          house: [...houseRules.rules],
        }),
      };
    },
    async SetRules({ rules }) {
      const { bindings = {}, lists = {}, rules: own = [] } = json(rules) as unknown as Partial<KeptRules>;
      await p.teaching.add(() => keep(p, { rules: own, lists, bindings }));
      return {};
    },
    async Teach({ phrase, scenario_id }) {
      p.library.find(scenario_id);
      await p.teaching.add(async () => {
        const kept = await keptRules(records);
        const { rules, bindings, unmatched } = teach(kept, await keptUnmatched(records), phrase, scenario_id);
        await keep(p, { ...kept, rules: [...rules], bindings: { ...bindings } }, unmatched);
      });
      return {};
    },
    async Unteach({ phrase }) {
      await p.teaching.add(async () => {
        const kept = await keptRules(records);
        const { rules, bindings, unmatched } = forget(kept, await keptUnmatched(records), phrase);
        await keep(p, { ...kept, rules: [...rules], bindings: { ...bindings } }, unmatched);
      });
      return {};
    },
  } satisfies Partial<Methods>;
}
