// Which hubs are at home in a node, where Redis answers late or not at all.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { openHomes } from '../../root/cluster/homes.ts';
import { newNode } from '../../root/cluster/node.ts';
import type { Member, Registry } from '../../root/cluster/registry.ts';

const test = suite('homes');

/** A node that holds, over homes as Redis has them. */
function world() {
  const home = new Map<string, string>();
  const is = { late: false };
  const node = newNode('here:1');
  Object.assign(node.tenure, { holds: () => true, mayTake: () => true });
  const registry = {
    async take(hubId: string, { id }: Member) {
      if (!home.has(hubId)) home.set(hubId, id);
      if (is.late) throw new IngleError('unavailable', 'Redis does not answer.');
      return home.get(hubId)!;
    },
    homeOf: async (hubId: string) => home.get(hubId) ?? null,
    async release(hubId: string, { id }: Member) {
      if (home.get(hubId) === id) home.delete(hubId);
    },
  } as unknown as Registry;
  const relay = { restore() {}, leave() {}, hubIds: () => [], isHome: () => true };
  const records = { routes: { restore: async () => [] } };
  return { home, is, node, homes: openHomes(node, registry, relay, records as never) };
}

test('a hub whose home is here in name only, as Redis was heard too late, is given up to who asks', async () => {
  const { home, is, node, homes } = world();
  is.late = true;
  assert.is(await homes.homeFor('h').catch((e) => e.code), 'unavailable');
  assert.not(homes.has('h'));
  assert.is(home.get('h'), node.me.id, 'in name');
  await homes.yieldTo('h');
  assert.not(home.has('h'));
});

test('a hub that another node has stays there, whoever asks', async () => {
  const { home, homes } = world();
  home.set('h', 'other');
  await homes.yieldTo('h');
  assert.is(home.get('h'), 'other');
});

test('a hub that is being taken is given up once it is, and not by half', async () => {
  const { home, homes } = world();
  const taken = homes.homeFor('h');
  const given = homes.yieldTo('h');
  await Promise.all([taken, given]);
  assert.equal([homes.has('h'), home.has('h')], [false, false]);
});

test.run();
