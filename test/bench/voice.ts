// What a hub understands in a noisy room: 40 phrases of its rules and 20 sentences of nobody's, said by three voices of
// espeak-ng at 5, 10 and 20 dB above pink noise or babble, through the echo of a living room. The peer is the same
// recogniser with the same grammar and no bound: it takes everything for one of the phrases.
import { type Count, count, meaning, noCount, openEar } from '../audio/counted.ts';
import { besides, inRoom, phrases, ratios, said, voices } from '../audio/sayings.ts';

const ear = await openEar();
const rows = new Map<string, { ours: Count; peer: Count }>();
try {
  for (const [kind, texts] of [
    ['phrases', phrases],
    ['besides', besides],
  ] as const)
    for (const voice of voices)
      for (const [i, text] of texts.entries()) {
        const speech = await said(text, voice);
        for (const db of ratios) {
          const { text: heard, best, confidence } = await ear.hear(inRoom(speech, db, 1000 + 7 * i + db));
          for (const key of [`${kind} ${db} dB`, `${kind} ${voice}`]) {
            const row = rows.get(key) ?? { ours: noCount(), peer: noCount() };
            rows.set(key, row);
            const meant = kind === 'phrases' ? meaning(text) : undefined;
            count(row.ours, heard, meant);
            count(row.peer, best, meant);
          }
          if (process.argv.includes('--each'))
            console.log([kind, voice, db, confidence.toFixed(2), text, best].join('\t'));
        }
      }
} finally {
  ear.close();
}
const shown = ({ recognised, rejected, wrong }: Count) =>
  `${String(recognised).padStart(4)} recognised ${String(rejected).padStart(4)} rejected ${String(wrong).padStart(4)} wrongly accepted`;
for (const [key, { ours, peer }] of rows)
  console.log(`${key.padEnd(20)} ${shown(ours)}    without a bound ${shown(peer)}`);
const sum = (kind: string, whose: 'ours' | 'peer') => {
  const of = ratios.map((db) => rows.get(`${kind} ${db} dB`)![whose]);
  return {
    recognised: of.reduce((n, c) => n + c.recognised, 0),
    rejected: of.reduce((n, c) => n + c.rejected, 0),
    wrong: of.reduce((n, c) => n + c.wrong, 0),
  };
};
const all = (whose: 'ours' | 'peer') => sum('phrases', whose).wrong + sum('besides', whose).wrong;
console.log(
  JSON.stringify({
    bench: 'voice',
    ours: all('ours'),
    peer: all('peer'),
    unit: `wrongly accepted of ${(phrases.length + besides.length) * voices.length * ratios.length} sayings`,
    ratio: Math.round((1000 * all('ours')) / all('peer')) / 1000,
    phrases: sum('phrases', 'ours'),
    besides: sum('besides', 'ours'),
    unbounded_phrases: sum('phrases', 'peer'),
    unbounded_besides: sum('besides', 'peer'),
  }),
);
