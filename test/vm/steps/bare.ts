// A hub that has nothing but its board: no radio, no adapter, no sound.
import * as assert from 'uvu/assert';
import { introspection } from '../../../firmware/system/contract.ts';
import { wifi1 } from '../../../firmware/wifi/contract.ts';
import { journal, reach, refusal, strays } from '../../lab/vm/hub.ts';
import type { Vm } from '../../lab/vm/lab.ts';
import { type Check, figure } from '../../lab/vm/suite.ts';

const evemu = 'LD_LIBRARY_PATH=/run/lab/lib /run/lab/bin/evemu';

/** Plugs in a button: an input device of the kernel with one key; its path. */
async function plugButton(vm: Vm, key: number): Promise<string> {
  const mask = Array.from({ length: 96 }, (_, i) => (i === key >> 3 ? 1 << (key & 7) : 0));
  const rows = Array.from(
    { length: 12 },
    (_, r) =>
      `B: 01 ${mask
        .slice(8 * r, 8 * r + 8)
        .map((b) => b.toString(16).padStart(2, '0'))
        .join(' ')}`,
  );
  const lines = ['N: Lab button', 'I: 0019 0001 0001 0100', 'B: 00 03 00 00 00 00 00 00 00', ...rows];
  await vm.put('/run/lab-button', `${lines.join('\n')}\n`);
  await vm.must(
    `modprobe uinput; systemd-run -q --collect --unit=lab-button bash -c '${evemu}-device /run/lab-button < <(sleep infinity)'`,
  );
  return vm.until(
    "grep -l '^Lab button$' /sys/class/input/event*/device/name | sed 's,/sys/class/input/,/dev/input/,; s,/device/name,,'",
    {
      test: (s) => s.includes('/dev/input/event'),
    },
  );
}

export function bare(check: Check): void {
  check(
    'without radio, adapter and sound it waits at its console, and nothing has failed',
    async ({ vm }) => {
      figure('boot_to_first_command_s', vm.bootSeconds.toFixed(1));
      await reach(vm, 'the console', (s) => s.state === 'CONSOLE');
      await vm.until('systemctl is-system-running --wait || true');
      assert.is(await vm.must('systemctl --failed --plain --no-legend'), '', await journal(vm));
      assert.is(await vm.must(strays), '');
      assert.match(await vm.must('findmnt -no FSTYPE,OPTIONS /'), /^erofs\s+ro/);
    },
  );

  check('a button held for some seconds starts setup again; a touch does not', async ({ vm }) => {
    const button = await plugButton(vm, 0x198);
    // As the service's listener, not its name, is what must be there before somebody presses.
    await vm.until(`pgrep -u ingle-setup -f 'cat ${button}'`);
    const press = (s: number) =>
      vm.must(
        `for v in 1 0; do ${evemu}-event --sync ${button} --type EV_KEY --code 408 --value $v; [ $v = 1 ] && sleep ${s}; done; true`,
      );
    const starts = () => vm.must('journalctl -b -u ingle-setup -o cat | grep -c "event=restart"; true');
    await press(0.2);
    assert.is(await starts(), '0');
    await press(4);
    await vm.until('journalctl -b -u ingle-setup -o cat | grep -q "CONSOLE -> AUDIO event=restart"');
    assert.is(await starts(), '1');
    assert.match(await journal(vm), /the button was pressed press=restart/);
    await vm.must('systemctl stop lab-button');
    await reach(vm, 'the console again', (s) => s.state === 'CONSOLE');
  });

  check('Wi-Fi runs as its contract says', async ({ vm }) => {
    const xml = await vm.must(
      'busctl --json=short call io.ingle.Wifi1 /io/ingle/Wifi1 org.freedesktop.DBus.Introspectable Introspect',
    );
    assert.ok((JSON.parse(xml) as { data: string[] }).data[0]!.includes(introspection(wifi1)));
  });

  check('orders that cannot be, or must not be, are refused with what is wrong', async ({ vm }) => {
    for (const [order, why] of [
      ['Wifi1 SoftapStart sssu Ingle "" "" 60', /no Wi-Fi radio/],
      ['Wifi1 Connect ssbs Home "correct horse" false ""', /no Wi-Fi radio/],
      ['Wifi1 Connect ssbs "" "correct horse" false ""', /1 to 32 bytes/],
      ['Wifi1 Connect ssbs Home short false ""', /8 to 63/],
      ['Wifi1 SoftapStart sssu x "" 8.8.8.8/24 1', /private address/],
      ['Wifi1 Country s de', /two capital letters/],
    ] as const)
      assert.match(await refusal(vm, order), why, order);
    for (const order of ['Wifi1 Status', 'Setup1 Secrets', 'Setup1 Status', 'Audio1 Enumerate'])
      assert.match(await refusal(vm, order, 'nobody'), /denied|not allowed|rejected/i, order);
    // The pages need no secret, so they get none.
    assert.match(
      await refusal(vm, 'Setup1 Secrets', 'ingle-wizard --regid=ingle-wizard'),
      /denied|not allowed|rejected/i,
    );
  });

  check('the units of the radios may do little', async ({ vm }) => {
    for (const unit of ['ingle-wifi', 'ingle-ble']) {
      const text = await vm.must(`systemd-analyze security ${unit}.service --no-pager | tail -1`);
      const exposure = Number(/: ([\d.]+)/.exec(text)?.[1]);
      figure(`${unit.replace('-', '_')}_exposure`, exposure);
      assert.ok(exposure <= 2, text);
    }
  });
}
