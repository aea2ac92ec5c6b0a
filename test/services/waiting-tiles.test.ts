// Tiles that wait to be told anew: nothing is written for who was forgotten meanwhile, and a disk that fails one person
// fails no other.
import { mock } from 'node:test';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as Y from 'yjs';
import { openDesktop } from '../../services/api/desktop.ts';

type Given = Parameters<typeof openDesktop>[0];

/** Two people with a tile that waits, and what is written for them; `disk` may throw. */
async function waiting(disk: (key: string) => void = () => {}) {
  mock.timers.enable({ apis: ['setTimeout'] });
  const written: string[] = [];
  const warned: string[] = [];
  const room = (key: string) => ({
    doc: new Y.Doc(),
    members: new Set(['phone']),
    async write() {
      disk(key);
      written.push(key);
    },
  });
  const tx = { get: async () => undefined, all: async () => [], run: async () => {} };
  const store = { ...tx, transaction: async (work: (t: typeof tx) => unknown) => work(tx) };
  const manifest = {
    id: 'clock',
    version: '1.0.0',
    capabilities: {
      visual: true,
      ui: { title: 'Clock', modes: ['modal'], glance: { line: '{{state.at}}' } },
    },
  };
  const warn = (what: string) => void warned.push(what);
  const desktop = await openDesktop({
    store: store as unknown as Given['store'],
    library: { peek: room, open: async (key: string) => room(key) } as unknown as Given['library'],
    skills: {
      known: () => new Map([['clock', { manifest, available: true }]]),
    } as unknown as Given['skills'],
    log: { error() {}, warn, notice() {}, info() {}, debug() {} },
    narrowed() {},
  });
  for (const owner_id of ['mia', 'tom']) {
    await desktop.serve({ owner_id, role: 'adult' });
    desktop.stirred(`${owner_id}/clock/state:main`);
  }
  written.length = 0;
  return {
    desktop,
    written,
    warned,
    async passes() {
      mock.timers.tick(2000);
      mock.timers.reset();
      await desktop.close();
    },
  };
}

test('who is forgotten is told nothing more', async () => {
  const { desktop, written, passes } = await waiting();
  await desktop.forget('mia');
  await passes();
  assert.equal(written, ['tom/desktop/state:main']);
});

test('a disk that fails one person is told of, and the next has their tiles', async () => {
  let fails = false;
  const { written, warned, passes } = await waiting((key) => {
    if (fails && key.startsWith('mia/')) throw new Error('SQLITE_FULL');
  });
  fails = true;
  await passes();
  assert.equal(written, ['tom/desktop/state:main']);
  assert.equal(warned, ['the tiles of a desktop are not up to date']);
});

test.run();
