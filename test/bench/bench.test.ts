// What benchmarks need, where they are, and how two counts of processes differ.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { count, differences, statesOf, unitsOf, unsettled } from './_processes.ts';
import { steps } from './_steps.ts';

const { wantsOf } = await import('./wants.mjs' as string);
const { sourcesOf, treeOf } = await import('../imports.mjs' as string);
const { missingFor } = await import('../needs.mjs' as string);

const test = suite('benchmarks');
const sources = sourcesOf(treeOf());
const needs = (name: string) => {
  const { files, bundles } = wantsOf(sources, `test/bench/${name}.ts`);
  return { bundles, packages: missingFor(files, () => false) as string[] };
};

test('on a machine with nothing a benchmark gets the packages of what it uses, and bundles where it runs them', () => {
  const audio = needs('audio');
  for (const p of ['python3-numpy', 'python3-scipy']) assert.ok(audio.packages.includes(p), p);
  assert.not(audio.packages.includes('chromium'));
  assert.not(audio.bundles);
  // Without its bundle root would be measured with what compiles it.
  for (const name of ['relay', 'idle', 'flood']) assert.ok(needs(name).bundles, name);
  const bundle = needs('bundle');
  assert.ok(bundle.bundles);
  for (const p of ['dbus-daemon', 'chromium']) assert.ok(bundle.packages.includes(p), p);
  assert.not(bundle.packages.includes('python3-numpy'));
  for (const name of ['boot', 'footprint'])
    for (const p of ['mmdebstrap', 'zstd', 'erofs-utils']) assert.ok(needs(name).packages.includes(p), p);
  assert.equal(
    missingFor(wantsOf(sources, 'test/bench/boot.ts').files, () => true),
    [],
  );
});

test('a suite gets the packages of its own folder, and no other', () => {
  const of = (file: string) => missingFor([file], () => false) as string[];
  assert.ok(of('test/systemd/firewall.test.ts').includes('nftables'));
  assert.ok(of('test/audio/live.test.ts').includes('pipewire'));
  assert.not(of('test/audio/live.test.ts').includes('python3-scipy'));
  assert.equal(of('test/ui/chart.test.ts'), ['dbus-daemon', 'bubblewrap', 'systemd']);
});

test('a step says when it begins, that it lasts, and how it ended', async () => {
  const lines: string[] = [];
  let at = 0;
  const step = steps({ write: (line) => lines.push(line), now: () => at, stillMs: 5 });
  const answer = await step('boot', async () => {
    at = 61_000;
    while (lines.length < 2) await new Promise((done) => setTimeout(done, 1));
    return 7;
  });
  assert.is(answer, 7);
  assert.equal(lines.slice(0, 2), ['[   0 s] boot', '[  61 s] boot: still, 61 s']);
  assert.is(lines.at(-1), '[  61 s] boot: done in 61 s');
  lines.length = 0;
  const failed = await step('fall', () => Promise.reject(new Error('down'))).catch((e: Error) => e.message);
  assert.is(failed, 'down');
  assert.equal(lines, ['[  61 s] fall', '[  61 s] fall: failed after 0 s']);
  await new Promise((done) => setTimeout(done, 20));
  assert.is(lines.length, 2, 'nothing goes on speaking');
});

const groups = `ingle-api.service 10
ingle-wifi.service 11 12
lab-agent.service 90
ingle-lab.service 91
ingle-bot.service 77
wpa_supplicant@wlan0.service 13
ingle-serial@ttyS0.service 14`;
const processes = `10 20000 node
11 10000 node
12 500 hostapd
13 4000 wpa_supplicant
14 900 sh
90 100 bash
91 100 node`;

test('the processes of our units are counted by unit, the lab and what has ended are not', () => {
  const units = unitsOf(groups, processes);
  assert.is(count(units), 5);
  assert.equal(units['ingle-wifi.service'], { pss: 10_500 * 1024, names: ['hostapd', 'node'] });
  assert.equal(Object.keys(units).sort(), [
    'ingle-api.service',
    'ingle-serial@ttyS0.service',
    'ingle-wifi.service',
    'wpa_supplicant@wlan0.service',
  ]);
});

const listed = `ingle-api.service loaded active running Ingle local API
ingle-wifi.service loaded active running Ingle Wi-Fi
ingle-bot.service loaded inactive dead Ingle bot
ingle-identity.service loaded active exited Ingle identity
wpa_supplicant@wlan0.service loaded active running WPA supplicant
ingle-serial@ttyS0.service loaded active running Ingle console`;
const wanted = { state: 'READY', stay: ['ingle-api.service'], may: /^(ingle-(serial@|wifi)|wpa_)/ };

test('nothing is measured before the state that is named, nor while something is still to come or to leave', () => {
  const why = (o: { state?: string; processes?: string; listed?: string }) =>
    unsettled(
      {
        state: o.state ?? 'READY',
        units: unitsOf(groups, o.processes ?? processes),
        states: statesOf(o.listed ?? listed),
      },
      wanted,
    );
  assert.is(why({}), '');
  assert.match(why({ state: 'RETEST' }), /in RETEST, to be measured in READY/);
  assert.match(why({ state: 'READY_WITH_LIMITS' }), /in READY_WITH_LIMITS,/);
  assert.is(why({ processes: `${processes}\n77 9000 node` }), 'ingle-bot.service has not left yet');
  assert.is(
    why({ processes: processes.replace('900 sh', '900 node') }),
    'ingle-serial@ttyS0.service still talks',
  );
  assert.is(
    why({ processes: processes.replace('500 hostapd', '500 systemd-notify') }),
    'ingle-wifi.service just tells systemd something',
  );
});

test('a service that has died, waits for its restart or has failed is named, and nothing is measured without it', () => {
  const units = unitsOf(groups, processes);
  const why = (from: string, to: string, u = units) =>
    unsettled({ state: 'READY', units: u, states: statesOf(listed.replace(from, to)) }, wanted);
  const api = 'ingle-api.service loaded';
  for (const said of ['auto-restart', 'start', 'failed', 'dead'])
    assert.is(
      why(`${api} active running`, `${api} x ${said}`),
      `ingle-api.service is ${said}, and a hub in READY has it running`,
    );
  assert.match(why(`${api} active running Ingle local API\n`, ''), /ingle-api.service is not there/);
  const { 'ingle-api.service': _, ...less } = units;
  assert.is(why('', '', less), 'ingle-api.service has no process');
  assert.is(why('inactive dead', 'failed failed'), 'ingle-bot.service is failed');
});

test('two counts differ by named processes', () => {
  const before = { a: ['node'], b: ['node', 'node'], c: ['sh'] };
  assert.equal(differences(before, before), []);
  assert.equal(differences(before, { a: ['node', 'sh'], b: ['node'], d: ['node', 'x'] }), [
    '+1 a: sh',
    '-1 b: node',
    '-1 c: sh',
    '+2 d: node, x',
  ]);
});

test.run();
