import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { softapTable, stationTable } from '../../firmware/wifi/machine.ts';
import { joining, judge, type Told } from '../../firmware/wifi/verdict.ts';

const test = suite('Wi-Fi states');

/** Every move there is, one a line; what is not here is refused. */
const softap = `
off start starting
starting up on
starting fell fallen
starting give_up off
starting stop off
starting gone off
starting lend paused
on start starting
on fell fallen
on lend paused
on stop off
on gone off
paused start starting
paused resume starting
paused stop off
paused gone off
fallen start starting
fallen retry starting
fallen give_up off
fallen lend paused
fallen stop off
fallen gone off`;
const station = `
off connect associating
off rejoin lost
associating failed off
associating leave off
associating gone off
associating associated addressing
addressing failed off
addressing leave off
addressing gone off
addressing addressed checking
addressing lost off
checking failed off
checking leave off
checking gone off
checking online connected
checking lost off
connected connect associating
connected lost lost
connected leave off
connected gone off
lost connect associating
lost associated connected
lost leave off
lost gone off`;

for (const [name, table, moves] of [
  ['access point', softapTable, softap],
  ['station', stationTable, station],
] as const)
  test(`the ${name} makes these moves and no other`, () => {
    const has = Object.entries(table).flatMap(([state, to]) =>
      Object.entries(to).map(([event, next]) => `${state} ${event} ${next}`),
    );
    assert.equal(has.sort(), moves.trim().split('\n').sort());
  });

const play = (...told: Told[]) => {
  let j = joining;
  for (const t of told) {
    const step = judge(j, t);
    if (step.verdict) return step.verdict;
    j = step.next;
  }
  return undefined;
};
const state = (...names: string[]) => names.map((s) => ({ state: s }));
const handshake = state('authenticating', 'associating', 'associated', '4way_handshake');
const fails: Told[] = [...handshake, { disconnectReason: 15 }, ...state('disconnected', 'scanning')];
const nothing: Told = { scanDone: true };

for (const [title, told, verdict] of [
  [
    'a handshake that ends well is joined',
    [...handshake, ...state('group_handshake', 'completed')],
    'associated',
  ],
  ['a handshake that breaks twice is a wrong password', [...fails, ...fails], 'wrong_password'],
  [
    'a handshake that breaks once may be the air',
    [...fails, ...handshake, ...state('completed')],
    'associated',
  ],
  [
    'a handshake that breaks without a reason counts too',
    [...handshake, ...state('disconnected'), ...handshake, ...state('disconnected')],
    'wrong_password',
  ],
  [
    'SAE that is refused twice is a wrong password',
    [...state('scanning', 'authenticating'), { authStatus: 15 }, { authStatus: 1 }],
    'wrong_password',
  ],
  [
    'SAE that goes on is no refusal',
    [...state('authenticating'), { authStatus: 76 }, { authStatus: 126 }, { authStatus: 0 }],
    undefined,
  ],
  [
    'three scans without the network say it is not there',
    [...state('scanning'), nothing, nothing, nothing],
    'not_found',
  ],
  [
    'failed scans say nothing',
    [...state('scanning'), { scanDone: false }, { scanDone: false }, { scanDone: false }],
    undefined,
  ],
  [
    'scans while joining say nothing',
    [...state('scanning', 'authenticating'), nothing, nothing, nothing],
    undefined,
  ],
  [
    'a full access point refuses',
    [...state('associating'), { assocStatus: 17 }, { assocStatus: 17 }, { assocStatus: 17 }],
    'refused',
  ],
  [
    'an access point that asks to wait does not refuse',
    [{ assocStatus: 30 }, { assocStatus: 30 }, { assocStatus: 30 }],
    undefined,
  ],
] as [string, Told[], string | undefined][])
  test(title, () => assert.is(play(...told), verdict));

test.run();
