// timeout: 240 s
// Two processes of root are replaced, one after the other, by a version with a further migration: hubs and browsers meet
// between the two versions, and whoever signs in is on record for both.
import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { migrations } from '../../root/records/sql/schema.ts';
import { call, signedIn, until } from './kit.ts';
import { homesOf, type Nodes, type Place, pairAt, startNodes, stopNodes } from './nodes.ts';

const { compile } = await import('../compile.mjs' as string);

const test = suite<Nodes>('rolling upgrade');
const ORIGIN = 'http://localhost:9';
test.before(async (c) => void Object.assign(c, await startNodes(2, { INGLE_ROOT_ORIGIN: ORIGIN })));
test.after(stopNodes);

const migration = `ALTER TABLE hub ADD COLUMN of_next TEXT NOT NULL DEFAULT 'x';
CREATE TABLE next_version (id TEXT PRIMARY KEY) STRICT;`;
const nextVersion = {
  name: 'the next version',
  setup(b: { onLoad(o: object, load: (at: { path: string }) => object): void }) {
    b.onLoad({ filter: /root\/records\/sql\/schema\.ts$/ }, ({ path }) => ({
      loader: 'ts',
      contents: readFileSync(path, 'utf8').replace(/\] as const;\s*$/, () => `\`${migration}\`] as const;`),
    }));
  },
};

const pair = (hubAt: Place, tabAt: Place) => pairAt(hubAt, tabAt, ORIGIN);
type Pair = Awaited<ReturnType<typeof pair>>;

/** A node ends as it is told to, its clients come to the other one, and a newer version of it starts. */
async function replace(node: Place, other: Place, pairs: readonly Pair[], newer: string[]): Promise<void> {
  assert.is(await node.terminate(), 0);
  for (const p of pairs) p.move({ hub: other, tab: other });
  for (const p of pairs) await p.back('a route after a node was replaced');
  await node.again(newer);
  await until(async () => (await call(node, 'GET', '/health/ready')).status === 200, 'the newer version');
}

test('a version with a further migration takes over process by process, and nobody is turned away', async ({
  nodes,
  database,
}) => {
  const [a, b] = nodes as [Place, Place];
  const file = (await compile(['root/main.ts'], { plugins: [nextVersion] })).get('root/main.ts') as string;
  const schema = async () => Number(await database.ask('SELECT version FROM schema_version'));
  const pairs = [await pair(a, b), await pair(b, a)];
  assert.is(await schema(), migrations.length);

  await replace(a, b, pairs, [file]);
  assert.is(await schema(), migrations.length + 1);
  // A hub at either version, and its browser at the other.
  pairs[0]!.move({ tab: a });
  pairs[1]!.move({ hub: a });
  for (const p of pairs) await p.back('a route between two versions');
  for (const p of pairs) await p.passes('between two versions');
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    const seat = (n: Place) => ({ url: n.url, origin: ORIGIN });
    const { tab } = await signedIn(seat(from), seat(to));
    for (const n of nodes)
      assert.is((await call(n, 'GET', '/v1/owner/credentials', undefined, tab.bearer())).status, 200);
    const met = await pair(from, to);
    await met.passes('of those who came between two versions');
    met.close();
  }

  await replace(b, a, pairs, [file]);
  pairs[0]!.move({ hub: b });
  pairs[1]!.move({ tab: b });
  for (const p of pairs) await p.back('a route at the newer version');
  for (const p of pairs) {
    await p.passes('at the newer version');
    p.close();
  }
  for (const n of nodes) assert.not.match(n.log(), / error /);
  assert.ok(homesOf(nodes) >= 4);
});

test.run();
