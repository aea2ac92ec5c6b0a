// A second radio: the access point stays while a network is joined through another channel.
import * as assert from 'uvu/assert';
import { call, home, journal, json, reach, status } from '../../../vm/hub.ts';
import { phoneLeaves } from '../../../vm/radio.ts';
import {
  bleCentral,
  type Check,
  openHome,
  openSetup,
  phoneIn,
  returnRadio,
  wifiReaches,
  wifiStatus,
} from '../hub.ts';

export function two(check: Check): void {
  check('with two radios the second one serves, and a phone is in it', async ({ vm }) => {
    await returnRadio(vm, 'wlan1', 'second');
    await wifiReaches(vm, 'two radios', (s) => s.radios === 2);
    await openSetup(vm, 'ble', 'softap');
    assert.is((await wifiStatus(vm)).detail.softap?.interface, 'wlan1');
    await phoneIn(vm);
  });

  check(
    'an Improv application provisions it once somebody at the hub has approved; the phone stays in',
    async ({ vm }) => {
      await openHome(vm);
      const hostapd = () => vm.must('pgrep -f "^hostapd /run/ingle"');
      const before = await hostapd();
      // It says what it was refused, and waits for the state in which it is let in.
      const central = bleCentral(vm, 'improv', home);
      await vm.until('grep -q not_authorized_refused /run/central.out', { timeoutMs: 240_000 });
      assert.is((await reach(vm, 'still open', (s) => s.state === 'CHANNELS')).error, '');
      await call(vm, 'Ble1', 'Approve');
      const h = await central;
      assert.equal([h.get('state')?.['state'], h.get('approved')?.['state']], [1, 2]);
      assert.ok(h.has('bad_checksum_refused') && h.has('unknown_command_refused'));
      const outcome = JSON.stringify(h.get('outcome'));
      assert.match(outcome, /"states":\[2,3,4/);
      assert.match(outcome, /#v1\./);
      await reach(vm, 'ready', (x) => x.state.startsWith('READY'));
      // The access point never went: the phone reads there how to go on.
      assert.is(await hostapd(), before);
      const s = await wifiStatus(vm);
      assert.equal(
        [s.softap, s.station, s.detail.softap?.clients],
        ['on', 'connected', 1],
        await journal(vm),
      );
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
