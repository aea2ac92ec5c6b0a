// timeout: 2400 s
// The whole ladder on the hub's own root: real services under their units, policies and users, a real root, real
// radios' software. What is simulated: the air (mac80211_hwsim, btvirt), and that there is no sound card.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { probes } from '../../firmware/setup/portal.ts';
import { top } from '../../image/build.ts';
import {
  bundleCentral,
  call,
  curl,
  home,
  journal,
  json,
  labRoot,
  openHome,
  openRoot,
  phoneIn,
  plugRadios,
  reach,
  type SetupStatus,
  secrets,
  strays,
} from './hub.ts';
import { boot, cannotRun, type Vm } from './lab.ts';
import { lendRadio, phoneLeaves, stopRouter } from './radio.ts';

const why = cannotRun();
if (why) console.log(`SKIP ${why}`);
const test = suite<{ vm: Vm }>('setup in a machine');
/** A step that fails says so at once: a machine's suite is long. */
const check = (name: string, run: (c: { vm: Vm }) => Promise<void>) =>
  why
    ? test.skip(name, run)
    : test(name, async (c) => {
        try {
          await run(c);
        } catch (e) {
          console.log(`failed: ${name}\n${(e as Error).message}`);
          throw e;
        }
      });

test.before(async (c) => {
  if (why) return;
  const dir = mkdtempSync(join(tmpdir(), 'ingle-lab-'));
  c.vm = await boot({
    controllers: 1,
    cmdline: labRoot,
    files: { 'root.js': join(top, 'dist/root/main.js'), 'central.cjs': await bundleCentral(dir) },
  });
  console.log(`FIGURE setup_boot_s ${c.vm.bootSeconds.toFixed(1)}`);
});
test.after((c) => c.vm?.stop());

const joins = (vm: Vm, psk: string) =>
  json<{ ok: boolean; interrupts: boolean }>(vm, '/api/wifi/connect', { ssid: home.ssid, psk });
/** The phone is back in the access point that waited for it, and reads why. */
async function reasonThere(vm: Vm): Promise<SetupStatus> {
  await reach(vm, 'the channels again', (s) => s.state === 'CHANNELS' && s.error === 'wifi');
  await vm.until('wpa_cli -p /run/lab-wpa-phone -i wlan2 status | grep -q wpa_state=COMPLETED', {
    timeoutMs: 120_000,
  });
  return json<SetupStatus>(vm, '/api/status');
}

check(
  'a hub without sound and without a radio waits at its console, and nothing has failed',
  async ({ vm }) => {
    await reach(vm, 'the console', (s) => s.state === 'CONSOLE' || s.channels.includes('ble'));
    await vm.until('systemctl is-system-running --wait || true', { timeoutMs: 180_000 });
    const failed = await vm.must('systemctl --failed --plain --no-legend');
    assert.is(failed, '', `${failed}\n${await journal(vm)}`);
    assert.is(await vm.must(strays), '');
  },
);

check('a radio plugged in opens the access point, in at most a few looks', async ({ vm }) => {
  await plugRadios(vm);
  const s = await reach(vm, 'the access point', (x) => x.channels.includes('softap'));
  assert.is(s.mode, 'softap');
  await vm.until('systemctl is-active ingle-wizard', { timeoutMs: 120_000 });
});

check('a phone joins with the key from the console, and its pages are there', async ({ vm }) => {
  assert.match((await secrets(vm)).psk, /^[2-9acefhjkmrwxy]{12}$/);
  await phoneIn(vm);
  const page = await curl(vm, '/');
  assert.match(page, /<!doctype html>/i);
  const asset = /src="([^"]+\.js)"/.exec(page)?.[1];
  assert.ok(asset, page);
  assert.match(
    await curl(vm, asset!.replace(/^\.?\/?/, '/'), { flags: '-o /dev/null -w %{http_code}' }),
    /^200$/,
  );
  assert.is(
    await vm.must("ip netns exec phone curl -ks -m 60 -o /dev/null -w '%{http_code}' https://10.42.0.1/"),
    '200',
  );
});

check('the captive probe of every system is told of a portal', async ({ vm }) => {
  const hosts = Object.keys(probes);
  const paths = ['/hotspot-detect.html', '/generate_204', '/connecttest.txt', '/ncsi.txt', '/success.txt'];
  const lines = hosts.flatMap((h) =>
    paths.map(
      (p) =>
        `echo "$(curl -s -m 60 -o /dev/null -w '%{http_code} %{redirect_url}' -H 'Host: ${h}' http://10.42.0.1${p})"`,
    ),
  );
  await vm.put('/run/probes.sh', `${lines.join('\n')}\n`);
  const said = await vm.must('ip netns exec phone bash /run/probes.sh', { timeoutMs: 300_000 });
  assert.equal([...new Set(said.split('\n'))], ['302 http://10.42.0.1/']);
  // As the phone does it: by name, through the hub's own DNS.
  assert.is(
    await vm.must(
      'ip netns exec phone bash -c \'A=$(busybox nslookup -type=a captive.apple.com 10.42.0.1 | sed -n "s/^Address: //p" | tail -1); curl -s -m 60 -o /dev/null -w %{http_code} --resolve captive.apple.com:80:$A http://captive.apple.com/\'',
    ),
    '302',
  );
  assert.match(await curl(vm, '/api/status', { host: 'evil.example' }), /"forbidden"/);
});

check('a network that vanished is told with its name once the phone is back', async ({ vm }) => {
  await openHome(vm);
  const list = await json<{ networks: { ssid: string; security: string }[] }>(vm, '/api/wifi/scan?fresh=1');
  assert.is(list.networks.find((n) => n.ssid === home.ssid)?.security, 'wpa2');
  await stopRouter(vm, 'home');
  assert.equal(await joins(vm, home.psk), { ok: true, interrupts: true });
  assert.is((await reasonThere(vm)).reason, 'not_found');
});

check('a wrong password waits for the phone in the same access point', async ({ vm }) => {
  await openHome(vm);
  const before = await secrets(vm);
  assert.equal(await joins(vm, 'wrong horse'), { ok: true, interrupts: true });
  assert.is((await reasonThere(vm)).reason, 'wrong_password');
  assert.is((await secrets(vm)).psk, before.psk);
});

check('a network without addresses is told as such', async ({ vm }) => {
  await openHome(vm, false);
  await joins(vm, home.psk);
  assert.is((await reasonThere(vm)).reason, 'no_address');
});

check('the right password joins, the sound is tested again, and the access point is gone', async ({ vm }) => {
  await openHome(vm);
  await openRoot(vm);
  const began = Date.now();
  await joins(vm, home.psk);
  const s = await reach(vm, 'ready', (x) => x.state.startsWith('READY'));
  console.log(`FIGURE connect_to_ready_s ${((Date.now() - began) / 1000).toFixed(1)}`);
  // There is no sound card here, so ready has its limits.
  assert.equal([s.state, s.ssid, s.online], ['READY_WITH_LIMITS', home.ssid, true], await journal(vm));
  assert.match(await journal(vm), /CONNECTING -> RETEST/);
  await vm.until(`test -z "$(${strays})"`, { timeoutMs: 60_000 });
  await vm.until('! systemctl is-active -q ingle-wizard');
  await phoneLeaves(vm, 'phone');
});

check('the hub gives a pairing link of the real root', async ({ vm }) => {
  const end = Date.now() + 120_000;
  let said = '';
  while (Date.now() < end && !said) {
    const r = await vm.run(
      'busctl --timeout=60 call io.ingle.Setup1 /io/ingle/Setup1 io.ingle.Setup1 PairingLink',
    );
    if (r.code === 0) said = r.stdout;
  }
  assert.match(said, /#v1\./, await journal(vm));
});

check('a stranger on the bus moves nothing', async ({ vm }) => {
  for (const method of ['Secrets', 'Status'])
    assert.is.not(
      (
        await vm.run(
          `setpriv --reuid=nobody --clear-groups busctl call io.ingle.Setup1 /io/ingle/Setup1 io.ingle.Setup1 ${method}`,
        )
      ).code,
      0,
    );
  // The pages need no secret, so they get none.
  assert.is.not(
    (
      await vm.run(
        'setpriv --reuid=ingle-wizard --regid=ingle-wizard --clear-groups busctl call io.ingle.Setup1 /io/ingle/Setup1 io.ingle.Setup1 Secrets',
      )
    ).code,
    0,
  );
});

interface Heard {
  event: string;
  [key: string]: unknown;
}
/** Runs the phone's BLE end on the second controller; what it heard, by event. */
async function central(vm: Vm, mode: string, given: unknown): Promise<Map<string, Heard>> {
  await vm.must('hciconfig hci1 up');
  await vm.put('/run/central.json', JSON.stringify(given));
  const r = await vm.run(
    `NODE_PATH=/usr/lib/ingle/node_modules NOBLE_HCI_DEVICE_ID=1 node /run/lab/central.cjs ${mode} "$(cat /run/central.json)"`,
    { timeoutMs: 240_000 },
  );
  const heard = r.stdout
    .split('\n')
    .filter((l) => l.startsWith('{'))
    .map((l) => JSON.parse(l) as Heard);
  if (r.code !== 0) console.log(r.stdout, r.stderr, await journal(vm));
  return new Map(heard.map((h) => [h.event, h]));
}

check('setup starts again by order, and BLE is open beside the access point', async ({ vm }) => {
  await call(vm, 'Wifi1', 'Forget', 's', '');
  await call(vm, 'Setup1', 'Restart', 's', 'serial');
  const s = await reach(
    vm,
    'both channels',
    (x) => x.channels.includes('ble') && x.channels.includes('softap'),
  );
  assert.is(s.state, 'CHANNELS');
  // bluetoothd would answer in its place.
  assert.is((await vm.run('systemctl is-active bluetooth')).stdout.trim(), 'inactive');
  const text = await vm.must('systemd-analyze security ingle-ble.service --no-pager | tail -1');
  const exposure = Number(/: ([\d.]+)/.exec(text)?.[1]);
  console.log(`FIGURE ingle_ble_exposure ${exposure}`);
  assert.ok(exposure <= 2.5, text);
});

check('a wrong PIN over BLE is refused and counted', async ({ vm }) => {
  const { pin } = await secrets(vm);
  const h = await central(vm, 'setup', { pin: pin === '000000' ? '000001' : '000000', ...home });
  assert.is(h.get('refused')?.['error'], 'pairing_failed');
  assert.not(h.has('softap'));
  assert.match(await journal(vm), /a wrong PIN channel=ble left=4/);
});

check(
  'over BLE: who the hub is, the PIN proven, sealed credentials, connected, the pairing link',
  async ({ vm }) => {
    const s = await secrets(vm);
    const h = await central(vm, 'setup', { pin: s.pin, ...home });
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

check('an Improv application provisions it, once somebody at the hub has approved', async ({ vm }) => {
  await call(vm, 'Wifi1', 'Forget', 's', '');
  await call(vm, 'Setup1', 'Restart', 's', 'serial');
  await reach(vm, 'BLE', (x) => x.channels.includes('ble'));
  const refused = await central(vm, 'improv', home);
  assert.equal(refused.get('state')?.['state'], 1);
  assert.match(JSON.stringify(refused.get('outcome')), /"errors":[^\]]*4/);
  await call(vm, 'Ble1', 'Approve');
  const h = await central(vm, 'improv', home);
  assert.is(h.get('state')?.['state'], 2);
  assert.ok(h.has('bad_checksum_refused') && h.has('unknown_command_refused'));
  const outcome = JSON.stringify(h.get('outcome'));
  assert.match(outcome, /"states":\[3,4/);
  assert.match(outcome, /#v1\./);
  await reach(vm, 'ready', (x) => x.state.startsWith('READY'));
});

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

check(
  'the serial wizard joins a network by typing, also after it was killed in the middle',
  async ({ vm }) => {
    await call(vm, 'Wifi1', 'Forget', 's', '');
    await call(vm, 'Setup1', 'Restart', 's', 'serial');
    await reach(vm, 'the channels', (x) => x.channels.includes('softap'));
    await vm.put(
      '/run/lab-line.sh',
      'mkfifo /run/far; exec 3<>/run/far; exec script -q -f -c "stty raw -echo; tty >/run/tty; exec sleep infinity" /run/line <&3\n',
    );
    await vm.must('systemd-run -q --collect --unit=lab-line bash /run/lab-line.sh');
    const tty = (await vm.until('test -s /run/tty && cat /run/tty')).replace('/dev/', '');
    const unit = `ingle-serial@${await vm.must(`systemd-escape ${tty}`)}.service`;
    // As a serial line's group may; a pseudo-terminal's may only write.
    await vm.must(`chmod 660 /dev/${tty}; systemctl start '${unit}'`, { timeoutMs: 120_000 });
    await sees(vm, 0, 'Enter');
    const { psk } = await secrets(vm);
    assert.ok((await type(vm, '\r', 'What next?')).includes(psk));
    await type(vm, '1\r', 'Which network?');
    const from = await shown(vm);
    await vm.must(`systemctl kill -s KILL '${unit}'`);
    await sees(vm, from, 'Enter');
    await type(vm, '\r', 'What next?');
    const list = await type(vm, '1\r', 'Which network?');
    await sees(vm, 0, 'Back');
    const number = /(\d+)\. Home /.exec(list)?.[1];
    assert.ok(number, list);
    await type(vm, `${number}\r`, 'Password of Home');
    const said = await type(vm, `${home.psk}\r`, 'The hub is in Home.');
    assert.not.match(said, /correct horse/, 'a password is not echoed');
    await reach(vm, 'ready', (x) => x.state.startsWith('READY'));
    await vm.must(`systemctl stop '${unit}'`);
  },
);

check(
  'pulled out while serving, the radio leaves the console and no trace of an access point',
  async ({ vm }) => {
    await call(vm, 'Setup1', 'Restart', 's', 'serial');
    await reach(vm, 'the access point', (x) => x.channels.includes('softap'));
    await lendRadio(vm, 'wlan0', 'drawer');
    const s = await reach(vm, 'no access point', (x) => !x.channels.includes('softap'));
    assert.ok(s.state === 'CONSOLE' || s.channels.includes('ble'), JSON.stringify(s));
    assert.is(await vm.must(strays), '');
    assert.match(await journal(vm), /radios changed/);
  },
);

test.run();
