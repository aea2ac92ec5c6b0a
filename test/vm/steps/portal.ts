// Devices are plugged in, and a phone finds its way into the access point and to the pages.
import * as assert from 'uvu/assert';
import { probes } from '../../../firmware/setup/portal.ts';
import { plugAdapter } from '../../lab/vm/ble.ts';
import { curl, home, journal, json, reach, secrets } from '../../lab/vm/hub.ts';
import { PATIENCE } from '../../lab/vm/lab.ts';
import { phoneJoins, phoneLeaves } from '../../lab/vm/radio.ts';
import type { Check } from '../../lab/vm/suite.ts';
import { oneIsIn, openHome, phoneIn, plugRadios, wifiReaches, wifiStatus } from '../../lab/vm/wifi.ts';

export function portal(check: Check): void {
  check('a radio plugged in opens the access point, in at most a few looks', async ({ vm }) => {
    await plugRadios(vm);
    const s = await reach(vm, 'the access point', (x) => x.channels.includes('softap'));
    assert.equal([s.mode, s.channels], ['softap', ['softap']]);
    await vm.until('systemctl is-active ingle-wizard');
  });

  check('a Bluetooth adapter plugged in later opens BLE beside it, with the same secrets', async ({ vm }) => {
    const before = await secrets(vm);
    await plugAdapter(vm);
    const s = await reach(vm, 'BLE', (x) => x.channels.includes('ble'));
    assert.equal([s.state, [...s.channels].sort()], ['CHANNELS', ['ble', 'softap']], await journal(vm));
    assert.equal(await secrets(vm), before);
    assert.is((await wifiStatus(vm)).softap, 'on');
  });

  check('the key is on no command line, in no log, and in files of the service alone', async ({ vm }) => {
    const { psk } = await secrets(vm);
    assert.match(psk, /^[2-9acefhjkmrwxy]{12}$/);
    // From a file: the command that looks must not have it on its own command line.
    await vm.put('/run/lab-psk', psk);
    const found = await vm.must(
      "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c -F -f /run/lab-psk; journalctl -b -o cat | grep -c -F -f /run/lab-psk; true",
    );
    assert.equal(found.split('\n'), ['0', '0']);
    assert.is(
      await vm.must('stat -c "%a %U" /run/ingle/wifi /run/ingle/wifi/hostapd.conf'),
      '700 ingle-wifi\n600 ingle-wifi',
    );
  });

  check('a phone joins with the key from the console, and every name leads to the hub', async ({ vm }) => {
    assert.match(await phoneIn(vm), /lease 10\.42\.0\.\d+ router 10\.42\.0\.1 dns 10\.42\.0\.1 options none/);
    for (const host of ['captive.apple.com', 'connectivitycheck.gstatic.com', 'example.org'])
      assert.match(
        await vm.must(`ip netns exec phone busybox nslookup -type=a ${host} 10.42.0.1 2>&1`),
        /Address: 10\.42\.0\.1$/m,
      );
    await oneIsIn(vm);
  });

  check('the phone reaches the wizard and nothing else', async ({ vm }) => {
    await vm.put(
      '/run/ports.mjs',
      "import { createServer } from 'node:net'; for (const p of [22, 5353, 8778]) createServer((s) => s.end('x')).listen(p, '::');",
    );
    await vm.must('systemd-run -q --collect --unit=lab-ports node /run/ports.mjs');
    // The wizard's https comes once there is a certificate.
    await vm.until('ss -ltn | grep -q :8778 && ss -ltn | grep -q :443');
    const six = await vm.must("ip -6 -o addr show dev wlan0 scope link | sed 's/.*inet6 \\([^/]*\\).*/\\1/'");
    const doors = [22, 80, 443, 5353, 8778].map((port) => `10.42.0.1/${port}`);
    const tries = [...doors, `${six}%wlan2/80`, `${six}%wlan2/8778`].map(
      (door) => `timeout 15 bash -c '</dev/tcp/${door}' 2>/dev/null && echo ${door} &`,
    );
    await vm.put('/run/doors.sh', `${tries.join('\n')}\nwait\n`);
    const open = await vm.must('ip netns exec phone bash /run/doors.sh');
    assert.equal(open.split('\n').sort(), ['10.42.0.1/443', '10.42.0.1/80']);
    await vm.must('systemctl stop lab-ports');
  });

  check('its pages are there, also by TLS', async ({ vm }) => {
    const page = await curl(vm, '/');
    assert.match(page, /<!doctype html>/i);
    const asset = /src="([^"]+\.js)"/.exec(page)?.[1];
    assert.ok(asset, page);
    assert.is(
      await curl(vm, asset!.replace(/^\.?\/?/, '/'), { flags: '-o /dev/null -w %{http_code}' }),
      '200',
    );
    assert.is(
      await vm.must("ip netns exec phone curl -ks -m 60 -o /dev/null -w '%{http_code}' https://10.42.0.1/"),
      '200',
    );
    assert.match(await curl(vm, '/api/status', { host: 'evil.example' }), /"forbidden"/);
  });

  check('the captive probe of every system is told of a portal', async ({ vm }) => {
    const paths = ['/hotspot-detect.html', '/generate_204', '/connecttest.txt', '/ncsi.txt', '/success.txt'];
    const asked = Object.keys(probes).flatMap((host) =>
      paths.map(
        (path) =>
          `url = "http://10.42.0.1${path}"\nheader = "Host: ${host}"\noutput = /dev/null\nwrite-out = "%{http_code} %{redirect_url}\\n"`,
      ),
    );
    await vm.put('/run/probes', `${asked.join('\nnext\n')}\n`);
    const said = await vm.must('ip netns exec phone curl -s -K /run/probes', { timeoutMs: 300_000 });
    assert.equal(said.split('\n'), new Array(asked.length).fill('302 http://10.42.0.1/'));
    // As the phone does it: by name, through the hub's own DNS.
    assert.is(
      await vm.must(
        'ip netns exec phone bash -c \'A=$(busybox nslookup -type=a captive.apple.com 10.42.0.1 | sed -n "s/^Address: //p" | tail -1); curl -s -m 60 -o /dev/null -w %{http_code} --resolve captive.apple.com:80:$A http://captive.apple.com/\'',
      ),
      '302',
    );
  });

  check('a second client is refused while the first is there', async ({ vm }) => {
    const { ssid, psk } = await secrets(vm);
    const channel = (await wifiStatus(vm)).detail.softap!.channel;
    // Its wpa_supplicant goes on trying: what counts is that the hub says no.
    const no = 'AUTH-REJECT|ASSOC-REJECT';
    assert.not(await phoneJoins(vm, 'second', 'wlan1', { ssid, psk, channel }, 120_000, no));
    await vm.must(`grep -q -E '${no}' /run/lab-wpa-second.log`);
    await oneIsIn(vm);
    await phoneLeaves(vm, 'second');
  });

  check('networks are found while the access point is up', async ({ vm }) => {
    await openHome(vm);
    // A radio that serves hears others only between its own beacons: a person looks again, too.
    type List = { networks: { ssid: string; security: string }[] };
    let found: List['networks'][number] | undefined;
    for (const end = Date.now() + PATIENCE; !found && Date.now() < end; ) {
      const list = await json<List>(vm, '/api/wifi/scan?fresh=1');
      found = list.networks.find((n) => n.ssid === home.ssid);
    }
    assert.is(found?.security, 'wpa2', await journal(vm));
    assert.is((await wifiStatus(vm)).softap, 'on');
  });

  check('a phone may join by WPA3', async ({ vm }) => {
    await phoneLeaves(vm, 'phone');
    await wifiReaches(vm, 'no client', (s) => s.detail.softap?.clients === 0);
    assert.match(await phoneIn(vm, 'SAE'), /lease 10\.42\.0\./);
  });
}
