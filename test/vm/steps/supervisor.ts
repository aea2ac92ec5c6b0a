// The owner's orders to services on a real systemd: who may give them, what they do, and that user 0 without a
// capability is enough to carry them out.
import * as assert from 'uvu/assert';
import type { Check } from '../../lab/vm/suite.ts';

const to = 'io.ingle.Supervisor1 /io/ingle/Supervisor1 io.ingle.Supervisor1';
const call = (method: string, path: string) => `ingle api call ${method} ${path} --json`;

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

  check('a service is stopped, started and restarted by the owner, through the local API', async ({ vm }) => {
    await vm.must('systemctl start ingle-audio');
    await vm.must(call('POST', '/api/services/ingle-audio/stop'));
    assert.is((await vm.run('systemctl is-active ingle-audio')).stdout.trim(), 'inactive');
    await vm.must(call('POST', '/api/services/ingle-audio/start'));
    const pid = await vm.must('systemctl show -P MainPID ingle-audio');
    const said = await vm.must(call('POST', '/api/services/ingle-audio/restart'));
    assert.match(said, '"running"');
    assert.is.not(await vm.must('systemctl show -P MainPID ingle-audio'), pid);
  });

  check('a frozen service is stopped all the same', async ({ vm }) => {
    await vm.must('systemctl kill -s STOP ingle-audio');
    await vm.must(call('POST', '/api/services/ingle-audio/stop'));
    assert.is.not((await vm.run('systemctl is-active ingle-audio')).code, 0);
  });

  check('what the owner reaches the hub by is not stopped, and the API restarts itself', async ({ vm }) => {
    for (const path of ['ingle-uplink/stop', 'ingle-api/stop', 'ingle-reset/start'])
      assert.is((await vm.run(call('POST', `/api/services/${path}`))).code, 73, path);
    for (const path of ['dbus/stop', 'ssh.service/stop', 'ingle-supervisor/stop']) {
      const said = await vm.run(call('POST', `/api/services/${path}`));
      assert.ok([64, 66].includes(said.code), `${path}: exit ${said.code} ${said.stdout} ${said.stderr}`);
    }
    const pid = await vm.must('systemctl show -P MainPID ingle-api');
    assert.match(await vm.must(call('POST', '/api/services/ingle-api/restart')), '"changing"');
    await vm.until('systemctl show -P MainPID ingle-api', {
      test: (now) => now.trim() !== pid && now.trim() !== '0',
    });
    await vm.until(call('GET', '/api/admin/lifecycle'));
  });

  check('logs, memory and the last crash come from systemd and its journal', async ({ vm }) => {
    assert.match(await vm.must(call('GET', '/api/services/ingle-api/logs')), 'listening');
    await vm.must('systemctl kill -s KILL ingle-uplink');
    await vm.until(call('GET', '/api/node/reliability'), {
      test: (said) => /"last_crash":\s*\{\s*"unit":\s*"ingle-uplink"/.test(said),
    });
    const one = JSON.parse(await vm.must(call('GET', '/api/services/ingle-uplink')));
    assert.ok(one.supervised.memory_bytes > 1e6, JSON.stringify(one));
    assert.ok(one.supervised.restarts >= 1, JSON.stringify(one));
  });
}
