// timeout: 300 s
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ask, bound, call, heard, newTab, type RootProcess, signedIn, startRoot, until } from './kit.ts';

const test = suite<{ root: RootProcess }>('crash');
test.before(async (c) => {
  c.root = await startRoot();
});
test.after((c) => c.root.stop());

test('after kill -9, and after SIGTERM, hub and browser come back by themselves and frames pass again', async ({
  root,
}) => {
  const { hub, tab, line, owner } = await bound(root);
  let ctr = 0;
  for (let round = 0; round < 4; round++) {
    const { generation } = owner.last!;
    await new Promise((r) => setTimeout(r, Math.random() * 300));
    await (round % 2 ? root.terminate() : root.kill());
    await until(() => !owner.connected && !line.connected);
    await root.again();
    await until(
      () => owner.connected && owner.last!.route === 'bound' && owner.last!.generation > generation,
      'the route',
    );
    const [up, down] = [heard(line, 'relay.to_hub'), heard(owner, 'relay.to_browser')];
    owner.emit('relay.to_hub', { sid: tab.sid, frame: Buffer.from([round]), ctr: ++ctr });
    line.emit('relay.to_browser', { sid: tab.sid, frame: Buffer.from([round]), ctr });
    await Promise.all([up, down]);
    assert.is(await tab.stage(), 'ONLINE');
  }
  owner.close();
  line.close();
});

test('killed at any moment, root has lost nothing it had acknowledged', async ({ root }) => {
  // Each step, once answered, must hold after the kill that comes somewhere in the midst of the following ones.
  for (let round = 0; round < 4; round++) {
    const { hub, tab } = await signedIn(root);
    const done: (() => Promise<void>)[] = [];
    const work = (async () => {
      for (;;) {
        const code = await hub.code({ scope: 'new_passkey' });
        const t = await newTab(root);
        const verified = await t.verify(code);
        if (verified.status !== 200) return;
        done.push(async () => assert.is.not(await t.stage(), 'NEW'));
        if ((await t.register()).status !== 200) return;
        const login = await t.login();
        if (login.status !== 200) return;
        done.push(async () => {
          assert.is(await t.stage(), 'AUTH');
          assert.is((await call(root, 'GET', '/v1/owner/credentials', undefined, t.bearer())).status, 200);
        });
        if ((await t.offer()).status !== 200) return;
        done.push(async () => {
          const s = t.socket({ announce: false });
          await heard(s, 'connect');
          assert.is((await ask(s, 'owner.online', t.online())).route, 'waiting');
          s.close();
        });
      }
    })().catch(() => {});
    await until(() => done.length > round);
    await new Promise((r) => setTimeout(r, Math.random() * 60));
    await root.kill();
    await work;
    await root.again();
    for (const check of done) await check();
    assert.is((await hub.enrol()).body.owner_id, hub.owner_id);
    assert.is(await tab.stage(), 'AUTH');
  }
});

test('what was revoked stays revoked', async ({ root }) => {
  const { tab } = await signedIn(root);
  const id = encodeURIComponent(tab.keys.keys[0]!.id);
  const r = await call(root, 'DELETE', `/v1/owner/credentials/${id}`, undefined, tab.bearer());
  assert.is(r.status, 200);
  await root.kill();
  await root.again();
  assert.is((await call(root, 'GET', '/v1/owner/credentials', undefined, tab.bearer())).status, 401);
});

test.run();
