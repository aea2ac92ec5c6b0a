// Prototypes drawn at random, all of which are right, and what people may try to change of them.
import fc from 'fast-check';
import type { Implementation, Prototype, Step } from '../../firmware/scenario/schema.ts';

const slots = {
  weather: { cap: 'weather' },
  lamp: { cap: 'light.dim', optional: true },
  sound: { cap: 'sound' },
};
const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const paramNames = ['n', 't', 'on', 'l', 'o', 'any'];
const value = fc.oneof(fc.integer(), fc.string({ maxLength: 5 }), fc.boolean());
const settingNames = ['output.active', 'rate', 'tone'];

interface Drawn {
  kind: number;
  /** The step whose result it reads, counted back. */
  needs: number;
  isSoft: boolean;
  slot: string;
}
const drawn: fc.Arbitrary<Drawn> = fc.record({
  kind: fc.nat(6),
  needs: fc.constantFrom(0, 0, 0, 0, 1, 2, 4, 5),
  isSoft: fc.boolean(),
  slot: fc.constantFrom(...Object.keys(slots)),
});

/** Steps whose ids are given in turn, so that each id is there once and references lead back. */
function stepsOf(all: readonly Drawn[], ids: readonly string[]): Step[] {
  const top: Step[] = [];
  all.slice(0, ids.length).forEach(({ kind, needs, isSoft, slot }, i) => {
    const id = ids[i]!;
    const before = needs > 0 && i - needs >= 0 ? ids[i - needs]! : undefined;
    const read = before && (needs % 2 ? `steps.${before}.result` : `r_${before}`);
    const text = read ? `\${${isSoft ? `default(${read}, '')` : read}}` : 'x';
    const alias = `r_${id}`;
    const step: Step =
      kind === 0
        ? { id, do: 'say', text, alias }
        : kind === 1
          ? { id, do: 'call', slot, method: 'do', args: { text }, alias, locks: ['tts'] }
          : kind === 2
            ? { id, call: 'notify', args: { title: text }, alias, compensate: { call: 'io.console.print' } }
            : kind === 3
              ? { id, do: 'wait_for', topic: `topic.${id}`, timeout: '5m', alias }
              : kind === 4
                ? { id, set: { v: text }, alias }
                : kind === 5
                  ? { id, do: 'for', each: '[1, 2]', steps: [], alias }
                  : { id, do: [], alias };
    const last = top.at(-1);
    const list = needs > 3 && Array.isArray(last?.do) ? last.do : needs > 3 && last?.steps ? last.steps : top;
    list.push(step);
  });
  return top;
}

export const prototypes: fc.Arbitrary<Prototype> = fc
  .record({
    steps: fc.array(drawn, { minLength: 2, maxLength: 8 }),
    anchor: fc.option(fc.nat(7)),
    params: fc.record(
      {
        n: fc.integer(),
        t: fc.string({ maxLength: 5 }).filter((s) => !s.includes('$')),
        on: fc.boolean(),
        l: fc.array(fc.integer(), { maxLength: 3 }),
        o: fc.record({ x: fc.integer(), y: fc.constant('y') }),
        any: fc.constantFrom(null, '${ctx.user.name}'),
      },
      { requiredKeys: [] },
    ),
    settings: fc.record(
      { 'output.active': fc.constant('voice'), rate: fc.integer(), tone: fc.constant('low') },
      { requiredKeys: [] },
    ),
    slots: fc.constant(slots),
    version: fc.constantFrom('1.0.0', '2.0.0'),
    order: fc.shuffledSubarray(names, { minLength: 8 }),
  })
  .map(({ steps, anchor, params, settings, slots, version, order }) => {
    const made = stepsOf(steps, order);
    const after = anchor === null || anchor >= steps.length ? undefined : order[anchor];
    return {
      id: 'home/drawn',
      version,
      dslVersion: '1' as const,
      name: 'Drawn',
      slots,
      params,
      constraints: ['has:mic'],
      io: { output: ['voice', 'console'] as ('voice' | 'console')[], settings },
      steps: made,
      ...(after ? { anchors: { spot: { accept: ['skill:*'], after } } } : {}),
    };
  });

const rewrite = fc.record(
  {
    match: fc.record({
      id: fc.constantFrom(
        ...names,
        ...names,
        ...names,
        ...paramNames,
        ...settingNames,
        ...Object.keys(slots),
        'nobody',
      ),
    }),
    action: fc.constantFrom(
      'drop',
      'drop',
      'move_before',
      'move_after',
      'move_after',
      'param.set',
      'io.set',
      'cap.narrow',
      'add_step',
      'add_slot',
      'add_anchor',
      'replace',
    ),
    set: fc.oneof(
      value,
      fc.constantFrom('weather.today', 'weather', 'light', 'sound.x', 'phone', 'console', '${ctx}'),
      fc.constant({ id: 'new', call: 'notify' }),
      fc.constant([1]),
      fc.constant({ x: 5 }),
    ),
    ref: fc.constantFrom(...names),
  },
  { requiredKeys: ['match', 'action'] },
);

/** What is wanted of the form is there and no more, as a person's application sends it. */
const neat = (r: { match: { id: string }; action: string; set?: unknown; ref?: string }) => {
  const { set, ref, ...rest } = r;
  if (r.action.startsWith('move')) return { ...rest, ref: ref ?? 'a' };
  return r.action.includes('.') ? { ...rest, set: set ?? 1 } : rest;
};

export const implementations: fc.Arbitrary<Implementation> = fc
  .record(
    {
      rewriteVersion: fc.nat(9),
      params: fc.dictionary(
        fc.constantFrom(...paramNames, 'other'),
        fc.oneof(value, fc.constant([1]), fc.constant({ x: 1 })),
      ),
      io: fc.record({ settings: fc.dictionary(fc.constantFrom(...settingNames, 'other'), value) }),
      bindings: fc.record({
        slots: fc.dictionary(
          fc.constantFrom(...Object.keys(slots), 'other'),
          fc.constant({ skill: 'weather' }),
        ),
        devices: fc.dictionary(fc.constantFrom('dev'), fc.constant({ device_id: 'x' })),
      }),
      rewrite: fc.array(fc.oneof(rewrite.map(neat), rewrite), { maxLength: 8 }),
      enabled: fc.boolean(),
    },
    { requiredKeys: ['rewriteVersion'] },
  )
  // Plain objects, as JSON gives them.
  .map((i) => JSON.parse(JSON.stringify(i)) as Implementation);
