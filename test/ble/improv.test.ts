// Improv's GATT service over a served ladder: who is let in, for how long, and what is answered to what.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bleImprov } from '../../firmware/ble/improv.ts';
import { setup1 } from '../../firmware/setup/contract.ts';
import { improvError, improvState, improvUuid } from '../../firmware/setup/improv.ts';
import { progressOf } from '../../firmware/setup/progress.ts';
import { logger } from '../../firmware/system/log.ts';
import { until } from '../lab/wait.ts';
import { fakeHub } from '../setup/fake-hub.ts';

const test = suite('improv over BLE');
const bytes = (...b: number[]) => new Uint8Array([...b, b.reduce((x, y) => x + y, 0) & 0xff]);
const text = (s: string) => [s.length, ...Buffer.from(s)];
const join = (ssid: string, psk: string) => {
  const data = [...text(ssid), ...text(psk)];
  return bytes(1, data.length, ...data);
};

async function open(o: { unlabelled: boolean; approvalMs?: number }) {
  const hub = await fakeHub({ radios: 1 });
  await hub.setup.begin();
  await until(() => hub.setup.state === 'CHANNELS', 'setup to be open');
  const sent: { uuid: string; value: number[] }[] = [];
  let advertised = 0;
  let asked = 0;
  const setup = hub.bus.client(setup1);
  const improv = bleImprov({
    // Setup asks for a link of its own accord too, to say it: what counts here is what Improv asks for.
    setup: {
      ...setup,
      PairingLink(...given) {
        asked++;
        return setup.PairingLink(...given);
      },
    },
    device: { name: 'Ingle', model: 'test', version: '1.2.3' },
    log: logger('improv test'),
    onProgress: progressOf(hub.bus),
    ...(o.approvalMs ? { approvalMs: o.approvalMs } : {}),
  });
  const at = (uuid: string) => improv.service.characteristics.find((c) => c.uuid === uuid)!;
  await improv.begin(
    {
      notify: (uuid, value) => void sent.push({ uuid, value: [...value] }),
      advertise: async () => void advertised++,
    },
    o.unlabelled,
  );
  return {
    hub,
    improv,
    advertised: () => advertised,
    asked: () => asked,
    sent: (uuid: string) => sent.filter((s) => s.uuid === uuid).map((s) => s.value),
    read: async (uuid: string) => [...((await at(uuid).read?.()) ?? [])],
    write: (packet: Uint8Array) => at(improvUuid.command).write?.(packet),
  };
}

test('a hub without a PIN lets an application in, joins its network and answers with the link', async () => {
  const o = await open({ unlabelled: true });
  assert.equal(await o.read(improvUuid.state), [improvState.authorized]);
  assert.is(o.advertised(), 1);
  await o.write(join('Home', 'secret pass'));
  await until(() => o.sent(improvUuid.result).length > 0, 'the result');
  assert.equal(o.hub.world.joined, ['Home/secret pass/false']);
  const [result] = o.sent(improvUuid.result);
  assert.match(Buffer.from(result!).toString(), /https:\/\/ingle\.example\//);
  assert.equal(await o.read(improvUuid.result), result, 'what was notified can be read');
  assert.equal(await o.read(improvUuid.capabilities), [1]);
  await o.hub.stop();
});

test('a link that is not to be had at once is waited for', async () => {
  const o = await open({ unlabelled: true });
  o.hub.world.unlinked = 2;
  await o.write(join('Home', 'secret pass'));
  await until(() => o.sent(improvUuid.result).length > 0, 'the result');
  assert.match(Buffer.from(o.sent(improvUuid.result)[0]!).toString(), /https:\/\/ingle\.example\//);
  await o.hub.stop();
});

test('a link is for who asked: whoever comes after is not told it, and cannot read it', async () => {
  const o = await open({ unlabelled: true });
  await o.write(join('Home', 'secret pass'));
  await until(() => o.sent(improvUuid.result).length > 0, 'the result');
  o.improv.left();
  assert.equal(await o.read(improvUuid.result), []);
  await o.hub.stop();
});

test('a link is not asked for any longer once who asked has left', async () => {
  const o = await open({ unlabelled: true });
  o.hub.world.unlinked = 100;
  await o.write(join('Home', 'secret pass'));
  await until(() => o.asked() > 0, 'it to be asked for');
  o.improv.left();
  const asked = o.asked();
  // The pauses between tries are 250, 500 and 1,000 ms.
  await new Promise((resolve) => setTimeout(resolve, 2000));
  assert.is(o.asked(), asked);
  await o.hub.stop();
});

test('why a network was not joined is for who asked: whoever comes after did nothing wrong', async () => {
  const o = await open({ unlabelled: true });
  o.hub.world.wifi = { ok: false, reason: 'wrong_password' };
  await o.write(bytes(9, 0));
  assert.is.not((await o.read(improvUuid.error))[0], improvError.none);
  await o.write(join('Home', 'wrong pass'));
  o.improv.left();
  assert.equal(await o.read(improvUuid.error), [improvError.none]);
  await until(() => o.hub.world.joined.length === 1 && o.hub.setup.state === 'CHANNELS', 'the try to end');
  const told = o.sent(improvUuid.error).length;
  // It would come with the step of setup, by the bus.
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.is(o.sent(improvUuid.error).length, told);
  assert.equal(await o.read(improvUuid.error), [improvError.none]);
  await o.hub.stop();
});

test('a hub with a PIN asks for approval, which ends by time or when the central leaves', async () => {
  const o = await open({ unlabelled: false, approvalMs: 400 });
  const { authorize, authorized } = improvState;
  assert.equal(await o.read(improvUuid.state), [authorize]);
  await o.write(join('Home', 'secret pass'));
  await until(() => o.sent(improvUuid.error).length > 0, 'the refusal');
  assert.equal(o.sent(improvUuid.error).at(-1), [improvError.not_authorized]);
  assert.equal(o.hub.world.joined, []);

  await o.improv.approve();
  assert.equal(await o.read(improvUuid.state), [authorized]);
  await until(async () => (await o.read(improvUuid.state))[0] === authorize, 'the approval to end');
  await o.improv.approve();
  o.improv.withdraw();
  await until(async () => (await o.read(improvUuid.state))[0] === authorize, 'the approval to be withdrawn');
  assert.equal(
    o.sent(improvUuid.state).map(([s]) => s),
    [authorize, authorized, authorize, authorized, authorize],
  );
  await o.hub.stop();
});

test('a network that was not joined is asked for again within a new time', async () => {
  const o = await open({ unlabelled: false, approvalMs: 1500 });
  o.hub.world.wifi = { ok: false, reason: 'wrong_password' };
  await o.improv.approve();
  await new Promise((resolve) => setTimeout(resolve, 900));
  await o.write(join('Home', 'wrong pass'));
  await until(() => o.hub.world.joined.length > 0, 'the try');
  await new Promise((resolve) => setTimeout(resolve, 1000));
  await until(() => o.hub.setup.state === 'CHANNELS', 'setup to be open again');
  await o.write(join('Home', 'secret pass'));
  await until(() => o.hub.world.joined.length > 1, 'the second try');
  await o.hub.stop();
});

test('what is no command is told so, and nothing is told once the server is closed', async () => {
  const o = await open({ unlabelled: true });
  await o.write(new Uint8Array([1, 2, 3]));
  assert.equal(await o.read(improvUuid.error), [improvError.invalid]);
  await o.write(bytes(0x77, 0));
  assert.equal(o.sent(improvUuid.error), [[improvError.invalid], [improvError.unknown_command]]);
  o.improv.end();
  await o.write(new Uint8Array([1, 2, 3]));
  assert.is(o.sent(improvUuid.error).length, 2);
  await o.hub.stop();
});

test.run();
