// Times of cron expressions, against a list: cron-cases.txt, one case a line with where its expression is from.
// vixie: crontab(5) of Vixie cron 4.1; posix: crontab of POSIX.1-2024, and its rules; debian: /etc/crontab of Debian;
// kubernetes: "CronJob" of kubernetes.io/docs; guru: crontab.guru/examples.html; calendar, forms, leap: corners of the
// fields by crontab(5); zones: offsets of every kind; spring, autumn: changes of clocks, by cron(8) of Vixie cron: what
// is left out runs at the change, what comes twice runs once, and a field of hours or minutes that begins with * goes on
// by the clock. The times were worked out minute by minute by a program of its own, not by the library that is tested.
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { checkCron, nextTime } from '../../firmware/scenario/cron.ts';

const lines = readFileSync('test/scenario/cron-cases.txt', 'utf8').trimEnd().split('\n');
const cases = lines.map((line) => {
  const [source, cron, zone, after, times] = line.split(' | ') as [string, string, string, string, string];
  return { source, cron, zone, after, times: times.split(' ') };
});

function timesOf({ cron, zone, after, times }: (typeof cases)[number]): string[] {
  const got: string[] = [];
  let at: number | null = Date.parse(after);
  while (got.length < times.length) {
    at = nextTime(cron, zone, at);
    if (at === null) break;
    got.push(`${new Date(at).toISOString().slice(0, 16)}Z`);
  }
  return got;
}

test('expressions of published lists come at their times, in every zone and over changes of clocks', () => {
  const failed = cases.filter((c) => timesOf(c).join(' ') !== c.times.join(' '));
  console.log(`FIGURE cron_conformance ${cases.length - failed.length} of ${cases.length}`);
  assert.equal(
    failed.map((c) => `${c.cron} ${c.zone} ${c.after}: ${timesOf(c)}`),
    [],
  );
  assert.ok(new Set(cases.map((c) => c.cron)).size >= 100, 'expressions');
  assert.ok(new Set(cases.map((c) => c.zone)).size >= 14, 'zones');
});

test('what is no expression is refused in words', () => {
  for (const bad of [
    ...['', '* * * *', '* * * * * *', '60 * * * *', '0 24 * * *', '* * 0 * *', '* * 32 * *', '* * * 13 *'],
    ...['* * * 0 *', '* * * * 8', 'a * * * *', '1- * * * *', '-1 * * * *', '5-1 * * * *', '*/0 * * * *'],
    ...['*/90 * * * *', '5/15 * * * *', '1,,2 * * * *', '1.5 * * * *', '@reboot', '@often', '0 0 30 2 *'],
    ...['* * * MON *', '* * * * JAN', '0 0 31 2,4,6,9,11 *'],
  ])
    try {
      checkCron(bad, 'UTC');
      assert.unreachable(bad);
    } catch (e) {
      assert.ok(e instanceof IngleError, `${bad}: ${e}`);
      assert.equal([e.code, e.details?.['pointer']], ['invalid_request', '/cron'], bad);
      assert.ok(e.message.length > 10, bad);
    }
});

test.run();
