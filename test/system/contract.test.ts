import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { audio1 } from '../../firmware/audio/contract.ts';
import { setup1 } from '../../firmware/setup/contract.ts';
import { skill1 } from '../../firmware/skills/contract.ts';
import { type Args, introspection, signatureOf } from '../../firmware/system/contract.ts';
import { pack, unpack } from '../../firmware/system/served.ts';
import { update1 } from '../../firmware/update/contract.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import { wifi1 } from '../../firmware/wifi/contract.ts';

const test = suite('contract');

test('a struct has names here and an order on the wire, by itself and in arrays', () => {
  const args = {
    one: { from: 'd', to: 'u' },
    many: [{ id: 's', on: 'b' }],
    plain: 'a(sb)',
    none: [{ id: 's' }],
  } as const;
  const given = {
    plain: [['y', true]],
    none: [],
    many: [
      // The order of the wire is the contract's, and what the contract does not name stays here.
      { on: true, id: 'x', secret: 'psk' },
      { id: 'y', on: false },
    ],
    one: { to: 7, from: 0.5 },
  };
  const { signature, body } = pack(args, given);
  assert.is(signature, '(du)a(sb)a(sb)a(s)');
  assert.equal(body, [
    [0.5, 7],
    [
      ['x', true],
      ['y', false],
    ],
    [['y', true]],
    [],
  ]);
  assert.equal(unpack(args, body), {
    ...given,
    many: [
      { id: 'x', on: true },
      { id: 'y', on: false },
    ],
  });
});

const state = {
  detail: { dict: { on: 'b', names: 'as', n: 'i', 'net?': { dict: { ssid: 's', 'at?': 'd' } } } },
} as const;

test('a dictionary of known keys has its types on the wire, and reads back without what is not known', () => {
  const detail = {
    on: true,
    names: ['a', 'b'],
    n: 7,
    net: { ssid: 'x', at: 1 },
    more: 'not in the contract',
  };
  const { signature, body } = pack(state, { detail });
  assert.is(signature, 'a{sv}');
  assert.equal(body, [
    {
      on: { signature: 'b', value: true },
      names: { signature: 'as', value: ['a', 'b'] },
      n: { signature: 'i', value: 7 },
      net: {
        signature: 'a{sv}',
        value: { ssid: { signature: 's', value: 'x' }, at: { signature: 'd', value: 1 } },
      },
    },
  ]);
  const newer = { ...(body[0] as object), newer: { signature: 's', value: 'x' } };
  assert.equal(unpack(state, [newer]), {
    detail: { on: true, names: ['a', 'b'], n: 7, net: { ssid: 'x', at: 1 } },
  });
});

test('a dictionary may lack its optional keys and no other', () => {
  const { body } = pack(state, { detail: { on: false, names: [], n: 0 } });
  assert.equal(unpack(state, body), { detail: { on: false, names: [], n: 0 } });
  assert.throws(() => pack(state, { detail: { on: false, names: [] } }), /has no n/);
});

test('naming the fields has changed nothing on the wire', () => {
  const wire = (a: Args) => Object.fromEntries(Object.entries(a).map(([name, t]) => [name, signatureOf(t)]));
  const out = (m: { out: Args }) => wire(m.out);
  assert.equal(out(audio1.methods.Enumerate), { sinks: 'a(sssbdbdb)', sources: 'a(sssbdbdb)' });
  assert.equal(wire(audio1.methods.PlayTone.in), { sink_id: 's', chirp_spec: '(ddud)' });
  assert.equal(out(audio1.methods.SaveProfile), { profile: '(ssssddsddb)' });
  assert.equal(out(audio1.methods.LoadProfile), { profile: '(ssssddsddb)', fresh: 'b' });
  assert.equal(out(audio1.methods.ListProfiles), { profiles: 'a(ssssddsddb)' });
  assert.equal(out(setup1.methods.AudioDevices), { sinks: 'a(sssdb)', sources: 'a(sssdb)' });
  assert.equal(out(setup1.methods.WifiScan), { networks: 'a(sus)', age_s: 'u' });
  assert.is(out(setup1.methods.Status)['detail'], 'a{sv}');
  assert.is(out(wifi1.methods.Status)['detail'], 'a{sv}');
  assert.equal(out(wifi1.methods.Scan), { networks: 'a(sus)', age_s: 'u' });
  assert.is(out(uplink1.methods.Offered)['changes'], 'a(sss)');
  assert.equal(out(uplink1.methods.ListBrowsers), { browsers: 'a(ssxx)' });
  assert.equal(out(update1.methods.Sticks), { bundles: 'a(st)' });
  assert.equal(wire(skill1.methods.Attach.in), { owner_id: 's', viewers: 'u', documents: 'a(say)' });
  assert.equal(out(skill1.methods.Attach), { documents: 'a(say)' });
  // Some VM steps and `busctl` read by position: the first field of a device is its id, the last whether it is usable.
  assert.equal(Object.keys(audio1.methods.Enumerate.out.sinks[0]), [
    'id',
    'name',
    'type',
    'muted',
    'volume',
    'connected',
    'score',
    'usable',
  ]);
  assert.match(introspection(uplink1), '<arg name="browsers" type="a(ssxx)" direction="out"/>');
});

test.run();
