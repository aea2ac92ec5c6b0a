// The owner's orders to services on a real systemd: who may give them, what they do, and that user 0 without a
// capability is enough to carry them out.
import * as assert from 'uvu/assert';
import { ask, good } from '../../lab/vm/skills.ts';
import type { Check } from '../../lab/vm/suite.ts';
import { until } from '../../lab/wait.ts';

const to = 'io.ingle.Supervisor1 /io/ingle/Supervisor1 io.ingle.Supervisor1';
const orders = '/api/services';

export function supervisor(check: Check): void {
  check('the local API alone reaches the supervisor, which has no capability', async ({ vm }) => {
    const as = (user: string) =>
      `setpriv --reuid=${user} --regid=${user} --clear-groups busctl call ${to} List`;
    await vm.must(as('ingle-api'));
    for (const user of ['ingle-uplink', 'ingle-setup', 'ingle-skill-1', 'nobody'])
      assert.match(
        (await vm.run(as(user).replace('--regid=nobody', '--regid=nogroup'))).stderr,
        /denied/i,
        user,
      );
    const pid = '$(systemctl show -P MainPID ingle-supervisor)';
    assert.is(await vm.must(`grep CapEff /proc/${pid}/status`), 'CapEff:\t0000000000000000');
  });

  check(
    'a service is stopped, also when it is frozen, started and restarted by the owner',
    async ({ vm }) => {
      await vm.must('systemctl start ingle-audio && systemctl kill -s STOP ingle-audio');
      good(await ask(vm, 'POST', `${orders}/ingle-audio/stop`));
      assert.is.not((await vm.run('systemctl is-active ingle-audio')).code, 0);
      good(await ask(vm, 'POST', `${orders}/ingle-audio/start`));
      const pid = await vm.must('systemctl show -P MainPID ingle-audio');
      const said = good(await ask(vm, 'POST', `${orders}/ingle-audio/restart`));
      assert.match(JSON.stringify(said), '"running"');
      assert.is.not(await vm.must('systemctl show -P MainPID ingle-audio'), pid);
    },
  );

  check('what the owner reaches the hub by is not stopped, and the API restarts itself', async ({ vm }) => {
    for (const path of ['ingle-uplink/stop', 'ingle-api/stop', 'ingle-reset/start']) {
      const { body } = await ask(vm, 'POST', `${orders}/${path}`);
      assert.is(body.error, 'conflict', path);
    }
    for (const path of ['dbus/stop', 'ssh.service/stop', 'ingle-supervisor/stop']) {
      const { status, body } = await ask(vm, 'POST', `${orders}/${path}`);
      assert.ok(['invalid_request', 'not_found'].includes(body.error), `${path}: ${status} ${body.error}`);
    }
    const pid = await vm.must('systemctl show -P MainPID ingle-api');
    assert.match(JSON.stringify(good(await ask(vm, 'POST', `${orders}/ingle-api/restart`))), '"changing"');
    await vm.until('systemctl show -P MainPID ingle-api', {
      test: (now) => now.trim() !== pid && now.trim() !== '0',
    });
    await vm.until('curl -sf http://127.0.0.1:8777/health/live');
  });

  check('logs, memory and the last crash come from systemd and its journal', async ({ vm }) => {
    const logs = good(await ask(vm, 'GET', `${orders}/ingle-api/logs`));
    assert.match(JSON.stringify(logs), 'listening');
    const kills = () => vm.must('systemctl kill -s KILL ingle-uplink');
    await kills();
    await until(
      async () => {
        const { last_crash } = good(await ask(vm, 'GET', '/api/node/reliability'));
        // Where the machine is short of time, systemd may have ended another one since, which is the last then.
        if (last_crash && last_crash.unit !== 'ingle-uplink') await kills();
        return last_crash?.unit === 'ingle-uplink';
      },
      'the crash to be told',
      120,
    );
    const one = good(await ask(vm, 'GET', `${orders}/ingle-uplink`));
    assert.ok(one.supervised.memory_bytes > 1e6, JSON.stringify(one));
    assert.ok(one.supervised.restarts >= 1, JSON.stringify(one));
  });
}
