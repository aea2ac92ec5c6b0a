// Versions of a scenario: what another one would make of people's changes is known before, and going back gives back.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { earlierSchema, librarySchema, openLibrary, readmesSchema } from '../../firmware/scenario/library.ts';
import type { Readme } from '../../firmware/scenario/readme.ts';
import type { Prototype } from '../../firmware/scenario/schema.ts';
import { openStore } from '../../firmware/system/store.ts';
import { openVault, type Vault } from '../../firmware/system/vault.ts';

const test = suite('versions of a scenario');
// biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of a scenario
const secret = '${secret.key}';
const id = 'acme/greet';
const vault: Vault = {
  seal: (_: string, bytes: Uint8Array) => bytes,
  open: (_: string, bytes: Uint8Array) => bytes,
} as never;
const of = (version: string, params: Record<string, unknown>): Prototype => ({
  ...{ id, version, dslVersion: '1', name: 'Greeting', params },
  steps: [{ id: 'hello', call: 'io.console.print', args: { text: 'Hello' } }],
});

async function shelf() {
  const store = await openStore(':memory:', [librarySchema, earlierSchema, readmesSchema]);
  const open = () => openLibrary({ store, vault, builtin: [], now: () => 1000 });
  const library = await open();
  const install = (prototype: Prototype, readme: Readme = { en: '' }) =>
    library.install({ id, version: prototype.version, prototype, readme, publisher: 'key' });
  await install(of('1.0.0', { who: 'world', times: 2 }));
  const own = { rewriteVersion: 1, params: { who: 'Ann', times: 3 } };
  await library.change('house', id, own);
  await library.change('kim', id, { rewriteVersion: 1, params: { times: 4 } });
  await install(of('2.0.0', { who: 5, times: 2 }));
  return { library, install, own, open, store };
}

test('what a version would make of changes is told for each person, and nothing is done by that', async () => {
  const { library } = await shelf();
  await library.use(id, '1.0.0');
  const [old, next] = library.offered(id);
  assert.equal([old!.version, old!.used, old!.changes], ['1.0.0', true, []]);
  assert.equal([next!.version, next!.used, next!.installed_at], ['2.0.0', false, 1000]);
  assert.equal(
    next!.changes.map((c) => [c.user, c.problems.map((p) => [p.pointer, p.code, p.repaired])]),
    [['house', [['/params/who', 'param_type', false]]]],
    'what stays is no change',
  );
  assert.is(library.find(id).version, '1.0.0');
});

test('whoever goes back has what they had, also after a restart', async () => {
  const { library, own, open } = await shelf();
  assert.equal(library.implementation('house', id).implementation.params, { times: 3 });
  assert.equal(library.offered(id)[0]!.changes, [], 'there is nothing to tell');
  const after = await open();
  await after.use(id, '1.0.0');
  assert.equal(after.implementation('house', id).implementation, own);
  assert.equal(after.implementation('house', id).problems, []);
  await after.use(id, '2.0.0');
  await after.use(id, '1.0.0');
  assert.equal(after.implementation('house', id).implementation, own, 'there and back again');
});

test('whoever goes back over several versions has what they had, for as long as they change nothing', async () => {
  const { library, own, install, open } = await shelf();
  await install(of('3.0.0', { who: true, times: 2 }));
  await library.use(id, '2.0.0');
  const after = await open();
  await after.use(id, '1.0.0');
  assert.equal(after.implementation('house', id).implementation, own);
  await after.use(id, '3.0.0');
  await after.change('house', id, { rewriteVersion: 2, params: { times: 7 } });
  await after.use(id, '1.0.0');
  assert.equal(after.implementation('house', id).implementation.params, { times: 7 });
});

test('another version of the same name, installed after a removal, gets nothing it cannot take', async () => {
  const { library, install } = await shelf();
  await library.remove(id);
  await install(of('1.0.0', { times: 2 }));
  assert.equal(library.implementation('house', id).implementation.params, { times: 3 });
  library.effective('house', id);
});

test('what somebody changed since is carried, and not replaced by what they had', async () => {
  const { library } = await shelf();
  await library.change('house', id, { rewriteVersion: 2, params: { times: 9 } });
  await library.use(id, '1.0.0');
  assert.equal(library.implementation('house', id).implementation.params, { times: 9 });
});

test('nor is what an older program has changed, which knows of no version before', async () => {
  const { store, open } = await shelf();
  await store.run('UPDATE implementations SET rev = rev + 1');
  const after = await open();
  await after.use(id, '1.0.0');
  assert.equal(after.implementation('house', id).implementation.params, { times: 3 });
});

test('who is gone leaves nothing to go back to', async () => {
  const { library, open, store } = await shelf();
  await library.forget('house');
  assert.equal(await store.all('SELECT user FROM earlier_implementations'), [{ user: 'kim' }]);
  const after = await open();
  await after.use(id, '1.0.0');
  assert.equal(after.implementation('house', id).rev, 0);
  // As an older program forgets.
  await store.run('DELETE FROM implementations');
  await open();
  assert.equal(await store.all('SELECT user FROM earlier_implementations'), []);
});

test('a readme keeps its languages through a restart, and what an older program has stored is English', async () => {
  const { library, install, open, store } = await shelf();
  const readme = { en: 'Greets.', ru: 'Здоровается.' };
  await install(of('3.0.0', {}), readme);
  assert.equal((await open()).find(id).readme, readme);
  await install(of('3.0.0', {}), { en: 'Greets.' });
  assert.equal((await open()).find(id).readme, { en: 'Greets.' }, 'a language that is gone');
  await install(of('3.0.0', {}), readme);
  // The program from before: it knows one text, and nothing of the table beside.
  await store.run(
    "UPDATE prototypes SET readme = 'Says hello.', installed_at = 2000 WHERE version = '3.0.0'",
  );
  assert.equal((await open()).find(id).readme, { en: 'Says hello.' });
  await store.run('DELETE FROM prototypes');
  await open();
  await library.remove(id);
  assert.equal(await store.all('SELECT * FROM readmes'), []);
});

test('what is sealed for one person and scenario opens for no other, nor under another key', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ingle-sealed-'));
  try {
    const store = await openStore(':memory:', [librarySchema, earlierSchema, readmesSchema]);
    const open = (key = 'scenario.key') =>
      openLibrary({ store, vault: openVault(join(folder, key)), builtin: [], now: () => 1000 });
    const library = await open();
    const steps = [{ id: 'a', call: 'lamp.on', args: { key: secret } }];
    const of = { version: '1.0.0', readme: {}, publisher: 'key' };
    for (const id of ['acme/a', 'acme/b'])
      await library.install({
        ...of,
        id,
        prototype: { id, version: '1.0.0', dslVersion: '1', name: 'A', steps },
      });
    const bound = (value: string) => ({ rewriteVersion: 1, bindings: { secrets: { key: { value } } } });
    await library.change('ann', 'acme/a', bound('of-ann-a'));
    await library.change('ann', 'acme/b', bound('of-ann-b'));
    await library.change('bob', 'acme/a', bound('of-bob-a'));
    const secretOf = (of: Awaited<ReturnType<typeof open>>, user: string, id: string) =>
      of.implementation(user, id).implementation.bindings?.secrets?.['key']?.value;
    assert.is(secretOf(await open(), 'ann', 'acme/a'), 'of-ann-a');
    const rows = await store.all('SELECT * FROM implementations');
    assert.not.match(
      rows.map((r) => Buffer.from(r['bindings'] as Uint8Array).toString('latin1') + r['source']).join(),
      /of-/,
    );
    const take = (user: string, id: string) =>
      store.run(
        "UPDATE implementations SET bindings = (SELECT bindings FROM implementations WHERE user = ? AND id = ?) WHERE user = 'ann' AND id = 'acme/a'",
        ...[user, id],
      );
    for (const [user, id] of [
      ['bob', 'acme/a'],
      ['ann', 'acme/b'],
    ] as const) {
      await take(user, id);
      const after = await open();
      assert.is(secretOf(after, 'ann', 'acme/a'), undefined, `${user} ${id}`);
      assert.is(secretOf(after, user, id), `of-${user}-${id.at(-1)}`);
    }
    assert.is(secretOf(await open('other.key'), 'bob', 'acme/a'), undefined);
    await store.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.run();
