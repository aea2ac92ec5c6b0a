// gate: out, thousands of drawn cases
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions of scenarios
// Random scenarios against a plain model: a recursive reader of the same steps that knows nothing of journals.
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openCourse } from '../../firmware/scenario/course.ts';
import type { Value } from '../../firmware/scenario/expression.ts';
import type { Entry } from '../../firmware/scenario/need.ts';
import { planOf } from '../../firmware/scenario/plan.ts';
import type { Step } from '../../firmware/scenario/schema.ts';
import { scenario } from './lab.ts';

const RUNS = Number(process.env['SCENARIOS'] ?? 10_000);

type Made =
  | {
      kind: 'do';
      text: number;
      fails: number;
      max: number;
      undo: boolean;
      go: boolean;
      when: number;
      set: boolean;
    }
  | { kind: 'set'; by: number; when: number }
  | { kind: 'group'; steps: Made[]; when: number }
  | { kind: 'for'; items: number[]; steps: Made[]; when: number }
  | { kind: 'delay'; when: number }
  | { kind: 'wait'; event: boolean; strict: boolean; when: number };

const when = fc.integer({ min: 0, max: 3 });
const { made } = fc.letrec<{ made: Made }>((tie) => {
  const steps = fc.array(tie('made'), { maxLength: 4 });
  return {
    made: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.record({
        kind: fc.constant('do' as const),
        text: fc.nat(5),
        fails: fc.nat(3),
        max: fc.nat(2),
        undo: fc.boolean(),
        go: fc.boolean(),
        when,
        set: fc.boolean(),
      }),
      fc.record({ kind: fc.constant('set' as const), by: fc.nat(3), when }),
      fc.record({ kind: fc.constant('delay' as const), when }),
      fc.record({ kind: fc.constant('wait' as const), event: fc.boolean(), strict: fc.boolean(), when }),
      fc.record({ kind: fc.constant('group' as const), steps, when }),
      fc.record({
        kind: fc.constant('for' as const),
        items: fc.array(fc.nat(4), { maxLength: 3 }),
        steps,
        when,
      }),
    ),
  };
});

/** Conditions over a variable that steps change. */
const conditions = ['', 'vars.v % 2 == 0', 'not (vars.v > 3)', 'vars.v > 100'];

function stepOf(m: Made): Step {
  const c = m.when === 0 ? {} : { if: conditions[m.when]! };
  switch (m.kind) {
    case 'do':
      return {
        ...c,
        call: m.fails > 0 ? 'fails' : 'does',
        args: { text: `${m.text} \${vars.v} \${default(item, '')}`, fails: m.fails },
        retries: { max: m.max, backoff: '1s' },
        ...(m.undo ? { compensate: { call: 'undoes', args: { text: `${m.text} \${result}` } } } : {}),
        ...(m.go ? { onError: 'go' as const } : {}),
        ...(m.set ? { set: { v: '${vars.v + 1}' } } : {}),
      };
    case 'set':
      return { ...c, set: { v: `\${vars.v + ${m.by}}` } };
    case 'delay':
      return { ...c, do: 'delay', for: '1m' };
    case 'wait':
      return {
        ...c,
        do: 'wait_for',
        topic: m.event ? 'a.comes' : 'a.never',
        timeout: '1m',
        otherwise: m.strict ? 'fail' : 'go',
      };
    case 'group':
      return { ...c, do: m.steps.map(stepOf) };
    case 'for':
      return { ...c, do: 'for', each: JSON.stringify(m.items), steps: m.steps.map(stepOf) };
  }
}

interface Told {
  did: string[];
  state: string;
  v: number;
}

/** The model. */
function expected(all: Made[]): Told {
  const did: string[] = [];
  const undos: string[] = [];
  let v = 0;
  const holds = (n: number) => [true, v % 2 === 0, !(v > 3), v > 100][n]!;
  class Failed extends Error {}
  const go = (steps: Made[], item: string): void => {
    for (const m of steps) {
      if (!holds(m.when)) continue;
      if (m.kind === 'set') v += m.by;
      else if (m.kind === 'group') go(m.steps, item);
      else if (m.kind === 'for') for (const i of m.items) go(m.steps, String(i));
      else if (m.kind === 'wait') {
        if (!m.event && m.strict) throw new Failed();
      } else if (m.kind === 'do') {
        const text = `${m.text} ${v} ${item}`;
        const tries = Math.min(m.fails, m.max + 1);
        for (let i = 0; i < tries; i++) did.push(`fails ${text}`);
        if (m.fails > m.max) {
          if (m.go) {
            if (m.set) v++;
            continue;
          }
          throw new Failed();
        }
        did.push(`${m.fails > 0 ? 'fails' : 'does'} ${text}`);
        if (m.undo) undos.push(`undoes ${m.text} r${did.length}`);
        if (m.set) v++;
      }
    }
  };
  try {
    go(all, '');
    return { did, state: 'DONE', v };
  } catch (e) {
    if (!(e instanceof Failed)) throw e;
    did.push(...undos.reverse());
    return { did, state: 'FAILED', v };
  }
}

/** The course, answered as a world would; `forget` takes it up anew from its journal at every entry. */
function course(all: Made[], forget: boolean): Told {
  const program = planOf(scenario(all.map(stepOf), { vars: { v: 0 } }));
  const origin = { run_id: 'r', scenario_id: 's', ctx: {}, started_at: 0 };
  const entries: Entry[] = [];
  const did: string[] = [];
  let c = openCourse(program, origin);
  const take = (e: Entry) => {
    entries.push(e);
    if (forget) {
      c = openCourse(program, origin);
      for (const x of entries) c.take(x);
    } else c.take(e);
  };
  for (let i = 0; i < 5000; i++) {
    const need = c.need();
    const at = 0;
    if (need.kind === 'end') return { did, state: need.state, v: c.vars()['v'] as number };
    const { seq } = need;
    if (need.kind === 'act' || need.kind === 'undo') {
      const { text, fails } = need.args as { text: string; fails?: number };
      did.push(`${need.action} ${text}`);
      if (need.kind === 'act' && fails && need.attempt <= fails)
        take({
          ...{ at, kind: 'error', seq, error: { code: 'unavailable', message: '' } },
          ...(need.attempt <= need.retries.max ? { again: 0 } : {}),
        });
      else take({ at, kind: 'done', seq, result: `r${did.length}` as Value });
    } else if (need.kind === 'delay') take({ at, kind: 'woke', seq, by: 'time' });
    else if (need.kind === 'wait')
      take({ at, kind: 'woke', seq, by: need.topic === 'a.comes' ? 'event' : 'timeout', payload: null });
    else throw new Error(`it needs ${need.kind}`);
  }
  throw new Error('it does not end');
}

test(`${RUNS} random scenarios do what a plain model does`, () => {
  fc.assert(
    fc.property(fc.array(made, { maxLength: 6 }), (all) => {
      assert.equal(course(all, false), expected(all));
    }),
    { numRuns: RUNS },
  );
});

test('a run that is taken up anew at every entry of its journal does the same', () => {
  fc.assert(
    fc.property(fc.array(made, { maxLength: 5 }), (all) => {
      assert.equal(course(all, true), expected(all));
    }),
    { numRuns: Math.min(RUNS, 1500) },
  );
});

test('an entry that answers nothing changes nothing', () => {
  const program = planOf(scenario([{ call: 'does' }, { call: 'does' }]));
  const c = openCourse(program, { run_id: 'r', scenario_id: 's', ctx: {}, started_at: 0 });
  const before = c.need();
  for (const seq of [0, 2, 99]) c.take({ at: 0, kind: 'done', seq, result: 'x' });
  c.take({ at: 0, kind: 'woke', seq: 1, by: 'time' });
  assert.is(c.need(), before);
});

test.run();
