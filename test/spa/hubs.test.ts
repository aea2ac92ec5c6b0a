// Whom the page of hubs takes for the one that came by its code.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { comer } from '../../spa/hubs-comer.ts';

type State = Parameters<typeof comer>[0][number]['state'];
const node = (hub_id: string, state: State, since: number | null = 1) => ({ hub_id, state, since });
const self = node('self', 'here', null);

test('a hub that comes by a code is told from those that were there, and from one that is only back', () => {
  const cases: [string, ReturnType<typeof node>[], ReturnType<typeof node>[], string | undefined][] = [
    ['nobody came', [self], [self], undefined],
    ['a new one, not heard yet', [self], [self, node('a', 'joined', 5)], 'a'],
    ['a new one', [self], [self, node('a', 'here', 5)], 'a'],
    [
      'a new one beside another',
      [self, node('b', 'here')],
      [self, node('b', 'here'), node('a', 'here', 5)],
      'a',
    ],
    ['one that had left', [self, node('a', 'left')], [self, node('a', 'here', 5)], 'a'],
    ['one that has left and stays so', [self, node('a', 'left')], [self, node('a', 'left')], undefined],
    ['one that leaves meanwhile', [self, node('a', 'here')], [self, node('a', 'left', 5)], undefined],
    ['one that was gone and is back', [self, node('a', 'gone')], [self, node('a', 'here', 5)], undefined],
    [
      'one that was let in before and is heard now',
      [self, node('a', 'joined')],
      [self, node('a', 'here', 5)],
      undefined,
    ],
    [
      'one that was let in before and is not heard',
      [self, node('a', 'joined')],
      [self, node('a', 'joined')],
      undefined,
    ],
    ['a member that is let in once more', [self, node('a', 'gone')], [self, node('a', 'joined', 5)], 'a'],
  ];
  for (const [what, then, now, came] of cases) assert.is(comer(now, then)?.hub_id, came, what);
});

test.run();
