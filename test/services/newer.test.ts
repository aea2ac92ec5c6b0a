// After a step back to an older build: what the newer one stored stays, and its skill serves on.
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import * as Y from 'yjs';
import { archiveSchema, loadDocument } from '../../firmware/documents/archive.ts';
import { mergeContent, readContent } from '../../firmware/documents/content.ts';
import { openStore } from '../../firmware/system/store.ts';
import { startHub, type TestHub } from './hub.ts';

const test = suite<{ hub: TestHub }>('a newer view');
test.before(async (c) => {
  c.hub = await startHub({ skills: ['hub_status'] });
});
test.after((c) => c.hub.stop());

const key = 'o1/hub_status/view:main';

/** The stored view's own content, past the running hub. */
async function stored<T>(hub: TestHub, work: (doc: Y.Doc) => T): Promise<T> {
  const store = await openStore(join(hub.data, 'api/api.db'), archiveSchema);
  const { doc, next } = await loadDocument(store, key);
  const before = Y.encodeStateVector(doc);
  const result = work(doc);
  const update = Y.encodeStateAsUpdate(doc, before);
  await store.run('INSERT INTO doc_updates (key, n, data) VALUES (?, ?, ?)', key, next, update);
  await store.close();
  return result;
}
const layoutOf = (doc: Y.Doc) => readContent(doc)['layout'] as { children: { type: string }[] };

test('a view with parts that only a newer hub knows does not keep its skill from serving', async ({
  hub,
}) => {
  await hub.available('hub_status');
  await hub.kill('api');
  await stored(hub, (doc) => {
    const layout = structuredClone(layoutOf(doc));
    layout.children.splice(1, 0, { type: 'dial' });
    mergeContent(doc, { layout: layout as never });
  });
  await hub.startApi();
  await hub.available('hub_status');
  assert.is((await hub.ask('POST', '/skills/hub_status/v1/refresh', { as: {} })).status, 200);
  await hub.kill('api');
  const kept = await stored(hub, (doc) => layoutOf(doc).children.map((c) => c.type));
  assert.ok(kept.includes('dial'), kept.join());
});

test.run();
