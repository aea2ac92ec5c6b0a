// With one radio: what goes wrong is told to the phone that comes back, and then the hub is in its network.
import * as assert from 'uvu/assert';
import {
  call,
  cutOffRoot,
  home,
  journal,
  json,
  ladderLog,
  reach,
  rootAnswers,
  type SetupStatus,
  secrets,
  startRoot,
  strays,
} from '../../lab/vm/hub.ts';
import type { Vm } from '../../lab/vm/lab.ts';
import { phoneLeaves, router } from '../../lab/vm/radio.ts';
import { type Check, figure } from '../../lab/vm/suite.ts';
import { openHome, wifiReaches, wifiStatus } from '../../lab/vm/wifi.ts';

const joins = (vm: Vm, psk: string) =>
  json<{ ok: boolean; interrupts: boolean }>(vm, '/api/wifi/connect', { ssid: home.ssid, psk });

/** The phone is back in the access point that waited for it, by itself, and reads why. */
async function reasonThere(vm: Vm): Promise<SetupStatus> {
  await reach(vm, 'the channels again', (s) => s.state === 'CHANNELS' && s.error === 'wifi');
  await vm.until('wpa_cli -p /run/lab-wpa-phone -i wlan2 status | grep -q wpa_state=COMPLETED');
  return json<SetupStatus>(vm, '/api/status');
}

export function join(check: Check): void {
  check('a wrong password waits for the phone in the same access point', async ({ vm }) => {
    await startRoot(vm);
    const before = await secrets(vm);
    assert.equal(await joins(vm, 'wrong horse'), { ok: true, interrupts: true });
    assert.is((await reasonThere(vm)).reason, 'wrong_password');
    assert.is((await secrets(vm)).psk, before.psk);
    assert.is((await wifiStatus(vm)).detail.last?.reason, 'wrong_password');
  });

  check(
    'the right password joins, the sound is tested again, and the access point is gone',
    async ({ vm }) => {
      await rootAnswers(vm);
      const began = Date.now();
      await joins(vm, home.psk);
      const s = await reach(vm, 'ready', (x) => x.state.startsWith('READY'));
      figure('connect_to_ready_s', ((Date.now() - began) / 1000).toFixed(1));
      // There is no sound card here, so ready has its limits.
      assert.equal([s.state, s.ssid, s.online], ['READY_WITH_LIMITS', home.ssid, true], await journal(vm));
      assert.match(await ladderLog(vm), /CONNECTING -> RETEST/);
      await vm.until(`test -z "$(${strays})"`);
      await vm.until('! systemctl is-active -q ingle-wizard');
      const wifi = await wifiStatus(vm);
      assert.equal(
        [wifi.softap, wifi.station, wifi.detail.station?.ssid],
        ['off', 'connected', home.ssid],
        await journal(vm),
      );
      await phoneLeaves(vm, 'phone');
      assert.is(
        await vm.must('stat -c "%a %U" /var/lib/ingle/wifi /var/lib/ingle/wifi/wifi.db'),
        '700 ingle-wifi\n600 ingle-wifi',
      );
    },
  );

  check('the hub gives a pairing link of the real root', async ({ vm }) => {
    await vm.until(
      'busctl --timeout=60 call io.ingle.Setup1 /io/ingle/Setup1 io.ingle.Setup1 PairingLink | grep -F "#v1."',
    );
  });

  check('ingle-wifi leaves when idle and comes back, and the network stays joined', async ({ vm }) => {
    const joins = 'journalctl -b -u wpa_supplicant -o cat | grep -c CTRL-EVENT-CONNECTED; true';
    const before = await vm.must(joins);
    await vm.must('systemctl set-environment INGLE_IDLE_MS=2000 && systemctl restart ingle-wifi');
    await vm.until('! systemctl is-active -q ingle-wifi');
    await vm.must('systemctl unset-environment INGLE_IDLE_MS');
    const s = await wifiReaches(vm, 'joined still', (x) => x.station === 'connected');
    assert.is(s.detail.station?.ssid, home.ssid);
    assert.is(await vm.must(joins), before, 'joined once');
    await vm.must('systemctl stop ingle-wifi');
  });

  check('wpa_supplicant killed: ingle-wifi is back and joins the network again', async ({ vm }) => {
    // Left first, as nobody drives the radio any more, and looked for anew.
    const looks = 'journalctl -b -u ingle-wifi -o cat | grep -c "station off -> lost"; true';
    const before = Number(await vm.must(looks));
    await vm.must('systemctl kill -s KILL wpa_supplicant');
    await vm.until(looks, { test: (times) => Number(times) > before });
    await wifiReaches(vm, 'joined again', (s) => s.station === 'connected');
  });

  check(
    'a network without a way to root is not kept; the known one is joined again when it is back',
    async ({ vm }) => {
      // The known one goes away with the same radio.
      await router(vm, 'home', 'wlan3', { ssid: 'Island', psk: home.psk });
      await wifiReaches(vm, 'lost', (s) => s.station === 'lost');
      await cutOffRoot(vm, async () => {
        const said = await call(vm, 'Wifi1', 'Connect', 'ssbs', 'Island', home.psk, false, '');
        assert.equal(said, [false, 'no_internet'], await journal(vm));
      });
      await openHome(vm);
      const s = await wifiReaches(vm, 'joined again', (x) => x.station === 'connected');
      assert.is(s.detail.station?.ssid, home.ssid);
    },
  );

  check('forgetting all leaves no password behind', async ({ vm }) => {
    await call(vm, 'Wifi1', 'Forget', 's', '');
    await wifiReaches(vm, 'off', (s) => s.station === 'off');
    assert.is(await vm.must(`grep -c -a "${home.psk}" /var/lib/ingle/wifi/* | grep -v ":0$"; true`), '');
  });

  check('without any network left, setup opens by itself', async ({ vm }) => {
    await reach(vm, 'ready', (s) => s.state.startsWith('READY'));
    await vm.must('systemctl restart ingle-setup');
    const s = await reach(vm, 'open', (x) => x.state === 'CHANNELS' && x.channels.includes('softap'));
    assert.is(s.ssid, '');
    // This was no start of the hub, which would open it at once for who has not paired yet (the suite of power cuts).
    assert.match(await ladderLog(vm), /READY_WITH_LIMITS -> CHANNELS event=no_network/);
  });
}
