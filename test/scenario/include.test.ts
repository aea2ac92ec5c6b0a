// Steps of other files come where they are wanted, and no circle or bomb of them is followed.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withIncludes } from '../../firmware/scenario/include.ts';
import type { Prototype, Step } from '../../firmware/scenario/schema.ts';
import { walk } from '../../firmware/scenario/walk.ts';
import { busyFor } from '../lab/busy.ts';

const test = suite('included steps');
const say = (id: string): Step => ({ id, do: 'say', text: id });
const made = (steps: Step[], files: Record<string, unknown> = {}, include?: string[], most?: number) => {
  const p: Prototype = {
    id: 'x',
    version: '1.0.0',
    dslVersion: '1',
    name: 'x',
    steps,
    ...(include ? { include } : {}),
  };
  const { prototype, faults } = withIncludes(p, 'scenario.yaml', new Map(Object.entries(files)), most);
  return {
    prototype,
    ids: walk(prototype.steps).map(({ step }) => step.id),
    faults: faults.map((f) => `${f.file}${f.pointer} ${f.code}`),
  };
};

test('a fragment stands in the place of its include, those of the scenario before all', () => {
  const files = { 'parts.yaml': { hello: [say('h1'), say('h2')], bye: [say('b')] } };
  const { ids, faults, prototype } = made(
    [say('a'), { include: 'parts.yaml#hello' }, { id: 'l', do: [{ include: 'parts.yaml#bye' }] }],
    files,
    ['parts.yaml#hello'],
  );
  assert.equal(faults, []);
  assert.equal(ids, ['h1', 'h2', 'a', 'h1', 'h2', 'l', 'b']);
  assert.is(prototype.include, undefined);
});

test('an include with a condition is a step with the fragment in it', () => {
  const files = { 'parts.yaml': { bye: [say('b')] } };
  const { prototype } = made([{ id: 'end', if: 'vars.x', include: 'parts.yaml#bye' }], files);
  assert.equal(prototype.steps, [{ id: 'end', if: 'vars.x', do: [say('b')] }]);
});

test('a fragment may include others, and no circle is followed', () => {
  const files = {
    'a.yaml': { one: [say('s1'), { include: 'b.yaml#two' }] },
    'b.yaml': { two: [say('s2'), { include: 'a.yaml#one' }], three: [say('s3')] },
  };
  const { ids, faults } = made([{ include: 'a.yaml#one' }, { include: 'b.yaml#three' }], files);
  assert.equal(ids, ['s1', 's2', 's3']);
  assert.equal(faults, ['b.yaml/two/1/include circle']);
  assert.equal(
    made([{ include: 'a.yaml#self' }], { 'a.yaml': { self: [{ include: 'a.yaml#self' }] } }).faults,
    ['a.yaml/self/0/include circle'],
  );
});

test('a file or fragment that is not there is told where it is named', () => {
  const files = {
    'a.yaml': { one: [{ include: 'a.yaml#constructor' }], two: 'text', three: [{ text: 1 }] },
    'n.yaml': null,
  };
  const steps = ['no.yaml#x', 'n.yaml#x', 'a.yaml#one', 'a.yaml#two', 'a.yaml#three'].map((include) => ({
    include,
  }));
  assert.equal(made(steps, files).faults, [
    'scenario.yaml/steps/0/include no_fragment',
    'scenario.yaml/steps/1/include no_fragment',
    'a.yaml/one/0/include no_fragment',
    'a.yaml/two no_steps',
    'a.yaml/three/0/text form',
  ]);
});

test('fragments that grow by powers end at the bound, at once', () => {
  const files = {
    'a.yaml': Object.fromEntries(
      Array.from({ length: 26 }, (_, i) => [
        `f${i}`,
        i === 25 ? [say('x')] : Array.from({ length: 10 }, () => ({ include: `a.yaml#f${i + 1}` })),
      ]),
    ),
  };
  const { ms, gave } = busyFor(() => made([{ include: 'a.yaml#f0' }], files));
  const { faults, ids } = gave;
  assert.ok(ms < 2000, `${ms} ms`);
  assert.ok(ids.length <= 500);
  assert.is(faults.length, 1);
  assert.match(faults[0]!, /too_many_included/);
  assert.equal(made([say('a'), say('b')], {}, undefined, 2).faults, []);
  assert.equal(made([say('a'), say('b')], {}, undefined, 1).faults, [
    'scenario.yaml/steps/1 too_many_included',
  ]);
});

test.run();
