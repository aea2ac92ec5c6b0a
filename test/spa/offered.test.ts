// Which hubs can be shown in a browser, by what it has pinned and what root says of them.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { OwnedHub } from '../../firmware/protocol/account.ts';
import type { Pin } from '../../spa/database.ts';
import { hubsOf } from '../../spa/hubs-offered.ts';

const test = suite('hubs of this browser');
const pin = (hub_id: string, name: string) => ({ hub_id, name }) as Pin;
const owned = (hub_id: string, more: Partial<OwnedHub> = {}) =>
  ({ hub_id, name: 'as root says', via: null, online: true, last_seen_at: 7, ...more }) as OwnedHub;
const at = { hub_id: 'a', name: 'Attic' };

test('a hub goes by its own word, and by root’s only where this browser never met it', () => {
  const all = hubsOf([pin('a', 'old'), pin('b', 'Barn')], [owned('a'), owned('b'), owned('c')], at);
  assert.equal(
    all.map((h) => [h.name, h.current, h.paired]),
    [
      ['as root says', false, false],
      ['Attic', true, true],
      ['Barn', false, true],
    ],
  );
});

test('a hub that another one leads has no door, and is not offered', () => {
  assert.equal(
    hubsOf([pin('a', '')], [owned('a'), owned('m', { via: 'a' })], at).map((h) => h.hub_id),
    ['a'],
  );
});

test('a pinned hub that root does not count to this account is another’s, and nobody says how it is', () => {
  const [, barn] = hubsOf([pin('a', ''), pin('b', 'Barn')], [owned('a')], at);
  assert.equal([barn!.mine, barn!.online], [false, null]);
  const [alone, other] = hubsOf([pin('a', ''), pin('b', 'Barn')], null, at);
  assert.equal([alone!.mine, other!.mine], [true, false], 'the one that is shown is ours');
});

test.run();
