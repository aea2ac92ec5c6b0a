// A machine that outlives its process: stored, then moved, then acted on.
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type DurableOptions, durableSchema, type Here, openDurable } from '../../firmware/system/durable.ts';
import { logger } from '../../firmware/system/log.ts';
import { openStore, type Store } from '../../firmware/system/store.ts';
import { until } from '../lab/wait.ts';

type S = 'off' | 'on' | 'done';
type E = 'start' | 'end' | 'reset';
interface M {
  n: number;
}
const table = { off: { start: 'on' }, on: { end: 'done', reset: 'off' }, done: { reset: 'off' } } as const;
const file = () => join(mkdtempSync(join(tmpdir(), 'ingle-durable-')), 'x.db');
const fresh = (at = file()): Promise<Store> => openStore(at, [durableSchema('lamps')]);

async function open(store: Pick<Store, 'run' | 'all'>, more: Partial<DurableOptions<S, E, M>> = {}) {
  const acts: string[] = [];
  const heres: Here<S, E, M>[] = [];
  const rows = await openDurable<S, E, M>({
    name: 'lamps',
    store,
    table,
    initial: 'off',
    memory: { n: 0 },
    log: logger('durable-test'),
    act(row, here) {
      acts.push(
        `${row.key} ${here.by ? `${here.by.old} ${here.by.event} ` : ''}${here.state} ${row.memory.n}`,
      );
      heres.push(here);
    },
    ...more,
  });
  return { rows, acts, heres };
}
const inStore = (store: Store) => store.all('SELECT key, state, memory FROM lamps ORDER BY key');

test('a move is stored before anything sees it, and acted on after', async () => {
  const store = await fresh();
  const seen: unknown[] = [];
  const { rows, acts } = await open(store, {
    onMove: (row) => seen.push(['moved', row.state, row.memory.n]),
  });
  const row = rows.row('a');
  const moving = row.move('start', { n: 1 });
  assert.equal([row.state, row.memory.n], ['off', 0], 'until it is stored nothing has moved');
  assert.ok(await moving);
  assert.equal([row.state, row.memory.n], ['on', 1]);
  assert.equal(seen, [['moved', 'on', 1]]);
  assert.equal(acts, ['a off start on 1']);
  assert.equal(await inStore(store), [{ key: 'a', state: 'on', memory: '{"n":1}' }]);
  assert.is(await row.move('start', { n: 2 }), undefined, 'no such move');
  assert.equal([row.state, row.memory.n, acts.length], ['on', 1, 1]);
  await store.close();
});

test('what cannot be stored has not happened; a volatile machine goes on all the same', async () => {
  const full = { all: async () => [], run: () => Promise.reject(new Error('SQLITE_FULL')) };
  for (const volatile of [false, true]) {
    const { rows, acts } = await open(full, { volatile });
    const row = rows.row('a');
    const error = await row.move('start', { n: 1 }).then(
      () => '',
      (e: Error) => e.message,
    );
    assert.is(error, volatile ? '' : 'SQLITE_FULL');
    assert.equal([row.state, row.memory.n, acts.length], volatile ? ['on', 1, 1] : ['off', 0, 0]);
    const second = await row.remember({ n: 2 }).then(
      () => '',
      (e: Error) => e.message,
    );
    assert.is(second, volatile ? '' : 'SQLITE_FULL');
    assert.is(row.memory.n, volatile ? 2 : 0);
  }
});

test('rows of many keys go on where they were, and act again; a state that no table knows begins anew', async () => {
  const store = await fresh();
  const first = await open(store);
  await first.rows.row('a').move('start', { n: 1 });
  await first.rows.row('b').move('start', { n: 2 });
  await first.rows.row('b').move('end');
  await first.rows.row('c').move('start');
  await first.rows.drop('c');
  await first.rows.stop();
  await store.run(`INSERT INTO lamps VALUES ('d', 'gone', 0, '{}')`);
  const second = await open(store);
  assert.equal(second.rows.keys().sort(), ['a', 'b']);
  assert.equal([second.rows.stored('b'), second.rows.stored('d')], ['done', undefined]);
  assert.is(second.rows.row('d').state, 'off');
  assert.is(second.rows.row('a'), second.rows.row('a'));
  assert.equal(second.acts, [], 'not before it is told to');
  second.rows.row('a').resume();
  assert.equal(second.acts, ['a on 1']);
  assert.is(second.heres[0]?.by, undefined);
  const anew = await open(store, { anew: true });
  assert.equal([anew.rows.row('b').state, anew.rows.row('b').memory.n], ['off', 2]);
  assert.is(anew.rows.stored('b'), 'done');
  await store.close();
});

test('a state that has been left moves nothing any more, also when its move waits behind another', async () => {
  const store = await fresh();
  const { rows, heres } = await open(store);
  const row = rows.row('a');
  await row.move('start');
  const [on] = heres;
  const moves = [row.move('reset'), row.move('start')];
  // The table would take it, as the machine is on again by then.
  assert.is(await on!.move('end'), undefined);
  assert.ok((await Promise.all(moves)).every(Boolean));
  assert.is(row.state, 'on');
  assert.ok(on!.signal.aborted);
  await row.stop();
  assert.is(await row.move('end'), undefined, 'a stopped machine takes nothing');
  assert.equal([row.state, (await inStore(store))[0]?.['state']], ['on', 'on']);
  await store.close();
});

test('a timer runs from the entry into its state, over restarts, whatever the clock does', async () => {
  const store = await fresh();
  let clock = 1_000_000;
  const fired: string[] = [];
  const at = (ms: number): Partial<DurableOptions<S, E, M>> => ({
    now: () => clock,
    act: (row, here) => {
      if (here.state === 'on') here.after(ms, 'end', () => ({ n: row.memory.n + 1 }));
      if (here.state === 'done') fired.push(`done ${row.memory.n}`);
    },
  });
  const begun = async (moved: number) => {
    const first = await open(store, { ...at(60_000), now: () => 1_000_000 });
    const row = first.rows.row('a');
    if (row.state !== 'off') await row.move('reset', { n: 0 });
    await row.move('start');
    await first.rows.stop();
    clock = 1_000_000 + moved;
    const second = await open(store, at(60_000));
    second.rows.row('a').resume();
    return second.rows;
  };
  // Away for longer than the time: it is due at once.
  let rows = await begun(61_000);
  await until(() => fired.length === 1, 'the timer');
  await rows.stop();
  // Half of it is over.
  rows = await begun(30_000);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.is(rows.row('a').state, 'on');
  await rows.stop();
  rows = await begun(59_950);
  await until(() => fired.length === 2, 'the rest of the time');
  assert.equal(fired, ['done 1', 'done 1']);
  await rows.stop();
  // A clock that was set back costs no more than the whole time.
  const short = await open(store, at(300));
  await short.rows.row('a').move('reset');
  await short.rows.row('a').move('start');
  await short.rows.stop();
  clock -= 1_000_000_000;
  rows = (await open(store, at(300))).rows;
  rows.row('a').resume();
  assert.is(rows.row('a').state, 'on');
  await until(() => fired.length === 3, 'the whole time once more');
  await rows.stop();
  // Longer than setTimeout can wait.
  const warnings: string[] = [];
  process.on('warning', (w) => warnings.push(w.name));
  const long = await open(store, at(2 ** 40));
  await long.rows.row('a').move('reset');
  await long.rows.row('a').move('start');
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal([long.rows.row('a').state, warnings], ['on', []]);
  await long.rows.stop();
  await store.close();
});

test('what an act throws is heard of while its state lasts, and not after', async () => {
  const store = await fresh();
  const errors: string[] = [];
  let fail = () => {};
  const { rows } = await open(store, {
    act: (_, here) =>
      here.state === 'on'
        ? new Promise((_, no) => (fail = () => no(new Error('late'))))
        : Promise.reject(new Error(here.state)),
    onError: (_, e) => void errors.push(e.message),
  });
  const row = rows.row('a');
  await row.move('start');
  await row.move('end');
  fail();
  await row.acted();
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(errors, ['done']);
  await store.close();
});

test('kill -9 at any moment leaves rows that are whole, and no act without its move', async () => {
  const at = file();
  const script = `
    import { writeSync } from 'node:fs';
    import { durableSchema, openDurable } from './firmware/system/durable.ts';
    import { openStore } from './firmware/system/store.ts';
    const quiet = { info() {}, debug() {}, warn() {}, error() {} };
    const store = await openStore(${JSON.stringify(at)}, [durableSchema('lamps')]);
    const rows = await openDurable({
      name: 'lamps', store, table: ${JSON.stringify(table)}, initial: 'off', memory: { n: 0 }, log: quiet,
      act: (row, here) => void writeSync(1, row.key + ' ' + here.state + ' ' + row.memory.n + '\\n'),
    });
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), Number(process.argv[1]));
    for (;;) await Promise.all(['a', 'b', 'c'].map(async (key) => {
      const row = rows.row(key);
      const event = { off: 'start', on: 'end', done: 'reset' }[row.state];
      await row.move(event, { n: row.memory.n + 1 });
    }));
  `;
  for (const ms of [5, 20, 40, 80]) {
    const r = spawnSync(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '-e', script, String(ms)],
      {
        encoding: 'utf8',
      },
    );
    assert.is(r.signal, 'SIGKILL', r.stderr);
    const store = await fresh(at);
    const { rows } = await open(store);
    for (const key of ['a', 'b', 'c']) {
      const row = rows.row(key);
      // One move is one step of the table and one of the count: they are never apart.
      assert.is(row.state, (['off', 'on', 'done'] as const)[row.memory.n % 3], key);
      const acted = r.stdout
        .split('\n')
        .filter((l) => l.startsWith(`${key} `))
        .at(-1);
      const last = acted ? Number(acted.split(' ')[2]) : 0;
      assert.ok(
        last <= row.memory.n && (last === 0 || row.memory.n - last <= 1),
        `${key}: ${acted}, stored ${row.memory.n}`,
      );
    }
    await rows.stop();
    await store.close();
  }
});

test.run();
