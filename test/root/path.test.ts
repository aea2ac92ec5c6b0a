import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ask, heard, type RootProcess, signedIn, startRoot, until } from './kit.ts';

const test = suite<{ root: RootProcess }>('path');
test.before(async (c) => {
  c.root = await startRoot();
});
test.after((c) => c.root.stop());

test('a browser goes from NEW to ONLINE, and back as its hub leaves and returns', async ({ root }) => {
  const { hub, tab } = await signedIn(root);
  assert.is(await tab.stage(), 'AUTH');
  const owner = tab.socket({ announce: false });
  await heard(owner, 'connect');
  const ack = await ask(owner, 'owner.online', tab.online());
  assert.is(ack.ok, true);
  assert.is(ack.route, 'none');
  assert.is(ack.hub_online, false);

  assert.equal((await tab.offer()).body, { routed_to_hub: false });
  await until(() => owner.last?.route === 'waiting', 'the route to wait');

  let line = hub.socket();
  await until(() => owner.last?.route === 'bound', 'the waiting route to be bound');
  assert.is(await tab.stage(), 'PAIRED');

  const toHub = heard(line, 'relay.to_hub');
  owner.emit('relay.to_hub', { sid: tab.sid, frame: Buffer.from([3, 1, 2, 255]), ctr: 1 });
  const [up] = (await toHub) as [{ sid: string; frame: Buffer; ctr: number }];
  assert.equal([up.sid, [...up.frame], up.ctr], [tab.sid, [3, 1, 2, 255], 1]);
  assert.is(await tab.stage(), 'PAIRED');
  const toBrowser = heard(owner, 'relay.to_browser');
  line.emit('relay.to_browser', { sid: tab.sid, frame: Buffer.alloc(65_535, 7), ctr: 9 });
  const [down] = (await toBrowser) as [{ sid: string; frame: Buffer; ctr: number }];
  assert.equal([down.sid, down.frame.length, down.ctr], [tab.sid, 65_535, 9]);
  assert.is(await tab.stage(), 'ONLINE');

  const generation = owner.last!.generation;
  line.close();
  await until(() => owner.last?.hub_online === false, 'the browser to hear that the hub left');
  assert.is(owner.last!.route, 'waiting');
  assert.is(await tab.stage(), 'AUTH');
  line = hub.socket();
  await until(() => owner.last?.route === 'bound', 'the route to be bound again');
  assert.ok(owner.last!.generation > generation);
  await until(() => owner.last?.lag_ms !== null, 'the lag to be measured');
  assert.type(owner.last!.lag_ms, 'number');
  owner.close();
  line.close();
});

test.run();
