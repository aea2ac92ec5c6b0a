import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Action,
  may,
  needOf,
  type Proof,
  rights,
  type Stage,
  stageOf,
  type Way,
} from '../../firmware/setup/access.ts';
import { setup1 } from '../../firmware/setup/contract.ts';
import { bleResult, improvError, improvState } from '../../firmware/setup/improv.ts';
import { improvDevice } from '../../firmware/setup/improv-device.ts';
import { until } from '../lab/wait.ts';
import { fakeHub } from './fake-hub.ts';

const actions = [
  ...(['status', 'look', 'audio', 'join', 'pair', 'secrets', 'speak', 'restart', 'finish'] as const),
  ...(['technician', 'approve', 'reset', 'shell', 'recover', 'hand_over'] as const),
] satisfies Action[];
const stages: Stage[] = ['new', 'ownerless', 'owned'];
const proofs: Proof[] = [
  ...(['psk', 'pin', 'console', 'secret', 'approval', 'unlabelled', 'presence', 'root', 'owner'] as const),
];
const mark: Record<Proof, string> = {
  psk: 'k',
  pin: 'p',
  console: 'c',
  secret: 's',
  approval: 'a',
  unlabelled: 'u',
  presence: 'b',
  root: 'r',
  owner: 'o',
};

/** Each cell as letters: what is enough (`*` nothing is needed, `-` nobody may); one letter for all stages, or three. */
const table: Record<Way, string> = {
  //             status look audio join pair secrets speak restart finish technician approve reset shell recover hand_over
  softap: '       k k k k k - - - k - - - - - -',
  ble: '          * * p p p p - - - - - - - - -',
  improv_ble: '   * * - ua/a/a ua/a/a - * - - - - - - - -',
  serial: '       c c c c c c c c c c c c - -/c/c -/c/c',
  screen: '       c c c c c c c c c c c c - -/c/c -/c/c',
  improv_serial: '* c - c c - - - - - - - - - -',
  bot: '          p p p p p - - p p - - - - - -',
  button: '       - - - - - - - b - - b b - - -',
  cli: '          r r r r r r r r r - r r - -/r/r -/r/r',
  app: '          o - - - - - - o - - - - - - -',
  rescue: '       - - - - - - - - - c - c s - -',
};

test('every cell of the table: each way, at each stage, with each proof', () => {
  assert.equal(Object.keys(rights).sort(), Object.keys(table).sort());
  let cells = 0;
  for (const [way, row] of Object.entries(table) as [Way, string][]) {
    const columns = row.trim().split(/\s+/);
    assert.is(columns.length, actions.length, way);
    for (const [i, action] of actions.entries())
      for (const [j, stage] of stages.entries()) {
        const cell = columns[i]!.includes('/') ? columns[i]!.split('/')[j]! : columns[i]!;
        const where = `${way} ${stage} ${action}`;
        assert.is(may(way, stage, action, []), cell === '*', `${where} without any proof`);
        for (const proof of proofs)
          assert.is(
            may(way, stage, action, [proof]),
            cell === '*' || cell.includes(mark[proof]),
            `${where} with ${proof}`,
          );
        cells++;
      }
  }
  assert.is(cells, 11 * 3 * 15);
});

test('what can be done from afar needs a secret of this hub, or somebody at it', () => {
  for (const way of ['softap', 'ble', 'improv_ble', 'bot'] as const)
    for (const stage of ['ownerless', 'owned'] as const)
      for (const action of ['audio', 'join', 'pair', 'secrets', 'restart', 'finish', 'reset'] as const)
        assert.not.ok(may(way, stage, action, ['unlabelled', 'console']), `${way} ${stage} ${action}`);
});

test('who comes back without a passkey, and whom the hub goes to, is decided at it and nowhere else', () => {
  const all = proofs.filter((p) => p !== 'root');
  for (const action of ['recover', 'hand_over'] as const)
    for (const way of Object.keys(rights) as Way[])
      for (const stage of stages) {
        const atIt = (way === 'serial' || way === 'screen') && stage !== 'new';
        assert.is(may(way, stage, action, all), atIt, `${way} ${stage} ${action}`);
        assert.not.ok(
          may(
            way,
            stage,
            action,
            all.filter((p) => p !== 'console'),
          ),
          `${way} ${stage} ${action} without the console`,
        );
      }
});

test('a hub is new until a network was joined, ownerless until a browser is paired', () => {
  assert.is(stageOf({ done: false, owned: false }), 'new');
  assert.is(stageOf({ done: true, owned: false }), 'ownerless');
  assert.is(stageOf({ done: true, owned: true }), 'owned');
  assert.is(stageOf({ done: true, owned: null }), 'owned');
});

/** What the bus lets each user send, by the policy file. */
function policy(): Map<string, string[]> {
  const text = readFileSync('systemd/dbus/policy/io.ingle.Setup1.conf', 'utf8');
  const users = new Map<string, string[]>();
  for (const [, user, rules] of text.matchAll(/<policy user="([^"]+)">([\s\S]*?)<\/policy>/g))
    users.set(
      user!,
      [...rules!.matchAll(/send_member="(\w+)"/g)].map((m) => m[1]!),
    );
  return users;
}

test("the bus lets each channel's service do what the table lets its ways do, and no more", () => {
  const ways: Record<string, Way[]> = {
    'ingle-wizard': ['softap'],
    'ingle-ble': ['ble', 'improv_ble'],
    'ingle-serial': ['serial', 'screen', 'improv_serial'],
    'ingle-bot': ['bot'],
    'ingle-api': ['app'],
  };
  const members: Record<string, Action> = {
    Status: 'status',
    AudioDevices: 'look',
    WifiScan: 'look',
    AudioTest: 'audio',
    AudioSelect: 'audio',
    WifiConnect: 'join',
    PairingLink: 'pair',
    Secrets: 'secrets',
    Speak: 'speak',
    Restart: 'restart',
    Finish: 'finish',
    Approve: 'approve',
    FactoryReset: 'reset',
    RecoveryLink: 'recover',
    Offered: 'hand_over',
    Adopt: 'hand_over',
  };
  // By what they check the PIN: the chat shows it, BLE proves it.
  const checks: Record<string, string[]> = {
    'ingle-bot': ['Authorise'],
    'ingle-ble': ['TakeTry', 'TryEnded'],
  };
  assert.equal(
    Object.keys(setup1.methods).sort(),
    [...Object.keys(members), 'Authorise', 'TakeTry', 'TryEnded', 'Stage'].sort(),
    'every method is one of the actions',
  );
  const sends = policy();
  for (const [user, of] of Object.entries(ways)) {
    const wanted = Object.entries(members)
      .filter(([, action]) => of.some((way) => stages.some((stage) => needOf(way, stage, action))))
      .map(([member]) => member);
    assert.equal(
      sends.get(user)?.sort(),
      [...wanted, ...(checks[user] ?? []), ...(user === 'ingle-api' ? [] : ['Stage'])].sort(),
      user,
    );
  }
});

/** An unmodified Improv application over BLE: what it is told. */
async function improvOverBle(
  proven: Proof[],
  run: (d: Awaited<ReturnType<typeof fakeHub>>) => Promise<void>,
) {
  const hub = await fakeHub({ online: true });
  await hub.setup.begin();
  await run(hub);
  const said = { states: [] as number[], errors: [] as number[], results: [] as string[] };
  const device = improvDevice({
    setup: hub.bus.client(setup1),
    channel: 'ble',
    device: { name: 'Ingle', model: 'm', version: '1' },
    proven: () => proven,
    state: (s) => said.states.push(s),
    error: (e) => said.errors.push(e),
    result: (command, strings) => said.results.push(Buffer.from(bleResult(command, strings)).toString()),
    onProgress: (f) => {
      const stop = hub.bus.onSignal(setup1, 'Progress', (p) => f(p.step, p.state, p.text, {}));
      return () => void stop.then((x) => x());
    },
  });
  const state = await device.current();
  await device.run({ command: 'wifi', ssid: 'Neighbour', psk: '12345678' });
  const { joined } = hub.world;
  await hub.stop();
  return { state, said, joined };
}

test('Improv over BLE is open on a hub that was never set up, unless its maker printed a PIN on it', async () => {
  const open = await improvOverBle(['unlabelled'], async () => {});
  assert.is(open.state, improvState.authorized);
  assert.equal(open.joined, ['Neighbour/12345678/false']);
  assert.match(open.said.results.join(), /#v1/);
  const labelled = await improvOverBle([], async () => {});
  assert.is(labelled.state, improvState.authorize);
  assert.equal([labelled.said.errors, labelled.joined], [[improvError.not_authorized], []]);
  const approved = await improvOverBle(['approval'], async () => {});
  assert.equal(approved.joined, ['Neighbour/12345678/false']);
});

test('a hub that knows a network lets Improv over BLE in by approval only, paired or not', async () => {
  const given = async (hub: Awaited<ReturnType<typeof fakeHub>>) => {
    await hub.setup.connect('serial', { ssid: 'Home', psk: '12345678', hidden: false });
    await until(() => hub.setup.state.startsWith('READY'), 'READY');
    hub.setup.restart('cli');
    await until(() => hub.setup.state === 'CHANNELS', 'CHANNELS');
  };
  const closed = await improvOverBle(['unlabelled'], given);
  assert.is(closed.state, improvState.authorize);
  assert.equal(closed.said.errors, [improvError.not_authorized]);
  assert.equal([closed.said.results, closed.joined], [[], ['Home/12345678/false']]);
  assert.is((await improvOverBle(['approval'], given)).joined.length, 2);
});

test.run();
