// The serial wizard on a pseudo-terminal, typed at by a person.
import * as assert from 'uvu/assert';
import { home, reach, secrets } from '../../lab/vm/hub.ts';
import type { Vm } from '../../lab/vm/lab.ts';
import type { Check } from '../../lab/vm/suite.ts';
import { openHome, openSetup } from '../../lab/vm/wifi.ts';

/** Bytes the line had shown at some moment. */
const shown = async (vm: Vm) => Number(await vm.must('stat -c %s /run/line'));
/** Waits until the line shows `text` beyond `from`. */
async function sees(vm: Vm, from: number, text: string): Promise<string> {
  await vm.put('/run/wanted', text);
  await vm
    .until(`tail -c +${from + 1} /run/line | grep -a -q -F -f /run/wanted`, { timeoutMs: 200_000 })
    .catch(async (e) => {
      throw new Error(`${(e as Error).message}\n${await vm.must('tail -c 1500 /run/line')}`);
    });
  return vm.must(`tail -c +${from + 1} /run/line`);
}
/** Types on the far end of the line; settles once `text` is shown. */
async function type(vm: Vm, keys: string, text: string): Promise<string> {
  await vm.put('/run/keys', keys);
  const from = await shown(vm);
  await vm.must('cat /run/keys >/run/far');
  return sees(vm, from, text);
}

export function serial(check: Check): void {
  check(
    'the serial wizard joins a hidden network by typing, also after it was killed in the middle',
    async ({ vm }) => {
      await openHome(vm, { hidden: true });
      await openSetup(vm, 'softap');
      await vm.put(
        '/run/lab-line.sh',
        'mkfifo /run/far; exec 3<>/run/far; exec script -q -f -c "stty raw -echo; tty >/run/tty; exec sleep infinity" /run/line <&3\n',
      );
      await vm.must('systemd-run -q --collect --unit=lab-line bash /run/lab-line.sh');
      const tty = (await vm.until('test -s /run/tty && cat /run/tty')).replace('/dev/', '');
      const unit = `ingle-serial@${await vm.must(`systemd-escape ${tty}`)}.service`;
      // As a serial line's group may; a pseudo-terminal's may only write.
      await vm.must(`chmod 660 /dev/${tty}; systemctl start '${unit}'`);
      await sees(vm, 0, 'Enter');
      const { psk } = await secrets(vm);
      assert.ok((await type(vm, '\r', 'What next?')).includes(psk));
      await type(vm, '1\r', 'Which network?');
      const from = await shown(vm);
      await vm.must(`systemctl kill -s KILL '${unit}'`);
      await sees(vm, from, 'Enter');
      await type(vm, '\r', 'What next?');
      const before = await shown(vm);
      await type(vm, '1\r', 'Which network?');
      const list = await sees(vm, before, 'Back');
      const number = /(\d+)\. Another one/.exec(list)?.[1];
      assert.ok(number, list);
      await type(vm, `${number}\r`, 'Network name');
      await type(vm, `${home.ssid}\r`, 'Password of Home');
      const said = await type(vm, `${home.psk}\r`, 'The hub is in Home.');
      assert.not.match(said, /correct horse/, 'a password is not echoed');
      await reach(vm, 'ready', (x) => x.state.startsWith('READY'));
      await vm.must(`systemctl stop '${unit}' lab-line`);
    },
  );
}
