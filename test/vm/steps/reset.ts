// Factory reset: root's own unit erases everything, and the hub begins anew.
import * as assert from 'uvu/assert';
import { call, home, journal, reach, refusal, secrets } from '../../lab/vm/hub.ts';
import type { Check } from '../../lab/vm/suite.ts';
import { wifiStatus } from '../../lab/vm/wifi.ts';

const ownerInJournal = 'journalctl -q -o cat -t root | grep -q "the owner was here"';

export function reset(check: Check): void {
  check('a factory reset erases what every service kept, and the hub begins anew', async ({ vm }) => {
    const before = await secrets(vm);
    await vm.must('for d in /var/lib/ingle/*/; do echo x >"$d/left"; done; logger "the owner was here"');
    await vm.until(ownerInJournal);
    const owner = async () => (await call(vm, 'Uplink1', 'Status'))[2];
    assert.is.not(await owner(), '');
    assert.match(await refusal(vm, 'Setup1 FactoryReset s yes'), /erase/);
    const pid = await vm.must('systemctl show -P MainPID ingle-setup');
    await call(vm, 'Setup1', 'FactoryReset', 's', 'erase');
    await vm.until(`test ! -e /var/lib/ingle/setup/factory-reset && ! systemctl is-active -q ingle-reset`);
    await vm.until(`test "$(systemctl show -P MainPID ingle-setup)" != ${pid}`);
    const s = await reach(vm, 'the channels of a new hub', (x) => x.channels.includes('softap'));
    assert.equal([s.attempts, s.ssid], [1, ''], await journal(vm));
    assert.is.not((await secrets(vm)).psk, before.psk);
    assert.is(await vm.must('find /var/lib/ingle -name left'), '');
    assert.is(await vm.must(`grep -r -l -a "${home.psk}" /var/lib/ingle; true`), '');
    assert.is.not((await vm.run(ownerInJournal)).code, 0);
    assert.is((await wifiStatus(vm)).station, 'off');
    assert.match(await refusal(vm, 'Audio1 LoadProfile'), /No pair/);
    await vm.until('systemctl is-active ingle-uplink && systemctl is-active ingle-api');
    assert.is(await owner(), '');
    assert.is(await vm.must('systemctl --failed --plain --no-legend'), '', await journal(vm));
  });
}
