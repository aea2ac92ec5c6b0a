// Setup opened again by order: the access point falls and comes back, and a phone comes over BLE.
import * as assert from 'uvu/assert';
import { home, journal, reach, secrets, strays } from '../../../vm/hub.ts';
import { lendRadio } from '../../../vm/radio.ts';
import { bleCentral, type Check, openHome, openSetup, returnRadio, wifiReaches } from '../hub.ts';

export function channels(check: Check): void {
  check('setup starts again by order, and bluetoothd has given way to BLE', async ({ vm }) => {
    const s = await openSetup(vm, 'ble', 'softap');
    assert.is(s.state, 'CHANNELS');
    // bluetoothd would answer in its place.
    assert.is((await vm.run('systemctl is-active bluetooth')).stdout.trim(), 'inactive');
  });

  check('hostapd killed: the access point comes back with the same key', async ({ vm }) => {
    const key = () => vm.must('grep -h ^wpa_passphrase /run/ingle/wifi/hostapd.conf');
    const before = await key();
    await vm.must('kill -9 $(pgrep -f "^hostapd /run/ingle")');
    await vm.until('journalctl -b -u ingle-wifi -o cat | grep -q "softap on -> fallen"');
    await wifiReaches(vm, 'on again', (s) => s.softap === 'on');
    assert.is(await key(), before);
  });

  check('ingle-wifi killed: nothing stays of the access point, and setup opens it again', async ({ vm }) => {
    const { psk } = await secrets(vm);
    const pid = await vm.must('pgrep -f "^hostapd /run/ingle"');
    await vm.must('systemctl kill -s KILL ingle-wifi');
    await wifiReaches(vm, 'on again', (s) => s.softap === 'on');
    assert.is.not(await vm.must('pgrep -f "^hostapd /run/ingle"'), pid);
    assert.is((await secrets(vm)).psk, psk);
    assert.is(
      await vm.must(
        'pgrep -c -f "^hostapd /run/ingle"; nft list tables | grep -c softap; iw dev | grep -c "type AP"',
      ),
      '1\n1\n1',
    );
  });

  check(
    'pulled out while serving, the radio leaves BLE and no trace; back, it serves again',
    async ({ vm }) => {
      const { psk } = await secrets(vm);
      await lendRadio(vm, 'wlan0', 'drawer');
      const s = await reach(vm, 'no access point', (x) => !x.channels.includes('softap'));
      assert.equal([s.state, s.channels], ['CHANNELS', ['ble']]);
      assert.is(await vm.must(strays), '');
      assert.match(await journal(vm), /radios changed/);
      await returnRadio(vm, 'wlan0', 'drawer');
      await reach(vm, 'the access point', (x) => x.channels.includes('softap'));
      assert.is((await secrets(vm)).psk, psk);
    },
  );

  check('a wrong PIN over BLE is refused and counted', async ({ vm }) => {
    const { pin } = await secrets(vm);
    const h = await bleCentral(vm, 'setup', { pin: pin === '000000' ? '000001' : '000000', ...home });
    assert.is(h.get('refused')?.['error'], 'pairing_failed');
    assert.not(h.has('softap'));
    assert.match(await journal(vm), /a wrong PIN channel=ble left=4/);
  });

  check(
    'over BLE: who the hub is, the PIN proven, sealed credentials, a WPA3 network joined, the pairing link',
    async ({ vm }) => {
      await openHome(vm, { security: 'wpa3' });
      const s = await secrets(vm);
      const h = await bleCentral(vm, 'setup', { pin: s.pin, ...home });
      assert.is(h.get('connected')?.['characteristics'], 7);
      assert.is(h.get('device')?.['status'], 'CHANNELS');
      assert.equal(h.get('audio')?.['sinks'], []);
      assert.is(h.get('window')?.['window'], s.window);
      assert.equal([h.get('softap')?.['ssid'], h.get('softap')?.['psk']], [s.ssid, s.psk]);
      assert.is(h.get('unsealed_refused')?.['error'], 'invalid_request');
      assert.is(h.get('outcome')?.['ssid'], home.ssid, JSON.stringify([...h.values()]));
      assert.match(String(h.get('pairing')?.['link']), /#v1\./);
      await reach(vm, 'ready', (x) => x.state.startsWith('READY'));
    },
  );
}
