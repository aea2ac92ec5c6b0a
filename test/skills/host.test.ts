// A skill in its host: what it does while it is attached comes with the answer, and not a second time.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import * as Y from 'yjs';
import { readContent } from '../../firmware/documents/content.ts';
import { startHost } from '../../firmware/skills/host.ts';
import { nothingKept } from '../../firmware/skills/kept.ts';
import { checkManifest } from '../../firmware/skills/manifest.ts';
import type { HubContext, HubSkill } from '../../firmware/skills/skill.ts';
import { openVault } from '../../firmware/skills/storage.ts';
import { logger } from '../../firmware/system/log.ts';

const test = suite('a skill in its host');
const owner_id = 'owner1';
const manifest = checkManifest({ id: 'lamp', version: '1.0.0', capabilities: {} });

function hosted(skill: (ctx: HubContext) => ReturnType<HubSkill['start']>) {
  const sent: string[] = [];
  const host = startHost(
    manifest,
    { start: skill },
    {
      vault: openVault(nothingKept('1.0.0'), async () => {}),
      context: {
        ...{ language: 'en', log: logger('test'), publish() {}, names: async () => [] },
        client: () => undefined as never,
        fetch: () => Promise.reject(new Error('There is no network here.')),
      },
      update: (_owner, doc) => void sent.push(doc),
    },
  );
  const caller = undefined as never;
  return {
    sent,
    stop: host.stop,
    watch: (viewers: number) => host.implementation.Watch({ owner_id, viewers }, caller),
    /** What Attach answers: the state, and the documents it holds. */
    async attach(viewers: number, state = new Y.Doc()) {
      const documents = [{ doc: 'state:main', update: Y.encodeStateAsUpdate(state) }];
      const answer = await host.implementation.Attach({ owner_id, viewers, documents }, caller);
      for (const { doc, update } of answer.documents) if (doc === 'state:main') Y.applyUpdate(state, update);
      return { state: readContent(state), held: answer.documents.map((d) => d.doc) };
    },
  };
}

test('what it shows who looks is in the answer to Attach, and no update of its own', async () => {
  const h = hosted((ctx) => ({
    endpoints: [],
    attached: (owner) => ctx.setState(owner, { known: true }),
    watched: (owner, viewers) => ctx.setState(owner, { viewers }),
  }));
  const answer = await h.attach(2);
  assert.equal(answer.state, { known: true, viewers: 2 });
  assert.equal(answer.held, ['state:main'], 'a document that lacks nothing is not in it');
  assert.equal(h.sent, []);
  await h.watch(1);
  assert.equal(h.sent, ['state:main'], 'what it does later is told');
  h.stop();
});

test('one that fails when somebody looks is attached all the same', async () => {
  let looks = 0;
  const h = hosted((ctx) => ({
    endpoints: [],
    attached: (owner) => ctx.setState(owner, { known: true }),
    watched() {
      looks++;
      throw new Error('It fails.');
    },
  }));
  assert.equal((await h.attach(1)).state, { known: true });
  await h.watch(2);
  assert.is(looks, 2);
  h.stop();
});

test('one that fails when it is attached tells of its updates again from the next attachment on', async () => {
  const h = hosted((ctx) => ({
    endpoints: [],
    watched: (owner, viewers) => ctx.setState(owner, { viewers }),
    attached() {
      throw new Error('It fails.');
    },
  }));
  await h.attach(1).then(
    () => assert.unreachable(),
    () => {},
  );
  assert.equal((await h.attach(1)).state, { viewers: 1 });
  await h.watch(3);
  assert.equal(h.sent, ['state:main']);
  h.stop();
});

test.run();
