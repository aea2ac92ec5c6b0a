// A second radio: the access point stays while a network is joined through another channel.
import * as assert from 'uvu/assert';
import { bleCentral } from '../../lab/vm/ble.ts';
import { call, home, journal, json, ladderLog, reach, type SetupStatus, status } from '../../lab/vm/hub.ts';
import type { Vm } from '../../lab/vm/lab.ts';
import { phoneLeaves, router, stopRouter } from '../../lab/vm/radio.ts';
import type { Check } from '../../lab/vm/suite.ts';
import {
  oneIsIn,
  openHome,
  openSetup,
  phoneIn,
  returnRadio,
  wifiReaches,
  wifiStatus,
} from '../../lab/vm/wifi.ts';

export function two(check: Check): void {
  const hostapd = (vm: Vm) => vm.must('pgrep -f "^hostapd /run/ingle"');

  check(
    'setup starts again by order; of two radios the second one serves, and a phone is in it',
    async ({ vm }) => {
      await returnRadio(vm, 'wlan1', 'second');
      await wifiReaches(vm, 'two radios', (s) => s.radios === 2);
      const s = await openSetup(vm, 'ble', 'softap');
      assert.is(s.state, 'CHANNELS');
      // bluetoothd, which a ready hub may have, has given way: it would answer in its place.
      assert.is((await vm.run('systemctl is-active bluetooth')).stdout.trim(), 'inactive');
      assert.is((await wifiStatus(vm)).detail.softap?.interface, 'wlan1');
      await phoneIn(vm);
    },
  );

  /** The phone asks for the home network and stays where it is; what it reads there in the end. */
  async function joinsInVain(vm: Vm): Promise<string> {
    const before = await hostapd(vm);
    assert.equal(await json(vm, '/api/wifi/connect', home), { ok: true, interrupts: false });
    await reach(vm, 'the reason', (s) => s.state === 'CHANNELS' && s.error === 'wifi');
    await oneIsIn(vm);
    assert.is(await hostapd(vm), before, 'the access point never went');
    return (await json<SetupStatus>(vm, '/api/status')).reason;
  }

  check('a network that vanished is told to the phone, which stays', async ({ vm }) => {
    await stopRouter(vm, 'home');
    assert.is(await joinsInVain(vm), 'not_found');
  });

  check('a network without addresses is told as such', async ({ vm }) => {
    await openHome(vm, { dhcp: false });
    assert.is(await joinsInVain(vm), 'no_address');
  });

  check(
    'an Improv application brings it into an open network once somebody at the hub has approved; the phone stays in',
    async ({ vm }) => {
      await router(vm, 'home', 'wlan3', { ssid: 'Open' });
      const before = await hostapd(vm);
      const tries = async () => (await ladderLog(vm)).split('CHANNELS -> CONNECTING').length;
      const tried = await tries();
      // It says what it was refused, and waits for the state in which it is let in.
      const central = bleCentral(vm, 'improv', { ssid: 'Open', psk: '' });
      await vm.until('grep -q not_authorized_refused /run/central.out');
      await reach(vm, 'still open', (s) => s.state === 'CHANNELS');
      assert.is(await tries(), tried);
      await call(vm, 'Ble1', 'Approve');
      const h = await central;
      assert.equal([h.get('state')?.['state'], h.get('approved')?.['state']], [1, 2]);
      assert.ok(h.has('bad_checksum_refused') && h.has('unknown_command_refused'));
      const outcome = JSON.stringify(h.get('outcome'));
      assert.match(outcome, /"states":\[2,3,4/);
      assert.match(outcome, /#v1\./);
      await reach(vm, 'ready', (x) => x.state.startsWith('READY'));
      // The access point never went: the phone reads there how to go on.
      assert.is(await hostapd(vm), before);
      const s = await oneIsIn(vm);
      assert.equal([s.softap, s.station], ['on', 'connected'], await journal(vm));
      assert.match((await json<{ link: string }>(vm, '/api/pairing')).link, /#v1\./);
      await phoneLeaves(vm, 'phone');
    },
  );

  check('BLE that brought it in closes by its timer, and setup knows', async ({ vm }) => {
    assert.ok((await status(vm)).channels.includes('ble'));
    await call(vm, 'Ble1', 'Start', 'ub', 2, false);
    await reach(vm, 'no BLE', (s) => !s.channels.includes('ble'));
    await vm.until('! busctl list --acquired --no-legend | grep -q "^io.ingle.Ble1 "');
    assert.match(await journal(vm), /closed reason=idle/);
  });

  check(
    'an access point by order has a fresh key each time, and the rules of its country',
    async ({ vm }) => {
      await call(vm, 'Wifi1', 'Country', 's', 'DE');
      await vm.until('iw reg get | grep -q "country DE"');
      const order = ['Wifi1', 'SoftapStart', 'sssu', 'Ingle-lab', '', '', 600] as const;
      const [first, address, radio, security] = await call(vm, ...order);
      assert.equal([address, radio, security], ['10.42.0.1', 'wlan1', 'wpa2+wpa3']);
      assert.match(String(first), /^[346789abcdefghjkmnpqrtwxy]{12}$/);
      assert.is(await vm.must('grep -c ^country_code=DE /run/ingle/wifi/hostapd.conf'), '1');
      await call(vm, 'Wifi1', 'Country', 's', '00');
      assert.is.not((await call(vm, ...order))[0], first);
      await call(vm, 'Wifi1', 'SoftapStop');
    },
  );
}
