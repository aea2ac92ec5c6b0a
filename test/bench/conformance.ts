// How much of published lists and suites our own parsers keep: times of cron, RFC 9535 (JSONPath), RFC 6902 (JSON Patch),
// the subset of CommonMark that ULM has, A2UI's examples. The figures are those of the tests that hold them.
import { spawnSync } from 'node:child_process';

/** A test file, the figure it prints, and how its two numbers stand in the line. */
const suites = [
  { name: 'cron', file: 'test/scenario/cron.test.ts', figure: /^FIGURE cron_conformance (\d+) of (\d+)$/m },
  { name: 'rfc9535', file: 'test/ui/query.test.ts', figure: /^FIGURE rfc9535_compliance (\d+) of (\d+)$/m },
  { name: 'rfc6902', file: 'test/ui/patch.test.ts', figure: /^FIGURE rfc6902_tests (\d+) of (\d+)$/m },
  {
    name: 'commonmark',
    file: 'test/ui/ulm.test.ts',
    figure: /^FIGURE commonmark_examples \d+, in the subset (?<of>\d+), same structure (?<kept>\d+)$/m,
  },
  { name: 'a2ui', file: 'test/ui/a2ui.test.ts', figure: /^FIGURE a2ui_examples (\d+) of (\d+) /m },
] as const;

const counts: Record<string, { kept: number; of: number }> = {};
for (const { name, file, figure } of suites) {
  const { stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', file], {
    encoding: 'utf8',
    timeout: 300_000,
  });
  // The line stands behind the dots of the tests before it.
  const m = figure.exec(stdout.replaceAll('FIGURE', '\nFIGURE'));
  if (!m) throw new Error(`${file} prints no figure.\n${stdout}${stderr}`);
  const { kept = m[1], of = m[2] } = m.groups ?? {};
  counts[name] = { kept: Number(kept), of: Number(of) };
  console.log(`${name.padEnd(12)} ${kept} of ${of}`);
}
const all = Object.values(counts);
const ours = all.reduce((sum, c) => sum + c.kept, 0);
const peer = all.reduce((sum, c) => sum + c.of, 0);
console.log(
  JSON.stringify({ bench: 'conformance', ours, peer, unit: 'cases kept', ratio: ours / peer, ...counts }),
);
