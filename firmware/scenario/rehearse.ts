// What a scenario would do, without doing it: actions give nothing, events come, times pass. Pure.
import type { Rehearsed } from './answers.ts';
import { openCourse } from './course.ts';
import type { Value } from './expression.ts';
import type { Program } from './program.ts';

const MOST = 200;

/** @param now Unix milliseconds */
export function rehearse(
  program: Program,
  o: { scenario_id: string; ctx: { [key: string]: Value }; now: number },
): Rehearsed[] {
  const course = openCourse(program, {
    run_id: 'rehearsal',
    scenario_id: o.scenario_id,
    ctx: o.ctx,
    started_at: o.now,
  });
  const steps: Rehearsed[] = [];
  let at = o.now;
  while (steps.length < MOST) {
    const need = course.need();
    for (const step of course.skipped()) steps.push({ step, does: 'skip' });
    if (need.kind === 'end') {
      steps.push({
        step: '',
        does: 'end',
        state: need.state,
        ...(need.error ? { error: { ...need.error } } : {}),
      });
      return steps;
    }
    const { key: step, seq } = need;
    if (need.kind === 'act' || need.kind === 'undo') {
      const slot: Record<string, Value> = need.slot === undefined ? {} : { slot: need.slot };
      steps.push({
        step,
        does: need.kind === 'act' ? 'do' : 'undo',
        action: need.action,
        args: need.args,
        ...slot,
      });
      course.take({ at, kind: 'done', seq, result: null });
    } else if (need.kind === 'delay') {
      const ms = need.ms ?? Math.max(0, (need.until ?? at) - at);
      steps.push({ step, does: 'wait', ms });
      at += ms;
      course.take({ at, kind: 'woke', seq, by: 'time' });
    } else if (need.kind === 'wait' || need.kind === 'held') {
      steps.push({
        step,
        does: 'wait',
        topic: need.topic,
        ...(need.timeout === undefined ? {} : { timeout: need.timeout }),
      });
      course.take({ at, kind: 'woke', seq, by: 'event', payload: null });
    } else return steps;
  }
  return steps;
}
