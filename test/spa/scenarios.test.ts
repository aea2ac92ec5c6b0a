// What the page of scenarios makes of values, time tables and times.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Job, Line, Run, Scenario } from '../../spa/scenarios-hub.ts';
import { doesOf, stepName, toldOf, waitsOf } from '../../spa/scenarios-told.ts';
import { kindOf, readValue, typedOf } from '../../spa/scenarios-value.ts';
import { byDay } from '../../spa/scenarios-week.ts';
import { lengthOf, startsOf, words } from '../../spa/scenarios-words.ts';
import { set } from '../../spa/store.ts';

test('each default gets a control of its kind, and what is typed there becomes such a value again', () => {
  const kinds = [
    [true, 'switch'],
    [0.5, 'number'],
    ['9h', 'text'],
    [['a', 'b'], 'list'],
    [[1, 2], 'list'],
    [[], 'list'],
    [{ a: [1] }, 'value'],
    [[{ a: 1 }], 'value'],
    [null, 'value'],
  ] as const;
  for (const [value, kind] of kinds) {
    assert.is(kindOf(value), kind);
    assert.equal(readValue(kind, typedOf(kind, value), value), value);
  }
  assert.equal(readValue('list', ' one \n\n two', ['x']), ['one', 'two']);
  assert.equal(readValue('list', '1\n2', ['x']), ['1', '2'], 'texts stay texts');
  for (const [kind, typed, before] of [
    ['number', 'much', 1],
    ['number', ' ', 1],
    ['list', '1\ntwo', [1]],
    ['value', '{', {}],
  ] as const)
    assert.is(readValue(kind, typed, before), undefined);
});

const starts = (cron: string) => startsOf({ triggers: [{ type: 'time', cron }] } as Scenario)[0]!;

test('everyday time tables are told in words, and all others as they are', () => {
  set({ language: 'ru' });
  assert.is(starts('0 22 * * *'), 'каждый день в 22:00');
  assert.is(starts('30 8 * * 1-5'), 'понедельник – пятница в 08:30');
  assert.is(starts('*/15 * * * *'), 'каждые 15 минут');
  assert.is(starts('0 9 * * 0,7'), 'воскресенье и воскресенье в 09:00');
  set({ language: 'en' });
  assert.match(starts('0 9,21 * * *'), /^every day at 9:00\sAM and 9:00\sPM$/);
  for (const other of ['0 0 1 * *', '@daily', '0-30 9 * * *', '0 9 * * MON', '* * * * *', 'x'])
    assert.is(starts(other), `by the time table ${other}`);
});

test('a length of time has at most two units', () => {
  assert.is(lengthOf(0), 'a moment');
  assert.is(lengthOf(9 * 3_600_000), '9 hours');
  assert.is(lengthOf(90_000), '1 minute 30 seconds');
  assert.is(lengthOf(86_400_000 + 3_600_000 + 60_000), '1 day 1 hour');
});

test('a week has seven days from today on, each with what begins on it, in order', () => {
  const now = new Date(2026, 2, 27, 13).getTime();
  const at = (day: number, hour: number) => new Date(2026, 2, day, hour).getTime();
  const job = (job_id: string, times: number[]) => ({ job_id, times }) as Job;
  // The 29th is when clocks change in most of Europe.
  const week = byDay(
    [job('a', [at(27, 22), at(29, 22), at(30, 0)]), job('b', [at(29, 8), at(33, 8), at(34, 8)])],
    now,
  );
  assert.equal(
    week.map(([day, all]) => [new Date(day).getDate(), all.map((x) => x.job.job_id).join('')]),
    [
      [27, 'a'],
      [28, ''],
      [29, 'ba'],
      [30, 'a'],
      [31, ''],
      [1, ''],
      [2, 'b'],
    ],
  );
});

test('why a run does not go on, and each kind of line of its journal, are told in words', () => {
  const run = { run_id: 'a', scenario_id: 'home/a', finished_at: null } as Run;
  const other = { ...run, run_id: 'b', scenario_id: 'home/b' };
  const scenarios = [{ id: 'home/b', name: { en: 'Radio' } }] as unknown as Scenario[];
  const known = { scenarios, runs: [run, other], jobs: [], letters: [] };
  const waits = (w: Run['waits']) => waitsOf({ ...run, waits: w }, known);
  assert.is(waits({ for: 'locks', locks: { tts: 'b' } }), 'It waits for “tts”, which “Radio” uses.');
  assert.is(waits({ for: 'locks', locks: { mic: 'c' } }), 'It waits for “mic”, which another run uses.');
  assert.is(waits({ for: 'event', topic: 'a.b' }), 'It waits until a.b is heard.');
  assert.is(waits({ for: 'place' }), 'It waits for its turn.');
  assert.is(waits({ for: 'order' }), 'It is paused until somebody resumes it.');
  assert.is(waits(null), '');
  const line = (of: object) =>
    toldOf({ n: 1, at: 1000, step_name: 'up', status: null, latency_ms: null, ...of } as Line, []);
  const error = { code: 'unavailable', message: 'No answer.' };
  assert.equal(line({ kind: 'done', status: 'DONE', latency_ms: 2000 }), {
    tone: 'ok',
    text: 'Done: up · 2 seconds',
  });
  assert.equal(line({ kind: 'done', status: 'UNDONE' }), { tone: 'warn', text: 'Undone: up' });
  assert.equal(line({ kind: 'error', status: 'RETRY', error, again: 6000 }), {
    tone: 'warn',
    text: 'up did not work: No answer. It tries again after 5 seconds.',
  });
  assert.equal(line({ kind: 'error', status: 'FAILED', error }), {
    tone: 'bad',
    text: 'up failed: No answer.',
  });
  assert.is(line({ kind: 'woke', by: 'timeout' })!.tone, 'warn');
  assert.is(line({ kind: 'order', what: 'pause' })!.text, 'Somebody paused it');
  assert.is(line({ kind: 'end', status: 'KILLED' })!.text, 'Ended at once; nothing was undone');
  for (const status of ['DONE', 'FAILED', 'CANCELED', 'TIMEOUT'])
    assert.ok(line({ kind: 'end', status })!.text);
  for (const kind of ['begun', 'holding']) assert.is(line({ kind }), undefined);
});

test('texts of another language, and steps that are not known, stand as what is there', () => {
  assert.is(words({ ru: 'Да' }), 'Да');
  assert.is(words({ en: 'Yes', ru: 'Да' }), 'Yes');
  assert.is(words(7), '');
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in a scenario
  const steps = [{ id: 'a', do: [{ id: 'b_c', text: { en: 'Hi ${params.x}' } }] }];
  assert.is(stepName('b_c', steps), '“Hi …”');
  assert.is(stepName('not_there', steps), 'not there');
  assert.is(
    doesOf({ step: 'x_y', does: 'do', action: 'acme.blink', args: {} }, undefined),
    'x y: acme.blink',
  );
});

test.run();
