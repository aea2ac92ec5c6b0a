// timeout: 1500 s
// Packages of skills on the flashed image: installed, updated, taken back by themselves and removed, with the power cut
// in each; and one made to harm the hub, which gets nothing out of its sandbox.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { toBase64url } from '../../firmware/protocol/bytes.ts';
import { flash } from '../../image/flash.ts';
import { hostile } from '../lab/vm/hostile.ts';
import { boot, cannotRun, PATIENCE, pause, type Vm } from '../lab/vm/lab.ts';
import { acme, ask, counting, good, listed, packed, settled, slow } from '../lab/vm/skills.ts';
import { checksOf, figure, type Lab } from '../lab/vm/suite.ts';

const why = cannotRun();
if (why) console.log(`SKIP ${why}`);
const test = suite<Lab>('skills on a flashed hub');
const check = checksOf(test, why, { chain: true });

/** Only what skills need: each boot is emulated. */
const lean =
  'systemd.mask=ingle-setup.service systemd.mask=ingle-wifi.service systemd.mask=ingle-serial@ttyS0.service';
const serving = (vm: Vm) => vm.until('curl -sf http://127.0.0.1:8777/health/ready', slow);

test.before(async (c) => {
  if (why) return;
  c.vm = await boot({ flash: await flash(), cable: true, cmdline: lean });
  await serving(c.vm);
  good(await ask(c.vm, 'POST', '/api/skills/publishers', { key: toBase64url(acme.key), name: 'Acme' }));
});
test.after((c) => c.vm?.stop());

const install = async (vm: Vm, id: string, version: string, code = counting(version)) =>
  good(await ask(vm, 'POST', '/api/skills/install', packed(id, version, code)));
/** As the hub says, "try again in a moment": a skill takes long to start in a machine that is emulated. */
async function add(vm: Vm, id: string) {
  for (const end = Date.now() + PATIENCE; ; ) {
    const said = await ask(vm, 'POST', `/skills/${id}/v1/add`);
    if (said.body?.error !== 'unavailable' || Date.now() > end) return good(said);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
/** The power goes once the hub has said that it will do it. What a drive's cache loses is tried in the suite of cuts. */
async function cut(vm: Vm): Promise<void> {
  await vm.kill();
  await vm.start();
  await serving(vm);
}

check('installations go on by themselves after a power cut', async ({ vm }) => {
  await install(vm, 'lamp', '1.0.0');
  await install(vm, 'torch', '1.0.0');
  await cut(vm);
  for (const id of ['lamp', 'torch']) {
    await settled(vm, id, '1.0.0');
    assert.equal(await add(vm, id), { version: '1.0.0', n: 1 });
  }
});

check(
  'after a power cut an update goes on, and a broken one goes back; both keep what is stored',
  async ({ vm }) => {
    await install(vm, 'lamp', '1.1.0');
    await install(vm, 'torch', '2.0.0', "throw new Error('no');");
    await cut(vm);
    await settled(vm, 'lamp', '1.1.0');
    assert.equal(await add(vm, 'lamp'), { version: '1.1.0', n: 2 });
    const s = await settled(vm, 'torch', '1.0.0');
    assert.equal([s.fault.version, s.fault.reason], ['2.0.0', 'broken']);
    assert.equal(await add(vm, 'torch'), { version: '1.0.0', n: 2 });
  },
);

/** A scenario that waits. */
const waiting = {
  ...{ id: 'test/cut', version: '1.0.0', dslVersion: '1', name: 'Cut' },
  steps: [
    { id: 'before', call: 'memory.set', args: { key: 'subnet.cut', value: 1 } },
    { id: 'nap', do: 'delay', for: '20s' },
    { id: 'after', call: 'memory.get', args: { key: 'subnet.cut' } },
  ],
};
const runOf = async (vm: Vm, id: string) => good(await ask(vm, 'GET', `/api/scenario/status?run_id=${id}`));

check('a removal and a scenario go on after a power cut; the removal leaves nothing', async ({ vm }) => {
  assert.is(
    await vm.must('systemctl is-active ingle-scenario; true'),
    'inactive',
    'nothing waits for it yet',
  );
  good(await ask(vm, 'POST', '/api/skills/developer', { on: true }));
  // The first who asks starts it, which takes long in a machine that is emulated.
  for (
    const end = Date.now() + PATIENCE;
    (await ask(vm, 'GET', '/api/scenarios/prototypes')).status !== 200;
  )
    assert.ok(Date.now() < end, 'it answers');
  good(await ask(vm, 'POST', '/api/scenarios/push', { prototype: waiting }));
  const { run_id } = good(await ask(vm, 'POST', '/api/scenario/run', { id: 'test/cut' }));
  for (const end = Date.now() + PATIENCE; (await runOf(vm, run_id)).current_step !== 'nap'; ) {
    assert.ok(Date.now() < end, 'it comes to its wait');
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  good(await ask(vm, 'DELETE', '/api/skills/torch'));
  await cut(vm);
  // Nobody asks for it: what waits has it started.
  await vm.until('systemctl is-active ingle-scenario', slow);
  for (const end = Date.now() + PATIENCE; (await runOf(vm, run_id)).state !== 'DONE'; ) {
    assert.ok(Date.now() < end, 'it comes to its end');
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  const { journal } = await runOf(vm, run_id);
  assert.equal(
    journal.flatMap((j: { step_name?: string; kind: string }) => (j.kind === 'done' ? [j.step_name] : [])),
    ['before', 'after'],
  );
  await settled(vm, 'torch', null);
  assert.is(
    await vm.must('ls -R /var/lib/ingle/skills | grep torch; true'),
    '',
    'no version of it lies on the disk',
  );
  assert.equal(await add(vm, 'lamp'), { version: '1.1.0', n: 3 });
});

check('a hostile skill reaches no file, no service and no network', async ({ vm }) => {
  await install(vm, 'villain', '1.0.0', hostile);
  await settled(vm, 'villain', '1.0.0');
  const got = async (what: string) => good(await ask(vm, 'POST', `/skills/villain/v1/${what}`));
  assert.equal(await got('well'), { well: true });
  assert.equal(await got('files'), {});
  assert.equal(await got('bus'), {});
  assert.equal(await got('net'), {});
});

check('a hostile skill has a bound of processes and of disk, and the others have theirs', async ({ vm }) => {
  const { ran } = good(await ask(vm, 'POST', '/skills/villain/v1/forks'));
  assert.ok(ran < 32, `${ran} processes`);
  const free = async () => Number(await vm.must('df --output=avail -k /var | tail -1'));
  const before = await free();
  const said = good(await ask(vm, 'POST', '/skills/villain/v1/disk'));
  figure('skill_disk_mib', said.mib);
  // EDQUOT, which Node has no name for.
  assert.equal([said.why, said.whyFiles], [-122, -122]);
  assert.ok(said.mib <= 32 && said.mib > 20, `${said.mib} MiB`);
  assert.ok(said.files <= 2000, `${said.files} files`);
  assert.ok(before - (await free()) < 40 * 1024);
});

check('one that loops, leaks, never answers or answers 256 MiB disturbs nobody', async ({ vm }) => {
  const token = 'x-service-token: $(cat /var/lib/ingle/api/token)';
  const order = (what: string) =>
    vm.must(
      `curl -sS -m 5 -o /dev/null -X POST -H "${token}" http://127.0.0.1:8777/skills/villain/v1/${what}; true`,
    );
  for (const what of ['never', 'huge', 'memory', 'loop']) {
    await order(what);
    const began = Date.now();
    good(await ask(vm, 'GET', '/api/status'));
    figure(`status_beside_${what}_ms`, Date.now() - began);
    assert.is(await vm.must('systemctl is-active ingle-api ingle-uplink'), 'active\nactive', what);
  }
  // It was never the hub that fell.
  assert.is(await vm.must('systemctl show -P NRestarts ingle-api'), '0');
  assert.ok(await listed(vm, 'villain'));
});

test.run();
