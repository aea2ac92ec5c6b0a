import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isErrorCode } from '../../firmware/protocol/errors.ts';
import { ask, heard, type RootProcess, signedIn, startRoot, until } from './kit.ts';

const test = suite<{ root: RootProcess }>('fuzz');
test.before(async (c) => {
  c.root = await startRoot();
});
test.after((c) => c.root.stop());

test('whatever a hub or a browser emits, it is answered in the one shape and the pair beside it goes on', async ({
  root,
}) => {
  const a = await signedIn(root);
  const b = await signedIn(root);
  const line = a.hub.socket();
  const owner = a.tab.socket();
  const otherLine = b.hub.socket();
  const other = b.tab.socket();
  await Promise.all([a.tab.offer(), b.tab.offer()]);
  await until(() => owner.last?.route === 'bound' && other.last?.route === 'bound');

  const event = fc.constantFrom(
    'hub.online',
    'owner.online',
    'pairing.accept',
    'pairing.request',
    'relay.to_hub',
    'relay.to_browser',
    'status',
    '__proto__',
    'toString',
  );
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.uint8Array({ maxLength: 40 }).map((x) => Buffer.from(x)),
    fc.constantFrom(a.tab.sid, b.tab.sid, a.hub.hub_id, b.hub.hub_id, -1, 0, 2 ** 53, 1e308),
  );
  const message = fc.oneof(
    value,
    fc.dictionary(
      fc.constantFrom('sid', 'frame', 'ctr', 'hub_id', 'subnet_id', 'caps', 'session_jwt', 'browser_key_id'),
      value,
    ),
  );
  await fc.assert(
    fc.asyncProperty(fc.boolean(), event, fc.array(message, { maxLength: 3 }), async (hub, name, args) => {
      const answer = await ask(hub ? line : owner, name, ...args);
      if (answer.ok !== true) {
        assert.is(answer.ok, false);
        assert.ok(isErrorCode(answer.error), JSON.stringify(answer));
      }
    }),
    { numRuns: 150 },
  );
  assert.ok(root.alive());
  assert.ok(line.connected && owner.connected);
  const passed = heard(otherLine, 'relay.to_hub');
  other.emit('relay.to_hub', { sid: b.tab.sid, frame: Buffer.from([1]), ctr: 2 ** 40 });
  await passed;
  assert.not.match(root.log(), / error /, 'nothing failed inside');
  for (const s of [line, owner, otherLine, other]) s.close();
});

test('the log holds no sid, token, code or frame', async ({ root }) => {
  const { hub, tab } = await signedIn(root);
  const code = await hub.code();
  for (const secret of [tab.sid, tab.token, tab.cookie, hub.certificate, code, code.replace('-', '')])
    assert.not.ok(root.log().includes(secret));
});

test.run();
