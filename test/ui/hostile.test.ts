// timeout: 240 s
// gate: out, 25 s
// 100,000 hostile views and states through all that happens between a skill and a page: compiled, fitted, worked out.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readChart } from '../../firmware/ui/chart.ts';
import { fit } from '../../firmware/ui/fit.ts';
import { below } from '../../firmware/ui/needs.ts';
import type { Capability, Node } from '../../firmware/ui/tree.ts';
import { compileV0 } from '../../firmware/ui/v0/compile.ts';
import { evaluate, holds, plainText, type Scope } from '../../firmware/ui/value.ts';
import { busyFor } from '../lab/busy.ts';
import { viewOf } from './views.ts';

const test = suite('hostile views');
const VIEWS = 100_000;
const sets: Capability[][] = [[], ['chart', 'input', 'tabs'], ['tabs'], ['chart']];
/** As the application allows one drawing. */
const STEPS = 500_000;

/** Works out every value of a node, wherever it stands in it. */
function workOut(at: unknown, scope: Scope): void {
  if (at === null || typeof at !== 'object') return;
  if (Array.isArray(at)) {
    for (const one of at) workOut(one, scope);
    return;
  }
  if (['path', 'join', 'object', 'zip', 'array', 'i18n'].some((k) => Object.hasOwn(at, k))) {
    const text = plainText(evaluate(at as never, scope), scope);
    assert.ok(text.length <= 4000 * 2000);
    return;
  }
  for (const one of Object.values(at)) workOut(one, scope);
}

function draw(n: Node, scope: Scope): number {
  if (!holds(n.when, scope)) return 0;
  if (n.is === 'chart') {
    const chart = readChart(n.series, scope, n.kind);
    for (const l of chart.lines) assert.ok(l.points.length <= 601);
  }
  const { children: _, tabs: __, ...own } = n as unknown as Record<string, unknown>;
  workOut(own, scope);
  return below(n).reduce((sum, c) => sum + draw(c, scope), 1);
}

test('none throws, none is without a node to draw, and none needs what is not there', () => {
  let slow = 0;
  for (let seed = 0; seed < VIEWS; seed++) {
    const { view, state } = viewOf(seed);
    const began = performance.now();
    try {
      const { tree } = compileV0(view);
      const fitted = fit(tree, sets[seed % sets.length]!);
      assert.ok(fitted.needs.every((c) => sets[seed % sets.length]!.includes(c)));
      const scope = { state, meta: fitted.meta ?? {}, budget: { steps: STEPS } };
      const nodes = fitted.main.reduce((sum, n) => sum + draw(n, scope), 0);
      assert.ok(nodes > 0, 'nothing to draw');
    } catch (cause) {
      throw new Error(`view ${seed}: ${JSON.stringify(view).slice(0, 2000)}`, { cause });
    }
    // The machine of the tests has others to serve: one that is slow again is slow.
    if (performance.now() - began > 100) slow = Math.max(slow, again(seed));
  }
  assert.ok(slow < 100, `a view took ${slow} ms of the processor`);
});

/** Processor time of one view alone, milliseconds. */
function again(seed: number): number {
  const { view, state } = viewOf(seed);
  return busyFor(() => {
    const { tree } = compileV0(view);
    const scope = { state, meta: tree.meta ?? {}, budget: { steps: STEPS } };
    for (const n of fit(tree, []).main) draw(n, scope);
  }).ms;
}

test.run();
