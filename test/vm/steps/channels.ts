// Two channels at once: the access point falls and comes back, and a phone comes over BLE.
import * as assert from 'uvu/assert';
import { bleCentral } from '../../lab/vm/ble.ts';
import { home, journal, ladderLog, reach, secrets, strays } from '../../lab/vm/hub.ts';
import { lendRadio } from '../../lab/vm/radio.ts';
import type { Check } from '../../lab/vm/suite.ts';
import { openHome, returnRadio, wifiReaches } from '../../lab/vm/wifi.ts';

export function channels(check: Check): void {
  check('an access point and BLE are open together, and bluetoothd has given way', async ({ vm }) => {
    const s = await reach(vm, 'both', (x) => x.channels.length === 2);
    assert.equal([s.state, [...s.channels].sort()], ['CHANNELS', ['ble', 'softap']], await journal(vm));
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
      // hostapd may notice before Wi-Fi has looked at its radios: then it is fallen first, and off at the next look.
      await wifiReaches(vm, 'nothing', (w) => w.radios === 0 && w.softap === 'off' && w.station === 'off');
      await vm.until(`test -z "$(${strays})"`);
      const said = await vm.must('journalctl -b -u ingle-wifi --no-pager -o cat');
      assert.match(said, /radios changed/);
      assert.match(said, /softap on -> (off|fallen)/);
      await returnRadio(vm, 'wlan0', 'drawer');
      await reach(vm, 'the access point', (x) => x.channels.includes('softap'));
      assert.is((await secrets(vm)).psk, psk);
    },
  );

  check(
    'over BLE: who the hub is, a wrong PIN refused and counted, the right one proven, sealed credentials, a WPA3 network joined, the pairing link',
    async ({ vm }) => {
      await openHome(vm, { security: 'wpa3' });
      const s = await secrets(vm);
      const wrong = s.pin === '000000' ? '000001' : '000000';
      const h = await bleCentral(vm, 'setup', { wrong, pin: s.pin, ...home });
      assert.is(h.get('connected')?.['characteristics'], 7);
      assert.is(h.get('device')?.['status'], 'CHANNELS');
      assert.equal(h.get('audio')?.['sinks'], []);
      assert.is(h.get('window')?.['window'], s.window);
      assert.equal([h.get('refused')?.['error'], h.get('refused')?.['told']], ['pairing_failed', false]);
      assert.match(await ladderLog(vm), /a wrong PIN channel=ble left=4/);
      assert.equal([h.get('softap')?.['ssid'], h.get('softap')?.['psk']], [s.ssid, s.psk]);
      assert.is(h.get('unsealed_refused')?.['error'], 'invalid_request');
      assert.is(h.get('outcome')?.['ssid'], home.ssid, JSON.stringify([...h.values()]));
      assert.match(String(h.get('pairing')?.['link']), /#v1\./);
      await reach(vm, 'ready', (x) => x.state.startsWith('READY'));
    },
  );
}
