// Packages of skills on the flashed image: installed, updated, taken back by themselves and removed, with the power cut
// in the middle of it; and one made to harm the hub, which gets nothing out of its sandbox.
import * as assert from 'uvu/assert';
import { toBase64url } from '../../../firmware/protocol/bytes.ts';
import { hostile } from '../../lab/vm/hostile.ts';
import { PATIENCE, pause, type Vm } from '../../lab/vm/lab.ts';
import { acme, ask, counting, good, limitsOf, listed, packed, settled, slow } from '../../lab/vm/skills.ts';
import { type Check, figure } from '../../lab/vm/suite.ts';

/** Words for the kernel: a new version has a minute to come up, in which an emulated hub starts no three skills. */
export const patientTrials = 'systemd.setenv=INGLE_TRIAL_MS=240000';

const install = async (vm: Vm, id: string, version: string, code = counting(version)) =>
  good(await ask(vm, 'POST', '/api/skills/install', packed(id, version, code)));

/** Asks again until `holds`; as the hub says, "try again in a moment": what is asked may take long to start. */
async function comesTo<T>(what: string, look: () => Promise<T>, holds: (t: T) => boolean): Promise<T> {
  for (const end = Date.now() + PATIENCE; ; ) {
    const said = await look();
    if (holds(said)) return said;
    assert.ok(Date.now() < end, `${what}: ${JSON.stringify(said)}`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
const add = async (vm: Vm, id: string) =>
  good(
    await comesTo(
      `${id} counts`,
      () => ask(vm, 'POST', `/skills/${id}/v1/add`),
      (said) => said.body?.error !== 'unavailable',
    ),
  );

/** A scenario that waits, longer than the power is there. */
const waiting = {
  ...{ id: 'test/cut', version: '1.0.0', dslVersion: '1', name: 'Cut' },
  steps: [
    { id: 'before', call: 'memory.set', args: { key: 'subnet.cut', value: 1 } },
    { id: 'nap', do: 'delay', for: '120s' },
    { id: 'after', call: 'memory.get', args: { key: 'subnet.cut' } },
  ],
};
let run = '';
const runNow = async (vm: Vm) => good(await ask(vm, 'GET', `/api/scenario/status?run_id=${run}`));

/** An installation, two updates of which one is broken, a removal and a scenario, as the power is about to fail. */
export async function skillsUnderWay(vm: Vm): Promise<void> {
  const { run_id } = good(await ask(vm, 'POST', '/api/scenario/run', { id: 'test/cut' }));
  run = run_id;
  await comesTo(
    'the wait',
    () => runNow(vm),
    (r) => r.current_step === 'nap',
  );
  // Each is told once it is stored, and goes on by itself.
  await install(vm, 'lamp', '1.1.0');
  await install(vm, 'torch', '2.0.0', "throw new Error('no');");
  await install(vm, 'bell', '1.0.0');
  good(await ask(vm, 'DELETE', '/api/skills/fan'));
}

export function skills(check: Check): void {
  check(
    'skills of a publisher whom the owner trusts are installed, and keep what they count',
    async ({ vm }) => {
      await vm.until('curl -sf http://127.0.0.1:8777/health/ready', slow);
      good(await ask(vm, 'POST', '/api/skills/publishers', { key: toBase64url(acme.key), name: 'Acme' }));
      for (const id of ['lamp', 'torch', 'fan']) {
        await install(vm, id, '1.0.0');
        await settled(vm, id, '1.0.0');
      }
      for (const id of ['lamp', 'torch']) assert.equal(await add(vm, id), { version: '1.0.0', n: 1 });
    },
  );

  check('each takes of memory and processor what its manifest asks for, at most', async ({ vm }) => {
    const { services } = good(await ask(vm, 'GET', '/api/services'));
    for (const id of ['lamp', 'torch']) {
      const { unit } = services.find((s: { skill_id?: string }) => s.skill_id === id);
      const { memory_mib, cpu_percent } = limitsOf(id);
      const shown = `systemctl show -P MemoryMax -P CPUQuotaPerSecUSec ${unit}.service`;
      const asked = `${memory_mib * 2 ** 20} ${cpu_percent * 10}ms`;
      await vm.until(
        `test "$(${shown} | sort -n | xargs)" = "$(printf '%s\\n' ${asked} | sort -n | xargs)"`,
        slow,
      );
    }
  });

  check('a scenario starts its service, which was not there', async ({ vm }) => {
    assert.is(
      await vm.must('systemctl is-active ingle-scenario; true'),
      'inactive',
      'nothing waits for it yet',
    );
    good(await ask(vm, 'POST', '/api/skills/developer', { on: true }));
    await comesTo(
      'it answers',
      () => ask(vm, 'GET', '/api/scenarios/prototypes'),
      (said) => said.status === 200,
    );
    good(await ask(vm, 'POST', '/api/scenarios/push', { prototype: waiting }));
  });
}

export function skillsAfterCut(check: Check): void {
  check(
    'an installation and an update go on, and a broken one goes back; all keep what is stored',
    async ({ vm }) => {
      await vm.until('curl -sf http://127.0.0.1:8777/health/ready', slow);
      await settled(vm, 'lamp', '1.1.0');
      assert.equal(await add(vm, 'lamp'), { version: '1.1.0', n: 2 });
      const s = await settled(vm, 'torch', '1.0.0');
      assert.equal([s.fault.version, s.fault.reason], ['2.0.0', 'broken']);
      assert.equal(await add(vm, 'torch'), { version: '1.0.0', n: 2 });
      await settled(vm, 'bell', '1.0.0');
      assert.equal(await add(vm, 'bell'), { version: '1.0.0', n: 1 });
    },
  );

  check('a removal goes on, and leaves nothing', async ({ vm }) => {
    await settled(vm, 'fan', null);
    assert.is(
      await vm.must('ls -R /var/lib/ingle/skills | grep fan; true'),
      '',
      'no version of it lies on the disk',
    );
  });

  check('a scenario that waited goes on by itself', async ({ vm }) => {
    // Nobody asks for it: what waits has it started.
    await vm.until(
      'systemctl is-active ingle-scenario || journalctl -b -q -u ingle-scenario | grep -q .',
      slow,
    );
    const { journal } = await comesTo(
      'its end',
      () => runNow(vm),
      (r) => r.state === 'DONE',
    );
    assert.equal(
      journal.flatMap((j: { step_name?: string; kind: string }) => (j.kind === 'done' ? [j.step_name] : [])),
      ['before', 'after'],
    );
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

  check(
    'a hostile skill has a bound of processes and of disk, and the others have theirs',
    async ({ vm }) => {
      /** What it has got, once it has; while it is at it, it may answer nothing. */
      const got = async (what: string) => {
        const path = `/skills/villain/v1/${what}`;
        good(await ask(vm, 'POST', path));
        const told = () => ask(vm, 'POST', `${path}/said`);
        return good(await comesTo(what, told, ({ body }) => body?.said)).said;
      };
      const { ran } = await got('forks');
      assert.ok(ran < 32, `${ran} processes`);
      const free = async () => Number(await vm.must('df --output=avail -k /var | tail -1'));
      const before = await free();
      const said = await got('disk');
      figure('skill_disk_mib', said.mib);
      // EDQUOT, which Node has no name for.
      assert.equal([said.why, said.whyFiles], [-122, -122]);
      assert.ok(said.mib <= 32 && said.mib > 20, `${said.mib} MiB`);
      assert.ok(said.files <= 2000, `${said.files} files`);
      assert.ok(before - (await free()) < 40 * 1024);
    },
  );

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
}
