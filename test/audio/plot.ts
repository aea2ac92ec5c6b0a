// Draws the share of OK by SNR from the simulated rooms: `node --import tsx test/audio/plot.ts` writes the file.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Result, scenes } from './scenes.ts';

const LOW = -5;
const STEP = 2.5;
const BINS = 14;

interface Bin {
  n: number;
  ok: number;
  loud: number;
  worst_ms: number;
}

function binsOf(results: Result[]): Bin[] {
  return Array.from({ length: BINS }, (_, i) => {
    const these = results.filter((r) => Math.min(BINS - 1, Math.floor((r.snr_db - LOW) / STEP)) === i);
    const ok = these.filter((r) => r.verdict === 'ok');
    return {
      n: these.length,
      ok: ok.length,
      loud: these.filter((r) => r.verdict === 'too_loud').length,
      worst_ms: Math.max(0, ...ok.map((r) => Math.abs(r.error_ms))),
    };
  });
}

/** The same figures as a table in Markdown. */
export function table(results: Result[]): string {
  const rows = binsOf(results).map(
    (b, i) =>
      `| ${LOW + STEP * i} to ${LOW + STEP * (i + 1)} | ${b.n} | ${b.ok} | ${((100 * b.ok) / b.n).toFixed(0)} % | ${b.loud} | ${b.n - b.ok - b.loud} | ${b.worst_ms.toFixed(3)} |`,
  );
  return `# ${results.length} simulated rooms

Image-source impulse responses, RT60 0.2-0.9 s, delays 5-1000 ms, white, pink, babble and music noise, clocks up to 100 ppm apart, a tenth of the microphones overdriven. Made by \`node --import tsx test/audio/plot.ts\` from the scenes that \`npm test\` checks.

| SNR, dB | rooms | OK | share | too loud | other | worst delay error of an OK, ms |
| --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}
`;
}

/** An SVG of 14 bars from -5 to 30 dB: OK, overdriven and told so, and other failures. */
export function plot(results: Result[]): string {
  const bins = binsOf(results);
  const width = 640;
  const height = 320;
  const left = 50;
  const top = 40;
  const w = (width - left - 20) / BINS;
  const h = height - top - 60;
  const bars = bins.map((b, i) => {
    const x = (left + i * w + 3).toFixed(1);
    const tall = (part: number) => ((part / Math.max(1, b.n)) * h).toFixed(1);
    const y = (part: number) => (top + h - (part / Math.max(1, b.n)) * h).toFixed(1);
    const box = (part: number, to: number, fill: string) =>
      `<rect x="${x}" y="${y(to)}" width="${(w - 6).toFixed(1)}" height="${tall(part)}" fill="${fill}"/>`;
    return (
      box(b.ok, b.ok, '#2a7f62') +
      box(b.loud, b.ok + b.loud, '#e0a33e') +
      box(b.n - b.ok - b.loud, b.n, '#c9ccd1') +
      `<text x="${(left + i * w + w / 2).toFixed(1)}" y="${top + h + 16}" text-anchor="middle">${LOW + STEP * i}</text>`
    );
  });
  const grid = [0, 25, 50, 75, 100].map(
    (p) =>
      `<text x="${left - 6}" y="${(top + h - (p / 100) * h + 4).toFixed(1)}" text-anchor="end">${p} %</text>`,
  );
  const key = [
    ['#2a7f62', 'OK, delay within 0.5 ms'],
    ['#e0a33e', 'overdriven, told as too loud'],
    ['#c9ccd1', 'no OK (noisy, glitching)'],
  ].map(
    ([c, t], i) =>
      `<rect x="${left + i * 195}" y="12" width="11" height="11" fill="${c}"/><text x="${left + i * 195 + 16}" y="22">${t}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11" data-ok="${bins.map((b) => b.ok).join(' ')}">
<title>Share of OK by signal-to-noise ratio in ${results.length} simulated rooms</title>
<rect width="${width}" height="${height}" fill="#fff"/>
${key.join('\n')}
${grid.join('\n')}
${bars.join('\n')}
<text x="${left + (width - left - 20) / 2}" y="${height - 14}" text-anchor="middle">SNR within 200-4000 Hz, dB (lower end of each bar); ${results.length} simulated rooms, a tenth of them overdriven</text>
</svg>
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = new URL('../../firmware/audio/ok-by-snr.svg', import.meta.url);
  const results = scenes('rooms', 0, 1000);
  writeFileSync(file, plot(results));
  writeFileSync(new URL('../../firmware/audio/ok-by-snr.md', import.meta.url), table(results));
  console.log(fileURLToPath(file));
}
