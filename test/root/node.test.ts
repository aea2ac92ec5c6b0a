// gate: out, it waits for seconds
// timeout: 120 s, urgent
// How a node of a cluster stays one, by what Redis answers and when.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { keepGoing, newNode } from '../../root/cluster/node.ts';
import type { Member, Registry } from '../../root/cluster/registry.ts';
import { until } from '../lab/wait.ts';

const test = suite('node');
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A node whose renewals are answered after `late` milliseconds, as long as `answers`. */
function going() {
  const state = {
    late: 0,
    answers: true,
    lapsed: false,
    began: 0,
    asked: 0,
    underway: 0,
    most: 0,
    lost: [] as string[],
    name: '',
  };
  const node = newNode('here:1', 'here');
  const registry = {
    async renew(me: Member, _: number, hubs: string[]) {
      state.asked++;
      state.name = me.name;
      state.most = Math.max(state.most, ++state.underway);
      await pause(state.late);
      state.underway--;
      if (!state.answers) throw new Error('Redis does not answer');
      const { lapsed } = state;
      return {
        nodes: [me, { id: 'other', peer: 'there:1', name: 'there' }],
        lost: hubs.slice(1),
        run: 'run',
        lapsed,
      };
    },
    isRefused: async () => false,
  } as unknown as Registry;
  const { close, nodes, isOut } = keepGoing({
    ...{ node, registry, hubs: () => ['kept', 'taken'], others() {} },
    lost: (hubs) => void state.lost.push(...hubs),
    goneAt: () => Number.NEGATIVE_INFINITY,
    anew: () => void state.began++,
  });
  return { node, state, close, nodes, isOut };
}

test('nobody is sent to a node that may not take hubs yet, or that ends', async () => {
  const { node, state, close, nodes } = going();
  const names = () => nodes().map((n) => n.name);
  await until(() => node.tenure.holds() && state.asked > 1, 'it to have begun');
  assert.equal([state.name, names()], ['', ['', 'there']]);
  await until(() => state.name === 'here', 'its name to be told');
  assert.ok(node.tenure.mayTake());
  assert.equal(names(), ['here', 'there']);
  node.isLeaving = true;
  await until(() => state.name === '', 'its name to be taken back');
  assert.equal(names(), ['', 'there']);
  close();
});

test('answers that come late keep it going, and it takes no hubs until they come in time', async () => {
  const { node, state, close } = going();
  await pause(100);
  assert.ok(node.tenure.holds());
  // Later than a question may be missed (700), and 550 ms before a grant's end.
  state.late = 750;
  const { id } = node.me;
  const before = state.asked;
  await until(() => state.asked >= before + 3, 'three late answers');
  assert.ok(node.tenure.holds());
  assert.not(node.tenure.mayTake());
  assert.equal([node.me.id, state.began], [id, 0]);
  assert.is(state.most, 1, 'one question at a time');
  close();
});

test('a grant that was over unnoticed, as its clock stood still, has it ask which hubs others have taken', async () => {
  const { state, close } = going();
  await until(() => state.lost.length === 1, 'what it says as it begins');
  const before = state.asked;
  await until(() => state.asked > before + 1, 'a renewal');
  assert.equal(state.lost, ['taken'], 'asked once');
  state.lapsed = true;
  await until(() => state.lost.length > 1, 'the hubs that were taken meanwhile');
  close();
});

test('where no answer comes its time ends, and it begins anew as another one', async () => {
  const { node, state, close, nodes } = going();
  await pause(100);
  const { id } = node.me;
  assert.is(nodes().length, 2);
  state.answers = false;
  await until(() => node.isGone, 'it to miss Redis');
  assert.ok(node.tenure.holds(), 'it goes on');
  assert.equal(nodes(), [], 'and sends nobody elsewhere');
  await until(() => state.began === 1, 'it to begin anew');
  assert.is.not(node.me.id, id);
  assert.not(node.tenure.holds());
  state.answers = true;
  await until(() => node.tenure.holds(), 'it to hold again');
  assert.ok(node.isGone === false);
  close();
});

test('a node is out once its time is over without Redis, and not before it has begun or while it goes on', async () => {
  const { node, state, close, isOut } = going();
  state.answers = false;
  await until(() => state.asked > 1, 'it to have asked');
  assert.not(isOut(), 'it has not begun');
  state.answers = true;
  await until(() => node.tenure.holds(), 'it to have begun');
  assert.not(isOut());
  state.answers = false;
  await until(() => node.isGone, 'it to notice');
  // Its time goes on for a while, unless this machine is so busy that it is over already.
  assert.is(isOut(), !node.tenure.holds());
  await until(() => state.began === 1, 'its time to be over');
  assert.ok(isOut());
  state.answers = true;
  await until(() => !isOut(), 'it to begin anew');
  close();
});

test.run();
