// What hub_status says of the hub, and the history that its chart shows.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { APART, healthOf, type Sample, sampled } from '../../services/skills/hub_status/health.ts';

const well = { connected: true, memory: 40, cpu: [5, 6], stopped: [] };

test('a hub that is well says so, and asks for nobody', () => {
  const { text, alert } = healthOf(well);
  assert.is(text.i18n.en, 'All is well.');
  assert.is(alert, '');
});

test('everything that is not well is named, in one go and in both languages', () => {
  const { text, alert } = healthOf({ ...well, connected: false, memory: 97, stopped: ['ingle-scenario'] });
  assert.is(
    text.i18n.en,
    'ingle-scenario does not run. The hub is not connected, so it cannot be reached from outside. Memory is nearly full.',
  );
  assert.match(text.i18n.ru, /ingle-scenario не работает.*Память/);
  assert.equal(alert, text);
});

test('a processor is busy when it stays so, and not by one look', () => {
  assert.is(healthOf({ ...well, cpu: [99] }).alert, '');
  assert.is(healthOf({ ...well, cpu: [...Array(8).fill(99), 20] }).alert, '');
  assert.match(healthOf({ ...well, cpu: Array(8).fill(99) }).text.i18n.en, /busy/);
});

const at = (ms: number): Sample => ({ at: ms, cpu: 1, memory: 1 });
const day = 86_400_000;

test('history is kept thin, the last minutes whole, and no more than a document should have', () => {
  let all: Sample[] = [];
  for (let t = day; t < 2 * day; t += 2000) all = sampled(all, at(t));
  assert.ok(all.length < 120, String(all.length));
  const now = all.at(-1)!.at;
  assert.ok(all[0]!.at < now - 5 * 3_600_000, 'hours of it');
  assert.is(all.filter((s) => s.at > now - 60_000).length, 30);
  assert.not(
    all.some((s) => s.cpu === null),
    'nobody was away',
  );
});

test('a pause in which nobody measured is a gap, and one between two wakings is none', () => {
  const woken = sampled([at(day)], at(day + APART));
  assert.equal(woken, [at(day), at(day + APART)]);
  const slept = sampled(woken, at(day + 3 * APART));
  assert.equal(
    slept.map((s) => s.cpu),
    [1, 1, null, 1],
  );
  // A gap stays one gap.
  assert.is(sampled(slept, at(day + 4 * APART)).filter((s) => s.cpu === null).length, 1);
});

test.run();
