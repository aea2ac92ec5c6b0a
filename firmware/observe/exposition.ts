// Metrics as text: the Prometheus exposition format, version 0.0.4. Pure.
// https://prometheus.io/docs/instrumenting/exposition_formats/

export interface Sample {
  /** Of a histogram: which of its series. */
  suffix?: '_bucket' | '_sum' | '_count';
  labels?: Readonly<Record<string, string>>;
  value: number;
}

/** All series of one name. */
export interface Family {
  name: string;
  type: 'counter' | 'gauge' | 'histogram';
  help: string;
  samples: readonly Sample[];
}

export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

const escaped = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
const quoted = (text: string) => `"${escaped(text).replaceAll('"', '\\"')}"`;
const number = (v: number): string =>
  v === Number.POSITIVE_INFINITY ? '+Inf' : v === Number.NEGATIVE_INFINITY ? '-Inf' : String(v);

/** Families without a sample are left out. */
export function exposition(families: readonly Family[]): string {
  return families
    .filter((f) => f.samples.length > 0)
    .map(({ name, type, help, samples }) => {
      const lines = samples.map(({ suffix = '', labels = {}, value }) => {
        const pairs = Object.entries(labels).map(([label, text]) => `${label}=${quoted(text)}`);
        return `${name}${suffix}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${number(value)}\n`;
      });
      return `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`;
    })
    .join('');
}

/** What a histogram has counted: how many a bucket (the last is everything above), and their sum. */
export interface Histogram {
  counts: number[];
  sum: number;
}

export const histogramOf = (bounds: readonly number[]): Histogram => ({
  counts: new Array<number>(bounds.length + 1).fill(0),
  sum: 0,
});

export function countIn(h: Histogram, bounds: readonly number[], value: number): void {
  const at = bounds.findIndex((bound) => value <= bound);
  const i = at < 0 ? bounds.length : at;
  h.counts[i] = h.counts[i]! + 1;
  h.sum += value;
}

/** The series of one histogram; buckets hold everything up to their bound. */
export function samplesOf(
  h: Histogram,
  bounds: readonly number[],
  labels: Readonly<Record<string, string>>,
): Sample[] {
  let all = 0;
  const buckets = h.counts.map((count, i): Sample => {
    all += count;
    const le = i < bounds.length ? number(bounds[i]!) : '+Inf';
    return { suffix: '_bucket', labels: { ...labels, le }, value: all };
  });
  return [...buckets, { suffix: '_sum', labels, value: h.sum }, { suffix: '_count', labels, value: all }];
}
