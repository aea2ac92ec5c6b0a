// A strict reader of the Prometheus exposition format 0.0.4: whatever it does not demand or allow is thrown out.
import * as assert from 'uvu/assert';

export interface Read {
  type: string;
  help: string;
  samples: { name: string; labels: Record<string, string>; value: number }[];
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const floats = /^(?:[+-]?Inf|NaN|[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)$/;
const toNumber = (text: string): number => {
  assert.match(text, floats, `a value: ${text}`);
  return text.endsWith('Inf') ? (text.startsWith('-') ? -Infinity : Infinity) : Number(text);
};

/** `a="b",c="d"` with escapes of \\, \" and \n alone. */
function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  let rest = text;
  while (rest !== '') {
    const m = /^([^=]+)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)/.exec(rest);
    assert.ok(m, `labels: ${rest}`);
    const [all, name, value] = m as unknown as [string, string, string];
    assert.match(name, labelName);
    assert.not(name in labels, `the label ${name} stands twice`);
    labels[name] = value.replace(/\\(.)/g, (_, c: string) => (c === 'n' ? '\n' : c));
    rest = rest.slice(all.length);
    assert.not(m[3] === ',' && rest === '', 'a comma at the end');
  }
  return labels;
}

/** Families by name, each checked: order, types, no series twice, buckets that only grow and end with all. */
export function readExposition(text: string): Map<string, Read> {
  assert.ok(text.endsWith('\n'), 'the last line ends');
  const families = new Map<string, Read>();
  const seen = new Set<string>();
  let now: [string, Read] | undefined;
  let help: [string, string] | undefined;
  for (const line of text.slice(0, -1).split('\n')) {
    const comment = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line);
    if (comment) {
      const [, what, name, says] = comment as unknown as [string, string, string, string];
      assert.match(name, metricName);
      if (what === 'HELP') {
        help = [name, says];
        continue;
      }
      assert.is(help?.[0], name, 'HELP stands before TYPE');
      assert.ok(['counter', 'gauge', 'histogram'].includes(says), says);
      assert.not(families.has(name), `${name} stands once`);
      now = [name, { type: says, help: help![1], samples: [] }];
      families.set(...now);
      continue;
    }
    const m = /^([^\s{]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    assert.ok(m, `no line of the format: ${line}`);
    const [, name, labels = '', value] = m as unknown as [string, string, string | undefined, string];
    assert.match(name, metricName);
    assert.ok(now, 'a TYPE stands before its samples');
    const [family, read] = now!;
    const names = read.type === 'histogram' ? ['_bucket', '_sum', '_count'].map((s) => family + s) : [family];
    assert.ok(names.includes(name), `${name} within ${family}`);
    const sample = { name, labels: labelsOf(labels), value: toNumber(value) };
    const series = `${name} ${JSON.stringify(Object.entries(sample.labels).sort())}`;
    assert.not(seen.has(series), `${series} stands once`);
    seen.add(series);
    read.samples.push(sample);
  }
  for (const [name, read] of families) {
    assert.ok(read.samples.length > 0, `${name} has samples`);
    if (read.type === 'counter') assert.ok(name.endsWith('_total'), name);
    if (read.type !== 'gauge')
      assert.ok(
        read.samples.every((s) => s.value >= 0),
        name,
      );
    if (read.type === 'histogram') checkHistogram(name, read);
  }
  return families;
}

function checkHistogram(name: string, { samples }: Read): void {
  const groups = new Map<string, Read['samples']>();
  for (const s of samples) {
    const { le: _, ...rest } = s.labels;
    const key = JSON.stringify(rest);
    groups.set(key, [...(groups.get(key) ?? []), s]);
  }
  for (const [key, of] of groups) {
    const buckets = of.filter((s) => s.name === `${name}_bucket`);
    const [sum, count] = ['_sum', '_count'].map((s) => of.filter((x) => x.name === name + s));
    assert.equal([sum!.length, count!.length], [1, 1], `${name} ${key}`);
    let [before, bound] = [0, -Infinity];
    for (const b of buckets) {
      const le = toNumber(b.labels['le']!);
      assert.ok(le > bound, 'bounds grow');
      assert.ok(b.value >= before, 'buckets only grow');
      [before, bound] = [b.value, le];
    }
    assert.is(bound, Infinity, 'the last bucket holds all');
    assert.is(before, count![0]!.value);
  }
}

/** The value of one series; undefined where there is none. */
export function valueIn(
  families: Map<string, Read>,
  name: string,
  labels: Record<string, string> = {},
): number | undefined {
  const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ''));
  return family?.samples.find(
    (s) => s.name === name && JSON.stringify(s.labels) === JSON.stringify({ ...labels }),
  )?.value;
}
