// What the API says of a hub's own way into a subnet and out of it.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Bus } from '../../firmware/system/bus.ts';
import { subnetOf } from '../../services/api/subnet.ts';

test('a hub that is on its way into a subnet or out of it says so, and one whose membership is over does not', async () => {
  for (const [stage, said] of [
    ...[['joining', 'joining'] as const, ['in', 'in'] as const, ['leaving', 'leaving'] as const],
    ...[['left', null] as const, ['removed', null] as const, ['', null] as const],
  ]) {
    const uplink = {
      Status: async () => ({ hub_id: 'attic', subnet_id: 'net', owner_id: 'own' }),
      Subnet: async () => ({
        ...{ role: stage === 'in' ? 'member' : 'hub', stage, hub: 'hall', reached: false },
        ...{ nodes: [], at_home: stage !== 'in' },
      }),
    };
    const bus = { client: () => uplink } as unknown as Bus;
    const { stage: told, at_home } = await subnetOf(bus, 'Attic');
    assert.equal([told, at_home], [said, stage !== 'in'], stage);
  }
});

test.run();
