// Each way into setup is a machine of its own; together they open and close one after another.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type ChannelEvent, type ChannelState, channelTable } from '../../firmware/setup/channel.ts';
import { openChannels } from '../../firmware/setup/channels.ts';
import type { ChannelPort } from '../../firmware/setup/ports.ts';
import { openState } from '../../firmware/setup/state.ts';
import { logger } from '../../firmware/system/log.ts';
import { openStore } from '../../firmware/system/store.ts';
import { until } from '../lab/wait.ts';

const file = () => join(mkdtempSync(join(tmpdir(), 'ingle-channels-')), 'setup.db');

async function ways(at = file(), linger = 60_000) {
  const calls: string[] = [];
  const failed: string[] = [];
  const world = { softap: 'radios 1', ble: 'hci0', serving: true, starts: true };
  let gate: Promise<void> | undefined;
  const port = (name: 'softap' | 'ble'): ChannelPort => ({
    name,
    device: async () => world[name],
    ...(name === 'softap' ? { serving: async () => world.serving } : {}),
    async start() {
      calls.push(`${name} start`);
      await gate;
      if (!world.starts) throw new Error('no');
      world.serving = true;
      calls.push(`${name} started`);
    },
    stop: async () => void calls.push(`${name} stop`),
  });
  const { store } = await openState(at);
  const channels = await openChannels({
    ports: [port('softap'), port('ble')],
    store,
    log: logger('channels-test'),
    linger,
    window: () => ({ ssid: 'Ingle', psk: 'secret', idle_s: 600 }),
    onOpen() {},
    onFailed: (name, reason) => failed.push(`${name} ${reason}`),
  });
  return {
    calls,
    failed,
    world,
    channels,
    hold(p: Promise<void>) {
      gate = p;
    },
    open: (signal = new AbortController().signal, fresh = true) =>
      channels.open({ fresh, asked: true, signal }),
    async stop() {
      await channels.close();
      await channels.stop();
      await store.close();
    },
  };
}

test('a channel has exactly these moves', () => {
  const moves = Object.entries(channelTable).flatMap(([from, row]) =>
    Object.entries(row).map(([event, to]) => `${from} ${event} ${to}`),
  );
  assert.equal(moves, [
    'closed open opening',
    'closed found left',
    'left open opening',
    'left close closing',
    'opening opened open',
    'opening refused closed',
    'opening close closing',
    'open hand_over handing_over',
    'open ended closed',
    'open close closing',
    'handing_over open open',
    'handing_over ended closed',
    'handing_over close closing',
    'closing open opening',
    'closing closed closed',
  ]);
});

test('every state but closed can be left by closing, and nothing but a start of its own opens a channel', () => {
  for (const [state, row] of Object.entries(channelTable) as [
    ChannelState,
    Partial<Record<ChannelEvent, string>>,
  ][]) {
    if (state !== 'closed' && state !== 'closing') assert.is(row.close, 'closing', state);
    for (const [event, to] of Object.entries(row))
      if (to === 'open') assert.ok(state === 'opening' || state === 'handing_over', `${state} ${event}`);
  }
});

test('channels open and close in their order, never crossed', async () => {
  const w = await ways();
  await w.open();
  assert.equal(w.channels.names(), ['softap', 'ble']);
  await w.channels.close();
  assert.equal(w.channels.names(), []);
  assert.equal(w.calls, [
    'softap start',
    'softap started',
    'ble start',
    'ble started',
    'softap stop',
    'ble stop',
  ]);
  await w.stop();
});

test('a channel that is closed while it starts is stopped after its start, and the next one is not begun', async () => {
  const w = await ways();
  let go = () => {};
  w.hold(new Promise((resolve) => (go = resolve)));
  const abort = new AbortController();
  const opening = w.open(abort.signal);
  await until(() => w.calls.includes('softap start'));
  abort.abort();
  const closing = w.channels.close();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(w.calls, ['softap start']);
  go();
  await Promise.all([opening, closing]);
  assert.equal(w.calls, ['softap start', 'softap started', 'softap stop']);
  assert.equal(w.channels.names(), []);
  await w.stop();
});

test('what a process that ended left open is closed by the next one, or opened anew', async () => {
  const at = file();
  const first = await ways(at);
  await first.open();
  // No stop: the process just goes away.
  const second = await ways(at);
  assert.equal(second.channels.names(), []);
  await second.channels.close();
  assert.equal(second.calls, ['softap stop', 'ble stop']);
  await second.open();
  const third = await ways(at);
  await third.open();
  assert.equal(third.calls, ['softap start', 'softap started', 'ble start', 'ble started']);
  await third.stop();
  const fourth = await ways(at);
  await fourth.channels.close();
  assert.equal(fourth.calls, [], 'what was closed is not closed again');
  for (const w of [first, second, fourth]) await w.stop();
});

test('who hands over the pairing link stays for its time, and is open again when setup opens', async () => {
  const w = await ways(file(), 300);
  await w.open();
  await w.channels.leave((name) => name === 'ble');
  assert.equal(w.channels.names(), ['ble']);
  await w.open();
  await new Promise((resolve) => setTimeout(resolve, 400));
  assert.equal(w.channels.names(), ['softap', 'ble'], 'the time was called off');
  await w.channels.leave((name) => name === 'ble');
  await until(() => w.channels.names().length === 0, 'the time to be over');
  assert.is(w.calls.filter((c) => c === 'ble start').length, 1);
  await w.stop();
});

test('a device that never serves is tried a few times after it came, and not for ever', async () => {
  const w = await ways();
  w.world.softap = '';
  await w.open();
  assert.equal(w.channels.names(), ['ble']);
  w.world.starts = false;
  w.world.softap = 'radios 1';
  for (let i = 0; i < 20; i++)
    if ((await w.channels.look(true)).changed) await w.open(new AbortController().signal, false);
  const tries = w.calls.filter((c) => c === 'softap start').length;
  assert.ok(tries > 1 && tries < 10, String(tries));
  w.world.softap = 'radios 2';
  assert.ok((await w.channels.look(true)).changed, 'another device is a new chance');
  await w.stop();
});

test('a state of the version before is taken over: the ladder, its memory, and the count of wrong PINs', async () => {
  for (const [json, owned] of [
    [{ state: 'READY', done: true }, null],
    [{ state: 'READY', done: true, owned: true }, true],
    [{ state: 'CHANNELS', done: false, softap: { ssid: 'x', started_at: 'y' } }, undefined],
  ] as const) {
    const at = file();
    const old = await openStore(at, [
      'CREATE TABLE setup (id INTEGER PRIMARY KEY CHECK (id = 1), json TEXT NOT NULL)',
    ]);
    const kept = { ...json, attempts: 3, tries: { wrong: 4, at: 17 } };
    await old.run('INSERT INTO setup (id, json) VALUES (1, ?)', JSON.stringify(kept));
    await old.close();
    const now = await openState(at);
    assert.equal(now.tries, { wrong: 4, at: 17 });
    const row = await now.store.get<{ key: string; state: string; memory: string }>(
      'SELECT key, state, memory FROM ladder',
    );
    assert.equal([row?.key, row?.state], ['ladder', json.state]);
    const memory = JSON.parse(row!.memory) as Record<string, unknown>;
    assert.is(memory['owned'], owned);
    assert.is(memory['attempts'], 3);
    assert.equal(
      Object.keys(memory).filter((k) => ['state', 'tries', 'softap'].includes(k)),
      [],
    );
    await now.close();
  }
});

test.run();
