// The states of an installed skill, one by one.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  arrived,
  type InstallEvent,
  type InstallState,
  installTable,
  type Kept,
  type Memory,
  nothing,
  wanted,
} from '../../firmware/skills/install-machine.ts';

const events: InstallEvent[] = ['activate', 'came', 'failed', 'back', 'none', 'remove'];
/** Where each event leads, in the order above; a dot is a refusal. */
const moves: Record<InstallState, string> = {
  prepared: 'trial . . . . removing',
  trial: '. active returning . . removing',
  active: 'trial . . . . removing',
  returning: '. . . active prepared removing',
  removing: '. . . . . .',
};
for (const [state, leads] of Object.entries(moves))
  test(`a skill that is ${state} goes where it may and nowhere else`, () => {
    const row = installTable[state as InstallState];
    assert.equal(events.map((e) => row[e] ?? '.').join(' '), leads);
  });

test('whatever fails or is asked for, a skill can be removed, and what is removed stays so', () => {
  for (const [state, row] of Object.entries(installTable))
    assert.is(row.remove, state === 'removing' ? undefined : 'removing');
});

const memory = (patch: Partial<Memory>): Memory => ({
  ...nothing,
  kept: ['1.0.0', '1.1.0', '1.2.0', '2.0.0'].map((version) => ({ version }) as Kept),
  ...patch,
});
const left = (m: Partial<Memory>) => (m.kept ?? []).map((k) => k.version).join(' ');

test('once a version has come, the one before is kept and what is newer, and no more', () => {
  const m = arrived(memory({ current: '1.1.0', previous: '1.0.0', trying: '1.2.0' }));
  assert.equal([m.current, m.previous, m.trying, left(m)], ['1.2.0', '1.1.0', null, '1.1.0 1.2.0 2.0.0']);
});

test('after a step back there is none further back, and the newer one can be had again', () => {
  const m = arrived(memory({ current: '1.2.0', previous: '1.1.0', trying: '1.1.0' }));
  assert.equal([m.current, m.previous, left(m)], ['1.1.0', null, '1.1.0 1.2.0 2.0.0']);
});

test('the first version has none before it', () => {
  assert.is(arrived(memory({ trying: '1.0.0' })).previous, null);
});

test('on trial the slot is for the version that is tried', () => {
  assert.is(wanted(memory({ current: '1.0.0', trying: '2.0.0' }))?.version, '2.0.0');
  assert.is(wanted(memory({ current: '1.0.0' }))?.version, '1.0.0');
  assert.is(wanted(memory({})), undefined);
});

test.run();
