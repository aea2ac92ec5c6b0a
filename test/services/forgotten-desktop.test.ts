// A person who is forgotten while a tile of theirs waits to be told anew: nothing is written for them any more.
import { mock } from 'node:test';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as Y from 'yjs';
import { openDesktop } from '../../services/api/desktop.ts';

type Given = Parameters<typeof openDesktop>[0];

test('who is forgotten is told nothing more', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const written: string[] = [];
  const room = (key: string) => ({
    doc: new Y.Doc(),
    members: new Set(['phone']),
    write: async () => void written.push(key),
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
  const desktop = await openDesktop({
    store: store as unknown as Given['store'],
    library: { peek: room, open: async (key: string) => room(key) } as unknown as Given['library'],
    skills: {
      known: () => new Map([['clock', { manifest, available: true }]]),
    } as unknown as Given['skills'],
    log: { error() {}, warn() {}, notice() {}, info() {}, debug() {} },
    narrowed() {},
  });
  for (const owner_id of ['mia', 'tom']) {
    await desktop.serve({ owner_id, role: 'adult' });
    desktop.stirred(`${owner_id}/clock/state:main`);
  }
  await desktop.forget('mia');
  written.length = 0;
  mock.timers.tick(2000);
  mock.timers.reset();
  await desktop.close();
  assert.equal(written, ['tom/desktop/state:main']);
});

test.run();
