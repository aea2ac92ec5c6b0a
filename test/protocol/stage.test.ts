import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { next, type StageEvent, stageTable } from '../../firmware/protocol/stage.ts';
import type { Stage } from '../../firmware/protocol/wire.ts';

const test = suite('stage');
const events: StageEvent[] = [
  'verify',
  'registration_challenge',
  'registered',
  'login',
  'accept',
  'up',
  'browser_offline',
  'hub_offline',
  'logout',
  'revoke',
  'expire',
];
/** A column an event, as in `events`; `.` is refused. */
const want: Record<Stage, string> = {
  NEW: 'PREAUTH . . AUTH . . . . NEW NEW NEW',
  PREAUTH: 'PREAUTH WEBREG . AUTH . . . . NEW NEW NEW',
  WEBREG: 'PREAUTH WEBREG WEBREG AUTH . . . . NEW NEW NEW',
  AUTH: '. AUTH AUTH AUTH PAIRED . AUTH AUTH NEW NEW NEW',
  PAIRED: '. PAIRED PAIRED PAIRED PAIRED ONLINE PAIRED AUTH NEW NEW NEW',
  ONLINE: '. ONLINE ONLINE ONLINE ONLINE ONLINE PAIRED AUTH NEW NEW NEW',
};

test('every stage answers every event as the table says', () => {
  for (const [stage, row] of Object.entries(want) as [Stage, string][])
    row.split(' ').forEach((to, i) => {
      assert.is(next(stageTable, stage, events[i]!) ?? '.', to, `${stage} ${events[i]}`);
    });
});

test('the first visit, a later visit, and a hub that goes away and comes back', () => {
  const walk = (from: Stage, ...list: StageEvent[]) =>
    list.reduce<Stage | null>((s, e) => s && next(stageTable, s, e), from);
  assert.is(walk('NEW', 'verify', 'registration_challenge', 'registered', 'login', 'accept', 'up'), 'ONLINE');
  assert.is(walk('NEW', 'login', 'accept', 'up'), 'ONLINE');
  assert.is(walk('ONLINE', 'hub_offline'), 'AUTH');
  assert.is(walk('ONLINE', 'hub_offline', 'accept', 'up'), 'ONLINE');
  assert.is(walk('NEW', 'accept'), null);
});

test.run();
