// From a sentence to its intent among 10,000 patterns, beside a loop of regular expressions made from the same patterns.
// Ours reads values, weighs all patterns that match and tells slots; the peer stops at the first expression that matches
// and gives the words of its groups, from text that is in our form already. hassil, whose templates are of this kind, is
// Python and is not installed here.
import { compileIntents, recognize } from '../../firmware/intent/match.ts';
import { tokensOf } from '../../firmware/intent/normal.ts';
import { samplesOf, seeded } from '../../firmware/intent/sample.ts';
import type { Node } from '../../firmware/intent/template.ts';

const PATTERNS = 10_000;
const SENTENCES = 1000;
const PEER_SENTENCES = 200;
const now = '2026-11-25T20:04';

const things =
  'lamp heater fan radio blind kettle oven pump gate camera speaker printer freezer vacuum mixer toaster dryer washer boiler sprinkler'.split(
    ' ',
  );
const places =
  'kitchen bedroom hall attic cellar garage garden bathroom office nursery porch study pantry loft shed'.split(
    ' ',
  );
const вещи = 'лампу печку вентилятор радио чайник насос камеру колонку бойлер обогреватель'.split(' ');
const shapes = [
  (t: string, p: string, n: string) => `[please] (turn|switch) on [the] ${t} ${n} in [the] ${p}`,
  (t: string, p: string, n: string) => `(turn|switch) [the] ${p} ${t} ${n} off`,
  (t: string, p: string, n: string) => `set [the] ${t} ${n} [in the ${p}] to {level:number} [percent]`,
  (t: string, p: string, n: string) => `start [the] ${p} ${t} ${n} for {length:duration}`,
  (t: string, p: string, n: string) => `wake [the] ${t} ${n} in [the] ${p} {when:time} [{day:date}]`,
  (t: string, p: string, n: string) => `tell [the] ${t} ${n} in [the] ${p} {message}`,
  (t: string, p: string, n: string) => `{who} wants [the] ${t} ${n} in [the] (${p}|house)`,
];
const numbered = ['one', 'two', 'three', 'four', 'five'];
/** Every seventh pattern of a shape; names come round only when all were used. */
const patterns = Array.from({ length: PATTERNS }, (_, i) => {
  const k = Math.floor(i / (shapes.length + 1));
  const n = numbered[Math.floor(k / (things.length * places.length)) % numbered.length]!;
  const t = things[k % things.length]!;
  const p = places[Math.floor(k / things.length) % places.length]!;
  const shape = shapes[i % (shapes.length + 1)];
  return shape ? shape(t, p, n) : `(включи|запусти) ${вещи[k % вещи.length]} ${k} на {length:duration}`;
});

const began = performance.now();
const compiled = compileIntents({ rules: patterns.map((pattern, i) => ({ intent: `i${i}`, pattern })) });
const compile_ms = performance.now() - began;

/** A tree as a regular expression: each word with a space before it. */
function source(node: Node): string {
  if (node.kind === 'word') return ` ${node.word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`;
  if (node.kind === 'optional') return `(?:${source(node.of)})?`;
  if (node.kind === 'choice') return `(?:${node.of.map(source).join('|')})`;
  if (node.kind === 'sequence') return node.parts.map(source).join('');
  return `(?<${node.name}>(?: \\S+){1,8})`;
}
const expressions = compiled.patterns.map((p) => new RegExp(`^${source(p.node)}$`, 'u'));
const peer = (text: string) => {
  for (const [i, e] of expressions.entries()) {
    const m = e.exec(text);
    if (m) return { i, ...m.groups };
  }
  return undefined;
};

const random = seeded(7);
const pick = <V>(from: readonly V[]): V => from[Math.floor(random() * from.length)]!;
const known = Array.from({ length: SENTENCES }, (_, i) =>
  pick(samplesOf(compiled, pick(compiled.patterns), { most: 8, seed: i })),
);
/** Words of the patterns in sentences that mean nothing. */
const words = [...new Set(patterns.flatMap((p) => tokensOf(p.replace(/\{.*?\}/g, ' '))))];
const unknown = Array.from({ length: SENTENCES }, () =>
  Array.from({ length: 4 + Math.floor(random() * 12) }, () => pick(words)).join(' '),
);

function timed(sentences: readonly string[], work: (text: string) => unknown) {
  for (const s of sentences) work(s);
  let found = 0;
  const times = sentences.map((s) => {
    const from = performance.now();
    if (work(s) !== undefined) found++;
    return performance.now() - from;
  });
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))]!;
  return { p50: at(0.5), p99: at(0.99), found };
}

const ours = (text: string) => recognize(compiled, text, { now });
const joined = (text: string) => ` ${tokensOf(text).join(' ')}`;
const rows = {
  'ours, match': timed(known, ours),
  'ours, no match': timed(unknown, ours),
  'expressions, match': timed(known.slice(0, PEER_SENTENCES).map(joined), peer),
  'expressions, no match': timed(unknown.slice(0, PEER_SENTENCES).map(joined), peer),
};
const round = (v: number) => Math.round(v * 10_000) / 10_000;
console.log(`${PATTERNS} patterns, compiled in ${compile_ms.toFixed(0)} ms`);
for (const [name, r] of Object.entries(rows))
  console.log(
    `${name.padEnd(22)} p50 ${r.p50.toFixed(4)} ms, p99 ${r.p99.toFixed(4)} ms, ${r.found} understood`,
  );
console.log('hassil is Python and is not installed here; the peer is a loop of regular expressions.');
const worst = (a: { p99: number }, b: { p99: number }) => round(Math.max(a.p99, b.p99));
const mine = worst(rows['ours, match'], rows['ours, no match']);
const theirs = worst(rows['expressions, match'], rows['expressions, no match']);
console.log(
  JSON.stringify({
    bench: 'intents',
    ours: mine,
    peer: theirs,
    unit: 'ms, p99 of the slower of match and no match',
    ratio: round(mine / theirs),
    limit_ms: 2,
    match_p50: round(rows['ours, match'].p50),
    match_p99: round(rows['ours, match'].p99),
    miss_p50: round(rows['ours, no match'].p50),
    miss_p99: round(rows['ours, no match'].p99),
    compile_ms: Math.round(compile_ms),
  }),
);
