// timeout: 240 s
// What an installed skill may take: what its manifest asks for, under the caps of the hub, told to systemd.
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { toBase64url } from '../../firmware/protocol/bytes.ts';
import { CAPS, type Limits } from '../../firmware/skills/limits.ts';
import type { Manifest } from '../../firmware/skills/manifest.ts';
import { packSkill } from '../../firmware/skills/package.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import type { Log } from '../../firmware/system/log.ts';
import { mayDo } from '../../firmware/text/may-do.ts';
import { openBounds } from '../../services/api/bounds.ts';
import { ended } from '../lab/child.ts';
import { tried, until } from '../lab/wait.ts';
import { file, made, manifest, metaOf, signerOfSeed } from '../skills/archive.ts';
import { type FakeSystemd, fakeJournal, fakeSystemd, supervise } from '../supervisor/systemd.ts';
import { startHub, type TestHub } from './hub.ts';

interface Context {
  hub: TestHub;
  systemd: FakeSystemd;
  journal: ReturnType<typeof fakeJournal>;
  supervisor: ChildProcess;
}
const test = suite<Context>('what skills may take');
const acme = signerOfSeed(1);
const code = 'export const skill = { start: () => ({ endpoints: [] }) };';
const packed = (version: string, limits?: Limits) =>
  packSkill(
    [
      file('manifest.json', JSON.stringify({ ...manifest('lamp', version), ...(limits ? { limits } : {}) })),
      file('skill.js', code),
    ],
    acme,
  ).bytes;

test.before(async (c) => {
  c.hub = await startHub({ startable: ['hub_status'], pool: true });
  c.systemd = await fakeSystemd(c.hub.bus.address, ['ingle-api']);
  c.journal = fakeJournal();
  c.supervisor = await supervise(c);
  const key = toBase64url(acme.key);
  await c.hub.ask('POST', '/api/skills/publishers', { as: {}, body: { key, name: 'Acme' } });
});
test.after(async (c) => {
  c.systemd.stop();
  c.journal.remove();
  await ended(c.supervisor, 'SIGKILL', 'the supervisor');
  await c.hub.stop();
});

const MIB = 2 ** 20;
const says = (memory: number, cpu: number) => `runtime MemoryMax=t ${memory} CPUQuotaPerSecUSec=t ${cpu}`;
async function install({ hub }: Context, version: string, limits?: Limits): Promise<void> {
  const r = await hub.ask('POST', '/api/skills/install', { as: {}, raw: packed(version, limits) });
  assert.is(r.status, 200, JSON.stringify(r.body));
  await until(
    tried(async () => {
      const { skills } = (await hub.ask('GET', '/api/skills', { as: {} })).body;
      const s = skills.find((one: { skill_id: string }) => one.skill_id === 'lamp');
      return s.state === 'active' && s.version === version;
    }),
    `lamp ${version}`,
  );
}
const held = (c: Context, to: string) =>
  until(() => [...c.systemd.held.values()].join() === to, `systemd to hold it to ${to}`);

test('one that is installed is held to its own limits, and to those of each version', async (c) => {
  await install(c, '1.0.0', { memory_mib: 64, cpu_percent: 20 });
  await held(c, says(64 * MIB, 200_000));
  const [unit] = [...c.systemd.held.keys()];
  assert.match(unit!, /^ingle-skill@\d+\.service$/);
  await install(c, '1.1.0', { memory_mib: 96 });
  await held(c, says(96 * MIB, 500_000));
  assert.equal([...c.systemd.held.keys()], [unit], 'nobody else is held');
  await install(c, '1.2.0');
  await held(c, says(128 * MIB, 500_000));
});

test('after a restart of the API, and so of the machine, it is told again', async (c) => {
  await install(c, '1.3.0', { cpu_percent: 5 });
  await held(c, says(128 * MIB, 50_000));
  c.systemd.held.clear();
  await c.hub.kill('api');
  await c.hub.startApi();
  await held(c, says(128 * MIB, 50_000));
});

test('more than a hub gives is refused before it is kept', async (c) => {
  const wrong: [object, string][] = [
    [{ memory_mib: CAPS.memory_mib + 1 }, '/limits/memory_mib'],
    [{ memory_mib: 8 }, '/limits/memory_mib'],
    [{ memory_mib: 64.5 }, '/limits/memory_mib'],
    [{ cpu_percent: CAPS.cpu_percent + 1 }, '/limits/cpu_percent'],
    [{ cpu_percent: 0 }, '/limits/cpu_percent'],
    [{ disk: 1 }, '/limits/disk'],
  ];
  for (const [limits, pointer] of wrong) {
    // As somebody packs who does not ask our tools.
    const files = [
      file('manifest.json', JSON.stringify({ ...manifest('lamp', '9.0.0'), limits })),
      file('skill.js', code),
    ];
    const raw = new Uint8Array(made((e) => e, files, metaOf(files, { version: '9.0.0' })));
    const r = await c.hub.ask('POST', '/api/skills/prepare', { as: {}, raw });
    assert.equal([r.status, r.body.error], [400, 'invalid_request'], pointer);
    assert.ok(r.body.message.includes(pointer), r.body.message);
  }
});

test('who comes to the slot of one that is gone is told as well, also without limits', async () => {
  let told = 0;
  const bus = { client: () => ({ Bound: async () => ++told }) } as unknown as Bus;
  const bounds = openBounds(bus, { debug() {}, warn() {} } as unknown as Log);
  const plain = { slot: 5, manifest: manifest('torch', '1.0.0') as Manifest };
  const limited = {
    slot: 5,
    manifest: { ...manifest('lamp', '1.0.0'), limits: { memory_mib: 64 } } as Manifest,
  };
  for (const [i, skills] of [[limited], [], [plain]].entries()) {
    bounds.tell(skills);
    await until(() => told === i + 1, `word number ${i + 1}`);
  }
});

test("the caps are those of the slots' unit, and its owner reads what a skill takes", () => {
  const unit = readFileSync('systemd/units/ingle-skill@.service', 'utf8');
  assert.match(unit, new RegExp(`^MemoryMax=${CAPS.memory_mib}M$`, 'm'));
  assert.match(unit, new RegExp(`^CPUQuota=${CAPS.cpu_percent}%$`, 'm'));
  const said = mayDo({ limits: { memory_mib: 64, cpu_percent: 20 } }, 'en').slice(-2);
  assert.equal(said, ['It takes at most 64 MiB of memory.', 'It takes at most 20 % of a processor.']);
  assert.is(mayDo({ limits: { cpu_percent: 5 } }, 'ru').at(-1), 'Занимает не больше 5 % процессора.');
  assert.not.match(mayDo({}, 'en').join(), 'at most');
});

test.run();
