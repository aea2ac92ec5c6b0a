// timeout: 300 s
// `ingle scenario`: a scenario is checked, packed, installed, set, rehearsed, run and planned on a running house; what is
// wrong in its file is told with line and column.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { readPrototype } from '../../firmware/scenario/bundle.ts';
import { nobody } from '../../firmware/skills/publishers.ts';
import type { House } from '../../services/cli/house/house.ts';
import { ctxOf, paramOf, scenarioId, timeOf } from '../../services/cli/scenario/given.ts';
import { scenarioTextOf } from '../../services/cli/scenario/text.ts';
import { startHouse } from '../lab/house.ts';
import { until } from '../lab/wait.ts';

const test = suite('ingle scenario');
const launcher = join(process.cwd(), 'services/cli/ingle.mjs');
const top = mkdtempSync(join(tmpdir(), 'ingle-scenario-'));
const folder = join(top, 'greet');
let house: House;

const source = (more = '') => `id: acme/greet
version: 1.0.0
dslVersion: "1"
name: { en: Greeting, ru: Привет }
doc: { en: Greets somebody., ru: Здоровается. }
triggers:
  - { type: time, cron: "0 7 * * 1-5" }
params: { who: world, times: 2, loud: false, days: [mon, tue], wait: 1h }
steps:
  - id: hello
    call: io.console.print
    args: { text: "Hello \${default(ctx.who, params.who)}" }
  - id: fall
    if: default(ctx.fall, false)
    call: skills.run
    args: { skill: nobody, action: nothing }
  - include: parts.yaml#rest
${more}`;
const parts = `rest:
  - id: linger
    if: default(ctx.linger, false)
    do: delay
    for: "\${params.wait}"
`;

function write(name: string, text: string, of: Record<string, string> = {}): string {
  const at = join(top, name);
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, 'scenario.yaml'), text);
  for (const [file, content] of Object.entries(of)) writeFileSync(join(at, file), content);
  return at;
}

test.before(async () => {
  write('greet', source(), { 'parts.yaml': parts, 'README.md': '# Greeting\n\nGreets.\n' });
  house = await startHouse({ data: join(top, '.ingle') });
  await house.issueCode();
});
test.after(async () => {
  await house?.stop();
  rmSync(top, { recursive: true, force: true });
});

async function ingle(args: string[], env: Record<string, string> = {}) {
  const { INGLE_BUS_ADDRESS: _, ...clean } = process.env;
  const child = spawn(process.execPath, [launcher, ...args], {
    ...{ cwd: top, env: { ...clean, INGLE_LANG: 'en', ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
  });
  const said = { out: '', err: '' };
  child.stdout!.on('data', (d) => (said.out += d));
  child.stderr!.on('data', (d) => (said.err += d));
  const code = await new Promise<number | null>((done) => child.on('close', done));
  assert.not.ok((said.out + said.err).includes('\u001b'), 'nothing drives the terminal');
  return { code, ...said };
}
const scenario = (...args: string[]) => ingle(['scenario', ...args]);
async function done(...args: string[]): Promise<string> {
  const r = await scenario(...args);
  assert.is(r.code, 0, `${args.join(' ')}: ${r.err}${r.out}`);
  return r.out;
}
async function events<E>(...args: string[]): Promise<E[]> {
  const out = await done(...args, '--json');
  return out.trim() === ''
    ? []
    : out
        .trim()
        .split('\n')
        .map((l) => JSON.parse(l) as E);
}
async function refused(code: number, ...args: string[]): Promise<string> {
  const r = await scenario(...args);
  assert.is(r.code, code, `${args.join(' ')}: ${r.err}${r.out}`);
  return r.err;
}
const start = async (...args: string[]) => (await events<{ run_id: string }>('run', ...args))[0]!.run_id;
interface Status {
  run: { state: string; instance: string };
  journal: { step_name: string; status: string }[];
}
const status = async (run: string) => (await events<Status>('status', run))[0]!;
const comesTo = (run: string, state: string) =>
  until(async () => (await status(run)).run.state === state, `the run to be ${state}`);

test('one of your own is begun, is right as it is written, and replaces nothing', async () => {
  const said = await ingle(['scenario', 'new', 'wake', '--json']);
  assert.is(said.code, 0, said.out + said.err);
  const file = join(top, 'wake/scenario.yaml');
  assert.is((await ingle(['scenario', 'check', file])).code, 0);
  assert.match(readFileSync(file, 'utf8'), /^id: my\/wake$/m);
  assert.ok(existsSync(join(top, 'wake/README.md')));
  assert.is((await ingle(['scenario', 'new', 'wake'])).code, 73, 'it is there');
  const from = join(folder, 'scenario.yaml');
  assert.is((await ingle(['scenario', 'new', 'mine', '--id', 'acme/mine', '--from', from])).code, 0);
  const mine = readFileSync(join(top, 'mine/scenario.yaml'), 'utf8');
  assert.match(mine, /^id: acme\/mine$/m);
  assert.match(mine, /id: linger/, 'with its includes put in');
  assert.is((await ingle(['scenario', 'check', join(top, 'mine/scenario.yaml')])).code, 0);
  assert.is((await ingle(['scenario', 'new', 'bad', '--id', 'Not An Id'])).code, 64);
  assert.not(existsSync(join(top, 'bad')));
});

test('what is typed becomes values of the kind the scenario has, or is refused in words', () => {
  const t = scenarioTextOf('en');
  assert.is(scenarioId('home.radio', t), 'home/radio');
  assert.is(paramOf('a', '007', 'text', t), '007');
  assert.is(paramOf('a', '0.5', 1, t), 0.5);
  assert.is(paramOf('a', 'true', false, t), true);
  assert.equal(paramOf('a', 'one, two', ['x'], t), ['one', 'two']);
  assert.equal(paramOf('a', '1,2', [3], t), [1, 2]);
  assert.equal(paramOf('a', '', [3], t), []);
  assert.equal(paramOf('a', '{"b":1}', { c: 1 }, t), { b: 1 });
  assert.equal(ctxOf(['a=1', 'b=x y', 'c={"d":[]}', 'e='], t), { a: 1, b: 'x y', c: { d: [] }, e: '' });
  const now = new Date('2026-11-25T20:00:00').getTime();
  assert.is(timeOf('21:30', now, t), new Date('2026-11-25T21:30:00').toISOString());
  assert.is(timeOf('19:30', now, t), new Date('2026-11-26T19:30:00').toISOString());
  assert.is(timeOf('2026-12-24T18:00+02:00', now, t), '2026-12-24T16:00:00.000Z');
  for (const bad of [
    () => paramOf('a', 'much', 1, t),
    () => paramOf('a', '', 1, t),
    () => paramOf('a', 'yes', true, t),
    () => paramOf('a', '1,x', [1], t),
    () => paramOf('a', '[1', ['x'], t),
    () => paramOf('a', '{', {}, t),
    () => ctxOf(['novalue'], t),
    () => ctxOf(['1a=2'], t),
    () => timeOf('25:00', now, t),
    () => timeOf('tomorrow', now, t),
    () => timeOf('2026-13-01T00:00', now, t),
    () => scenarioId('../etc', t),
  ])
    assert.throws(bad, (e: IngleError) => e.code === 'invalid_request');
});

test('a file is checked without a hub, and every fault has its line and column', async () => {
  assert.match(await done('check', join(folder, 'scenario.yaml')), /is right: acme\/greet 1\.0\.0, 3 steps/);
  const bad = write(
    'bad',
    source(`  - id: hello
    do: say
  - id: odd
    call: io.console.print
    args: { text: "\${params.nobody}" }
`).replace('"0 7 * * 1-5"', '"0 7 * *"'),
    { 'parts.yaml': parts },
  );
  const told = await refused(64, 'check', join(bad, 'scenario.yaml'));
  assert.match(told, /scenario\.yaml:7:\d+: \/triggers\/0\/cron is no time table/);
  assert.match(told, /scenario\.yaml:18:\d+: \/steps\/3\/id is there twice/);
  assert.match(told, /scenario\.yaml:22:\d+: \/steps\/4\/args\/text .*"nobody"/);
  const part = write('part', source(), { 'parts.yaml': 'rest:\n  - id: linger\n    do: dance\n' });
  assert.match(await refused(64, 'check', join(part, 'scenario.yaml')), /parts\.yaml:3:\d+: /);
  const lost = write('lost', source());
  assert.match(await refused(64, 'check', join(lost, 'scenario.yaml')), /scenario\.yaml:17:\d+: /);
  const broken = write('broken', 'id: [');
  assert.match(await refused(64, 'check', join(broken, 'scenario.yaml')), /scenario\.yaml:\d+:\d+: /);
  await refused(66, 'check', join(top, 'nowhere.yaml'));
  const ru = await ingle(['scenario', 'check', join(bad, 'scenario.yaml')], { INGLE_LANG: 'ru' });
  assert.match(ru.err, /В .*scenario\.yaml есть ошибка/);
});

test('a folder becomes a signed package, which the hub takes from a publisher it trusts', async () => {
  const key = join(top, 'acme.pem');
  const made = await ingle(['skill', 'key', 'new', key, '--json']);
  const { key: shown } = JSON.parse(made.out) as { key: string };
  const [packed] = await events<{ file: string; publisher: string }>('pack', folder, '--key', key);
  assert.is(packed!.file, join(top, 'acme.greet-1.0.0.ingle-scenario'));
  assert.ok(existsSync(packed!.file));
  assert.match(await refused(77, 'install', packed!.file), /Nobody here trusts the publisher/);
  assert.is((await ingle(['skill', 'trust', shown, '--name', 'Acme'])).code, 0);
  assert.match(await done('install', packed!.file), /acme\/greet 1\.0\.0 is installed/);
  assert.match(await done('list'), /off {2}acme\/greet {2}Greeting, 1\.0\.0\. Greets somebody\./);
  await refused(73, 'pack', folder, '--out', key);
  await refused(66, 'install', join(top, 'nothing'));
  await refused(64, 'install', key);
});

test('a parameter is set by its kind, and a rehearsal shows what comes of it', async () => {
  assert.match(await done('set', 'acme/greet', 'who=Ann'), /who of acme\/greet is "Ann"/);
  await done('set', 'acme.greet', 'times=3');
  assert.match(await refused(64, 'set', 'acme/greet', 'times=many'), /must be a number/);
  assert.match(await refused(66, 'set', 'acme/greet', 'nobody=1'), /It has: who, times, loud, days, wait/);
  await refused(64, 'set', 'acme/greet', 'who');
  const steps = await events<{ does: string; args?: { text: string } }>('rehearse', 'acme/greet');
  assert.is(steps[0]!.args!.text, 'Hello Ann');
  assert.is(steps.at(-1)!.does, 'end');
  assert.match(await done('rehearse', 'acme/greet', '--ctx', 'linger=true'), /linger +waits for 3600 s/);
});

test('a run is started with a context, told step by step, and listed', async () => {
  const run = await start('acme/greet', '--ctx', 'who=Bob');
  await comesTo(run, 'DONE');
  assert.match(await done('status', run), /done {6}hello/);
  assert.match(await done('runs', 'acme/greet'), new RegExp(`${run}  acme/greet  done`));
  assert.equal(await events('runs', 'home/radio'), []);
  assert.match(await done('runs'), run);
  await refused(66, 'run', 'acme/nothing');
  await refused(66, 'status', 'nothing');
});

test('a run that goes on takes orders, and one that has ended refuses them', async () => {
  const run = await start('acme/greet', '--ctx', 'linger=true');
  await until(async () => (await status(run)).journal.some((l) => l.status === 'WAITING'), 'it to wait');
  assert.match(await refused(73, 'run', 'acme/greet'), /running already/);
  await done('pause', run);
  await until(async () => (await status(run)).run.instance === 'paused', 'it to be paused');
  await done('resume', run);
  await done('stop', run);
  await comesTo(run, 'CANCELED');
  await refused(73, 'stop', run);
  const other = await start('acme/greet', '--ctx', 'linger=true');
  await done('kill', other);
  assert.is((await status(other)).run.state, 'CANCELED');
});

test('what failed is run again from its start or from the step, or let go', async () => {
  const run = await start('acme/greet', '--ctx', 'fall=true');
  await comesTo(run, 'FAILED');
  assert.match(await done('status', run), new RegExp(`fall failed: .*\\n.*replay dead-${run}`));
  assert.match(await done('dead'), new RegExp(`dead-${run}  acme/greet, .* at fall`));
  await refused(64, 'replay', `dead-${run}`, '--from', 'middle');
  const [again] = await events<{ run_id: string }>('replay', `dead-${run}`, '--from', 'step');
  await comesTo(again!.run_id, 'FAILED');
  await refused(73, 'replay', `dead-${run}`);
  for (const { id } of await events<{ id: string }>('dead')) await done('discard', id);
  assert.match(await done('dead'), /Nothing has failed/);
  await refused(66, 'discard', `dead-${run}`);
});

test('one that is turned on stands in the week, as does what is planned', async () => {
  assert.match(await done('week'), /Nothing begins by itself/);
  await done('on', 'acme/greet');
  assert.match(await done('list'), /on {3}acme\/greet .*\(next /);
  assert.is((await done('week')).match(/07:00 {2}acme\/greet/g)?.length, 5);
  const [job] = await events<{ job_id: string }>('plan', 'acme/greet', '--at', '18:00');
  const other = await events<{ job_id: string }>(
    'plan',
    'acme/greet',
    '--cron',
    '30 8 * * *',
    '--zone',
    'UTC',
  );
  assert.match(await done('week'), job!.job_id);
  await refused(64, 'plan', 'acme/greet');
  await refused(64, 'plan', 'acme/greet', '--at', 'soon');
  await refused(64, 'plan', 'acme/greet', '--cron', 'never');
  for (const { job_id } of [job!, other[0]!]) await done('unplan', job_id);
  await refused(66, 'unplan', job!.job_id);
  await done('off', 'acme/greet');
  assert.match(await done('week'), /Nothing begins by itself/);
});

test('a text is understood and starts its scenario; one that is not says so', async () => {
  const [found] = await events<{ intent: string; run_id: string; scenario_id: string }>(
    'say',
    'set a timer for 5 minutes',
  );
  assert.equal([found!.intent, found!.scenario_id], ['set_timer', 'home/timer_alarm']);
  await done('stop', found!.run_id);
  assert.match(await refused(66, 'say', 'flying purple teapots'), /Nothing understands/);
});

test('versions are told, another is used once what it would set aside is agreed to, and the way back gives it back', async () => {
  const next = write('next', source().replace('1.0.0', '2.0.0').replace('who: world', 'who: 5'), {
    ...{ 'parts.yaml': parts, 'README.md': '# Greeting\n\nGreets.\n' },
  });
  await done('set', 'acme/greet', 'who=Ann');
  await done('pack', next, '--key', join(top, 'acme.pem'));
  await done('install', join(top, 'acme.greet-2.0.0.ingle-scenario'));
  const who = async () =>
    (await events<{ args?: { text: string } }>('rehearse', 'acme/greet'))[0]!.args!.text;
  assert.is(await who(), 'Hello 5');
  assert.match(await done('rollback', 'acme/greet'), /1\.0\.0 is used now\. Go back: .* 2\.0\.0/);
  assert.is(await who(), 'Hello Ann');
  assert.match(await refused(73, 'rollback', 'acme/greet'), /oldest version/);
  const told = await done('versions', 'acme.greet');
  assert.match(told, /^\* 1\.0\.0 {2}used, installed .*, signed with /m);
  assert.match(told, /^ {2}2\.0\.0 .*\n +! \S.*: \/params\/who /m);
  assert.match(await refused(73, 'use', 'acme/greet', '2.0.0'), /\/params\/who .*\n.*--yes/);
  assert.is(await who(), 'Hello Ann', 'nothing was done');
  await done('use', 'acme/greet', '2.0.0', '--yes');
  assert.is(await who(), 'Hello 5');
  assert.match(await done('use', 'acme/greet', '2.0.0'), /used already/);
  assert.match(await refused(66, 'use', 'acme/greet', '3.0.0'), /It has: 1\.0\.0, 2\.0\.0/);
  await done('rollback', 'acme/greet');
  assert.match(await done('update'), /acme\/greet 2\.0\.0 is used now/);
  assert.match(await done('update'), /newest version/);
  await refused(77, 'remove', 'home/radio');
  assert.match(await done('remove', 'acme/greet'), /acme\/greet is taken away/);
  await refused(66, 'versions', 'acme/greet');
});

test('a package takes a README of every language, and one of none is refused by its name', async () => {
  const readmes = { 'README.md': '# Greeting\n', 'README.ru.md': '# Привет\n' };
  const folder = write('told', source(), { 'parts.yaml': parts, ...readmes });
  const out = join(top, 'told.ingle-scenario');
  await done('pack', folder, '--out', out);
  assert.equal((await readPrototype(readFileSync(out), nobody)).readme, {
    en: '# Greeting\n',
    ru: '# Привет\n',
  });
  for (const name of ['README.russian.md', 'README.en.md', 'readme..md']) {
    writeFileSync(join(folder, name), 'x');
    assert.match(
      await refused(64, 'pack', folder, '--out', out),
      /names no language; README\.md is the English one/,
    );
    rmSync(join(folder, name));
  }
  rmSync(join(folder, 'README.md'));
  assert.match(await refused(66, 'pack', folder, '--out', out), /has no README\.md/);
});

test('in Russian, and with errors as JSON', async () => {
  const ru = await ingle(['scenario', 'list'], { INGLE_LANG: 'ru' });
  assert.match(ru.out, /выкл home\/timer_alarm {2}Таймер и будильник, 1\.1\.0\. Ждёт/);
  assert.match(
    (await ingle(['scenario', 'versions', 'timer_alarm'], { INGLE_LANG: 'ru' })).out,
    /\* 1\.1\.0 {2}используется, часть хаба/,
  );
  const { code, err } = await scenario('run', 'acme/nothing', '--json');
  assert.is(code, 66);
  assert.is((JSON.parse(err) as { error: string }).error, 'not_found');
  assert.match((await ingle(['scenario'])).out, /scenario check <file>/);
  assert.match((await ingle(['completion', 'bash'])).out, /'scenario pack'/);
});

test.run();
