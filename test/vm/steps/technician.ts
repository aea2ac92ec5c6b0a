// What a technician gets of a labelled device: its name, its label, and the console's menu on the serial line.
import * as assert from 'uvu/assert';
import type { Label } from '../../../image/label.ts';
import { secrets } from '../../lab/vm/hub.ts';
import type { Check } from '../../lab/vm/suite.ts';
import { chooses, menu, sees, types } from '../../lab/vm/terminal.ts';

/** @param label of the device, whose serial number is GX-00A7F3 */
export function technician(check: Check, label: Label): void {
  const { serial, psk, pin } = label.factory;

  check('the device has the name and the serial number of its factory part', async ({ vm }) => {
    await vm.until('systemctl is-active ingle-identity');
    assert.is(await vm.must('hostname'), 'ingle-a7f3');
    assert.match(await vm.must('cat /run/ingle/identity/device.json'), new RegExp(`"serial": "${serial}"`));
    assert.is((await vm.run('findmnt /run/ingle/identity/factory')).code, 1, 'nothing stays mounted');
  });

  check("setup opens with the label's secrets, which setup alone may read", async ({ vm }) => {
    const s = await secrets(vm);
    assert.equal([s.ssid, s.psk, s.pin], [label.ssid, psk, pin]);
    assert.is(await vm.must('stat -c %U:%G:%a /run/ingle/identity/label.json'), 'root:ingle-setup:640');
    for (const user of ['ingle-serial', 'ingle-api', 'nobody'])
      assert.is.not(
        (await vm.run(`setpriv --reuid=${user} --clear-groups cat /run/ingle/identity/label.json`)).code,
        0,
      );
  });

  check('the screen has the console that the serial line has', async ({ vm }) => {
    await vm.until('systemctl is-active ingle-serial@ttyS0 ingle-serial@tty1');
    // What the kernel holds of the screen's text (vcs(4)).
    await vm.until('cat /dev/vcs1', { test: (screen) => screen.includes('Enter: ') });
    await sees(vm, 'Enter: ');
  });

  check('the doctor looks everywhere from the console, and names what this hub lacks', async ({ vm }) => {
    await types(vm, '\r', menu);
    const text = (await chooses(vm, 'Check everything', menu)).replaceAll('\r', '');
    assert.match(text, /^ ok {2}Services +\d+ units, none failed$/m, text);
    assert.match(text, /^ ok {2}Bus names/m, text);
    assert.match(text, /^ ok {2}Local API/m, text);
    assert.match(text, /^!!! {2}Root +http:\/\/10\.0\.2\.2:\d+ does not answer/m, text);
    assert.match(text, /^ ok {2}Databases +\d+ files are whole$/m, text);
    assert.match(text, /Slots +a runs/, text);
    assert.match(
      text,
      new RegExp(`^ ok {2}Wi-Fi +2 radios; the access point ${label.ssid} is open$`, 'm'),
      text,
    );
    assert.match(text, new RegExp(`^ ok {2}Label +serial number ${serial}$`, 'm'), text);
  });

  check('the self-test passes with a code of this device', async ({ vm }) => {
    const text = await chooses(vm, 'Self-test of the factory line', menu);
    assert.match(text, /^Storage +ok\r$/m, text);
    assert.match(text, /^Label +ok\r$/m, text);
    assert.match(text, /^Result: PASS-[0-9A-HJKMNP-TV-Z]{4}\r$/m, text);
  });

  check(
    'the journal leaves without the secrets of the label, also where a log has said them',
    async ({ vm }) => {
      assert.match(await chooses(vm, 'Journal to a USB stick', menu), /There is no USB stick/);
      await vm.must(
        `logger -t somebody 'network ${psk} and number ${pin} were said'; mkdir -p /run/out; journalctl --sync`,
      );
      await vm.must('ingle journal export /run/out', { timeoutMs: 200_000 });
      const text = await vm.must('cat /run/out/*/journal.txt');
      assert.match(text, /network \[removed\] and number \[removed\] were said/);
      assert.not.ok((await vm.must('cat /run/out/*/*')).includes(psk));
    },
  );

  check('health is good on a hub that never reached its root', async ({ vm }) => {
    const said = await vm.must('ingle health --wait 120', { timeoutMs: 200_000 });
    assert.match(said, /This version is well/);
  });
}
