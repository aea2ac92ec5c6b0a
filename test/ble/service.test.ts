import { crc32 as zlibCrc } from 'node:zlib';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { advertisement, scanResponse } from '../../firmware/ble/advertise.ts';
import { assembler, MAX_MESSAGE, toPieces } from '../../firmware/ble/chunk.ts';
import { centralSession } from '../../firmware/ble/secured.ts';
import { bleSetup, setupUuid } from '../../firmware/ble/service.ts';
import { fromUtf8 } from '../../firmware/protocol/bytes.ts';
import { crc32 } from '../../firmware/protocol/crc32.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { setup1 } from '../../firmware/setup/contract.ts';
import { until } from '../lab/wait.ts';
import { fakeHub, type World } from '../setup/fake-hub.ts';

const test = suite('ble');

test('a message arrives whole through pieces of any size, and damage is noticed', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.integer({ min: 1, max: 512 }),
      (message, size) => {
        const take = assembler();
        const got = toPieces(message, size).map(take);
        assert.equal(JSON.stringify(got.at(-1)), JSON.stringify(JSON.parse(JSON.stringify(message))));
        assert.ok(got.slice(0, -1).every((x) => x === undefined));
      },
    ),
  );
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 }), (pieces) => {
      const take = assembler();
      for (const p of pieces) {
        try {
          take(p);
        } catch (e) {
          assert.is((e as { code?: string }).code, 'invalid_request');
        }
      }
    }),
  );
  const pieces = toPieces({ a: 'x'.repeat(100) }, 20);
  pieces[2]![3]! ^= 1;
  const take = assembler();
  assert.throws(() => pieces.forEach((p) => void take(p)), /damaged/);
  assert.throws(() => toPieces({ a: 'x'.repeat(MAX_MESSAGE) }, 20), /at most/);
  if (zlibCrc) assert.is(crc32(new Uint8Array([1, 2, 3])), zlibCrc(new Uint8Array([1, 2, 3])));
  assert.is(crc32(new TextEncoder().encode('123456789')), 0xcbf43926);
});

test('advertisements keep within 31 bytes whatever the name', () => {
  assert.is(advertisement(1, 1).length, 31);
  for (const name of ['', 'Ingle', 'Кухонный хаб', '🏠🏠🏠🏠'])
    assert.ok(scanResponse(name).length <= 31, name);
});

/** A central whose writes go straight to the service, in pieces as a radio would carry them. */
async function withCentral(given: Partial<World> = {}) {
  const hub = await fakeHub(given);
  await hub.setup.begin();
  await until(() => hub.setup.state === 'CHANNELS', 'setup is open');
  const air: Uint8Array[] = [];
  let used = 0;
  const results: Record<string, unknown>[] = [];
  const assemble = assembler();
  const client = hub.bus.client(setup1);
  /** So many questions for the stage of setup are still to get no answer. */
  const silent = { stages: 0 };
  const ble = bleSetup({
    setup: new Proxy(client, {
      get: (to, name, self) =>
        name === 'Stage' && silent.stages > 0 && silent.stages--
          ? () => Promise.reject(new IngleError('timeout', 'Setup did not answer Stage in time.'))
          : Reflect.get(to, name, self),
    }),
    device: { model: 'm', version: '1' },
    language: 'en',
    used: () => void used++,
    size: () => 20,
    notify(uuid, value) {
      air.push(value);
      if (uuid !== setupUuid.result) return;
      const m = assemble(value);
      if (m) results.push(m);
    },
  });
  const stop = await hub.bus.onSignal(setup1, 'Progress', (p) => ble.progress(p.step, p.state, p.text, {}));
  const characteristic = (uuid: string) => ble.service.characteristics.find((c) => c.uuid === uuid)!;
  const write = async (uuid: string, message: unknown) => {
    for (const piece of toPieces(message, 20)) {
      air.push(piece);
      await characteristic(uuid).write!(piece);
    }
  };
  const read = async (uuid: string) => fromUtf8(await characteristic(uuid).read!());
  const send = (m: Record<string, unknown>) => write(setupUuid.wifiCreds, m);
  const next = () => until(() => results.shift(), 'a message');
  /** The next sealed message; what the hub tells of its progress may come between. */
  const sealed = () =>
    until(() => {
      const at = results.findIndex((r) => r['t'] === 'sealed');
      return at >= 0 && results.splice(0, at + 1).pop();
    }, 'a sealed message');
  const prove = async (pin: string) => centralSession(await read(setupUuid.oneTimePin), pin, send, next);
  return {
    hub,
    ble,
    silent,
    air,
    results,
    write,
    read,
    sealed,
    prove,
    characteristic,
    /** How often the idle time began again. */
    used: () => used,
    async stop() {
      await stop();
      await hub.stop();
    },
  };
}

test('with the PIN a phone sends credentials nobody on the air can read', async () => {
  const c = await withCentral();
  assert.equal(JSON.parse(await c.read(setupUuid.deviceInfo)), {
    model: 'm',
    version: '1',
    status: 'CHANNELS',
  });
  const list = assembler();
  let audio: unknown;
  while (!audio) audio = list(await c.characteristic(setupUuid.audioList).read!());
  assert.equal((audio as { sinks: unknown[] }).sinks, [{ id: 'spk', name: 'Speaker', type: 'builtin' }]);

  const window = await c.read(setupUuid.oneTimePin);
  const { pin, psk } = c.hub.setup.secrets();
  assert.is.not(window, pin);
  // Setup goes on meanwhile and says so, here before and among the answers of the handshake.
  c.ble.progress('softap', 'CHANNELS', '', {});
  const proven = c.prove(pin);
  c.ble.progress('wifi', 'failed', '', {});
  c.ble.progress('softap', 'CHANNELS', '', {});
  const sealer = await proven;
  c.ble.progress('softap', 'CHANNELS', '', {});
  const ap = await sealer.open(await c.sealed());
  assert.is(ap['psk'], psk);
  const sealed = await sealer.seal({ ssid: 'Home', psk: 'geheim geheim' });
  await c.write(setupUuid.wifiCreds, sealed);
  await until(() => c.hub.world.joined.length === 1, 'the network is joined');
  assert.equal(c.hub.world.joined, ['Home/geheim geheim/false']);
  await until(() => c.results.find((r) => r['event'] === 'connected'), 'connected');
  const link = await c.sealed();
  assert.is((await sealer.open(link))['link'], c.hub.world.link);

  const heard = Buffer.concat(c.air).toString('latin1');
  for (const secret of ['geheim', pin, psk, c.hub.world.link]) assert.not.ok(heard.includes(secret), secret);
  // The same message once more, and one that was changed, do nothing.
  const again = await c.write(setupUuid.wifiCreds, sealed).catch((e) => e);
  assert.is(again.code, 'forbidden');
  const changed = await c
    .write(setupUuid.wifiCreds, { ...(await sealer.seal({ ssid: 'x' })), data: 'AAAA' })
    .catch((e) => e);
  assert.is(changed.code, 'forbidden');
  assert.is(c.hub.world.joined.length, 1);
  await c.stop();
});

test('without the PIN nothing is taken, and guessing locks the PIN out', async () => {
  const c = await withCentral();
  const plain = await c.write(setupUuid.wifiCreds, { ssid: 'Home', psk: '12345678' }).catch((e) => e);
  assert.is(plain.code, 'invalid_request');
  const unproven = await c.write(setupUuid.wifiCreds, { t: 'sealed', n: 1, data: 'AAAA' }).catch((e) => e);
  assert.is(unproven.code, 'forbidden');
  const before = c.hub.setup.secrets();
  c.results.length = 0;
  for (let i = 0; i < 5; i++) {
    const e = await c.prove('wrong!').catch((x) => x);
    assert.is(e.code, 'pairing_failed');
    c.results.length = 0;
  }
  assert.is.not(c.hub.setup.secrets().window, before.window);
  assert.is.not(c.hub.setup.secrets().pin, before.pin);
  assert.is(c.hub.setup.secrets().psk, before.psk, 'whoever uses the access point is not disturbed');
  // Now the right one has to wait as well, and who tries is told how long.
  const locked = await c.prove(c.hub.setup.secrets().pin).catch((x) => x);
  assert.equal([locked.code, locked.details?.retry_after], ['rate_limited', 30]);
  assert.match(locked.message, /takes the next one in 30 s/);
  assert.ok(!c.results.some((r) => r['t'] === 'sealed'));
  assert.equal(c.hub.world.joined, []);
  await c.stop();
});

test('a hub that has a network already, by cable, hands over the pairing link as soon as the PIN is proved', async () => {
  const c = await withCentral({ online: true });
  const sealer = await c.prove(c.hub.setup.secrets().pin);
  assert.is((await sealer.open(await c.sealed()))['event'], 'softap');
  assert.is((await sealer.open(await c.sealed()))['link'], c.hub.world.link);
  await c.stop();
});

test('a phone gets the pairing link also where setup is slow to say whether it may', async () => {
  const c = await withCentral();
  const sealer = await c.prove(c.hub.setup.secrets().pin);
  assert.is((await sealer.open(await c.sealed()))['event'], 'softap');
  c.silent.stages = 1;
  c.ble.progress('wifi', 'ok', '', {});
  assert.is((await sealer.open(await c.sealed()))['link'], c.hub.world.link);
  await c.stop();
});

test('a phone that waits for the pairing link has it as soon as root is reached', async () => {
  const c = await withCentral({ online: true, unlinked: Number.POSITIVE_INFINITY });
  const sealer = await c.prove(c.hub.setup.secrets().pin);
  assert.is((await sealer.open(await c.sealed()))['event'], 'softap');
  // The network is told of while the phone waits: it has one link, not two.
  c.ble.progress('wifi', 'ok', '', {});
  c.hub.world.unlinked = 2;
  assert.is((await sealer.open(await c.sealed()))['link'], c.hub.world.link);
  assert.is(c.hub.world.unlinked, -1);
  assert.not(c.results.some((r) => r['t'] === 'sealed'));
  await c.stop();
});

test('who has proved nothing may look around, and does not keep setup open', async () => {
  const c = await withCentral();
  const touched: string[] = [];
  const { touch } = c.hub.setup;
  c.hub.setup.touch = (channel) => {
    touched.push(channel);
    touch(channel);
  };
  const look = async () => {
    await c.characteristic(setupUuid.wifiScan).write!(new Uint8Array([1]));
    for (const list of [setupUuid.wifiScan, setupUuid.audioList]) await c.characteristic(list).read!();
  };
  await look();
  assert.equal([touched, c.used()], [['', '', ''], 0]);
  await c.prove('wrong!').catch(() => {});
  c.results.length = 0;
  assert.is(c.used(), 0);
  await c.prove(c.hub.setup.secrets().pin);
  assert.is(c.used(), 1);
  await c.characteristic(setupUuid.wifiScan).write!(new Uint8Array([1]));
  assert.equal(touched.slice(3), ['ble']);
  await c.stop();
});

test('a disconnect ends the session: the next central starts without rights', async () => {
  const c = await withCentral();
  const sealer = await c.prove(c.hub.setup.secrets().pin);
  c.ble.reset();
  const e = await c.write(setupUuid.wifiCreds, await sealer.seal({ ssid: 'x' })).catch((x) => x);
  assert.is(e.code, 'forbidden');
  await c.stop();
});

test.run();
