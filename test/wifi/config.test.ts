import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { alphabet, checkPsk, freshPsk, parseCidr, ssidBytes } from '../../firmware/wifi/credentials.ts';
import { dnsmasqConfig } from '../../firmware/wifi/dnsmasq.ts';
import { type AccessPoint, hostapdConfig, parseHostapd } from '../../firmware/wifi/hostapd.ts';
import { nftRules } from '../../firmware/wifi/nft.ts';
import { settings } from '../../firmware/wifi/supplicant.ts';

const test = suite('Wi-Fi configuration');
const ap: AccessPoint = {
  interface: 'wlan0',
  ssid: ssidBytes('Ingle-7Q'),
  psk: '4k7pwm9xadhe',
  channel: 6,
  country: 'DE',
  sae: true,
  control: '/run/ingle/wifi/hostapd',
};

test('hostapd gets this file', () => {
  assert.is(
    hostapdConfig(ap),
    `interface=wlan0
driver=nl80211
ctrl_interface=/run/ingle/wifi/hostapd
ssid2=496e676c652d3751
utf8_ssid=1
country_code=DE
ieee80211d=1
hw_mode=g
channel=6
ieee80211n=1
wmm_enabled=1
auth_algs=1
wpa=2
rsn_pairwise=CCMP
wpa_key_mgmt=WPA-PSK SAE
wpa_passphrase=4k7pwm9xadhe
ieee80211w=1
sae_require_mfp=1
max_num_sta=1
ap_isolate=1
ap_max_inactivity=60
wps_state=0
`,
  );
});

test('a radio without WPA3, and a world without a country, get neither', () => {
  const text = hostapdConfig({ ...ap, sae: false, country: '00' });
  assert.not.match(text, /SAE|sae|ieee80211w|country|80211d/);
  assert.match(hostapdConfig({ ...ap, psk: 'a'.repeat(64) }), /\nwpa_psk=a{64}\n/);
});

test('dnsmasq gets this file, and phones no option 114', () => {
  const text = dnsmasqConfig({
    interface: 'wlan0',
    ...parseCidr('10.42.0.1/24'),
    runtime: '/run/ingle/wifi',
  });
  assert.is(
    text,
    `keep-in-foreground
log-facility=-
pid-file=/run/ingle/wifi/dnsmasq.pid
interface=wlan0
except-interface=lo
bind-interfaces
no-resolv
no-hosts
no-poll
cache-size=0
address=/#/10.42.0.1
filter-AAAA
local-ttl=1
dhcp-range=10.42.0.2,10.42.0.11,255.255.255.0,10m
dhcp-option=option:router,10.42.0.1
dhcp-option=option:dns-server,10.42.0.1
dhcp-authoritative
dhcp-lease-max=10
no-ping
dhcp-leasefile=/run/ingle/wifi/dnsmasq.leases
`,
  );
});

test('the firewall lets in DHCP, DNS and the wizard, and drops the rest', () => {
  assert.is(
    nftRules({ interface: 'wlan0', address: '10.42.0.1' }),
    `table inet ingle_softap
delete table inet ingle_softap
table inet ingle_softap {
  chain input {
    type filter hook input priority -10; policy accept;
    iifname != "wlan0" accept
    ip daddr { 10.42.0.1, 255.255.255.255 } udp dport 67 meta mark set 0x496e676c accept
    ip daddr 10.42.0.1 udp dport 53 meta mark set 0x496e676c accept
    ip daddr 10.42.0.1 tcp dport { 53, 80, 443 } meta mark set 0x496e676c accept
    ip daddr 10.42.0.1 icmp type echo-request limit rate 5/second meta mark set 0x496e676c accept
    drop
  }
  chain forward {
    type filter hook forward priority -10; policy accept;
    iifname "wlan0" drop
    oifname "wlan0" drop
  }
}
`,
  );
});

test('no name and no password can add a line to a file', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 32 }), (name) => {
      const bytes = new TextEncoder().encode(name);
      if (bytes.length > 32) return;
      const lines = hostapdConfig({ ...ap, ssid: ssidBytes(name) }).split('\n');
      assert.is(lines.length, hostapdConfig(ap).split('\n').length);
      assert.match(lines[3]!, /^ssid2=([0-9a-f]{2}){1,32}$/);
    }),
  );
  for (const psk of ['line\nwpa=0', 'tab\there!', 'пароль12', 'short', 'x'.repeat(65), 'g'.repeat(64)])
    assert.throws(() => checkPsk(psk), /8 to 63/);
});

test('a fresh key has 12 letters nobody mixes up, each as likely as any', () => {
  const counts = new Map<string, number>();
  for (let i = 0; i < 3000; i++) {
    const psk = freshPsk();
    assert.is(psk.length, 12);
    checkPsk(psk);
    for (const c of psk) counts.set(c, (counts.get(c) ?? 0) + 1);
  }
  assert.is(counts.size, alphabet.length);
  const expected = (3000 * 12) / alphabet.length;
  // Chi-squared with 24 degrees of freedom: 60 is passed once in 20,000 runs.
  const chi = [...counts.values()].reduce((s, n) => s + (n - expected) ** 2 / expected, 0);
  assert.ok(chi < 60, `chi-squared ${chi}`);
  for (const c of '0o1il5s2zuv') assert.not(alphabet.includes(c), c);
});

test('an address of the access point is private, and its clients are its neighbours', () => {
  assert.equal(parseCidr('192.168.4.1/28'), {
    address: '192.168.4.1',
    prefix: 28,
    netmask: '255.255.255.240',
    first: '192.168.4.2',
    last: '192.168.4.11',
  });
  assert.is(parseCidr('172.16.0.254/24').last, '172.16.0.253');
  for (const bad of [
    '8.8.8.8/24',
    '10.0.0.0/24',
    '10.0.0.255/24',
    '10.0.0.1/30',
    '10.0.0.1',
    '10.0.0.999/24',
    '10.0.0.1/8',
    '172.32.0.1/24',
    '',
    '10.0.0.1/24\nx',
  ])
    assert.throws(() => parseCidr(bad), /private address/, bad);
  const number = (ip: string) => ip.split('.').reduce((n, p) => n * 256 + Number(p), 0);
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 ** 24 - 1 }),
      fc.integer({ min: 16, max: 28 }),
      (host, prefix) => {
        const address = `10.${(host >> 16) & 255}.${(host >> 8) & 255}.${host & 255}`;
        let net: ReturnType<typeof parseCidr>;
        try {
          net = parseCidr(`${address}/${prefix}`);
        } catch {
          return;
        }
        const [first, last, own] = [number(net.first), number(net.last), number(address)];
        const size = 2 ** (32 - prefix);
        const base = Math.floor(own / size) * size;
        assert.ok(first <= last && first > base && last < base + size - 1);
        assert.ok(own < first || own > last);
      },
    ),
  );
});

test('what hostapd says is understood', () => {
  const say = (line: string) => parseHostapd(line);
  assert.equal(say('wlan0: AP-ENABLED '), { kind: 'up' });
  assert.equal(say('wlan0: AP-STA-CONNECTED 02:00:00:00:02:00 auth_alg=open'), {
    kind: 'joined',
    mac: '02:00:00:00:02:00',
  });
  assert.equal(say('wlan0: AP-STA-DISCONNECTED 02:00:00:00:02:00'), {
    kind: 'left',
    mac: '02:00:00:00:02:00',
  });
  assert.equal(say('wlan0: INTERFACE-DISABLED '), { kind: 'down' });
  assert.equal(say('Could not set interface wlan0 flags (UP): No such device'), { kind: 'failed' });
  assert.is(say('wlan0: interface state UNINITIALIZED->ENABLED'), undefined);
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (line) => void say(line)));
});

test('wpa_supplicant gets a network as it was asked for', () => {
  const of = (n: Partial<Parameters<typeof settings>[0]>) =>
    Object.fromEntries(
      Object.entries(settings({ ssid: 'x', psk: 'secret123', hidden: false, security: '', ...n })).map(
        ([k, [, v]]) => [k, v instanceof Uint8Array ? Buffer.from(v).toString('hex') : v],
      ),
    );
  assert.equal(of({ psk: '' }), { ssid: '78', key_mgmt: 'NONE' });
  assert.equal(of({}), {
    ssid: '78',
    key_mgmt: 'WPA-PSK WPA-PSK-SHA256 SAE',
    proto: 'RSN',
    ieee80211w: 1,
    psk: 'secret123',
  });
  assert.equal(of({ security: 'wpa3', hidden: true })['key_mgmt'], 'SAE');
  assert.is(of({ security: 'wpa3' })['ieee80211w'], 2);
  assert.is(of({ hidden: true })['scan_ssid'], 1);
  assert.not.match(String(of({ psk: 'ab'.repeat(32) })['key_mgmt']), /SAE/);
});

test.run();
