import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parsePhy, parseScan, quietChannel, unescapeSsid } from '../../firmware/wifi/iw.ts';

const test = suite('Wi-Fi scan');

const bss = (o: {
  mac?: string;
  ssid: string;
  signal?: number;
  freq?: number;
  privacy?: boolean;
  more?: string;
}) =>
  `BSS ${o.mac ?? '02:00:00:00:03:00'}(on wlan0)
\tlast seen: 30.700s [boottime]
\tTSF: 1795172400000000 usec (20777d, 10:20:00)
\tfreq: ${o.freq ?? 2437}.0
\tbeacon interval: 100 TUs
\tcapability: ESS ${o.privacy === false ? '' : 'Privacy '}ShortSlotTime (0x0411)
\tsignal: ${(o.signal ?? -30).toFixed(2)} dBm
\tlast seen: 0 ms ago
\tSSID: ${o.ssid}
\tSupported rates: 1.0* 2.0* 5.5* 11.0* 6.0 9.0 12.0 18.0 
${o.more ?? ''}`;
const rsn = (suites: string) =>
  `\tRSN:\t * Version: 1\n\t\t * Group cipher: CCMP\n\t\t * Pairwise ciphers: CCMP\n\t\t * Authentication suites: ${suites}\n\t\t * Capabilities: 1-PTKSA-RC 1-GTKSA-RC (0x0000)\n`;

test('networks come with name, signal and security, strongest first, one a name', () => {
  const text = [
    bss({ ssid: 'Home', signal: -60, more: rsn('PSK') }),
    bss({ ssid: 'Home', signal: -40, mac: '02:00:00:00:03:01', freq: 2412, more: rsn('PSK') }),
    bss({ ssid: 'Both', signal: -50, more: rsn('PSK SAE') }),
    bss({ ssid: 'Three', signal: -70, more: rsn('SAE') }),
    bss({ ssid: 'Office', signal: -80, more: rsn('IEEE 802.1X') }),
    bss({ ssid: 'Old', signal: -85 }),
    bss({ ssid: 'Cafe', signal: -90, privacy: false }),
    bss({ ssid: '', signal: -20, more: rsn('PSK') }),
    bss({ ssid: '\\x00\\x00\\x00', signal: -20, more: rsn('PSK') }),
    bss({ ssid: '\\xd0\\x94\\xd0\\xbe\\xd0\\xbc', signal: -95, more: rsn('PSK') }),
  ].join('');
  assert.equal(
    parseScan(text).map((n) => [n.ssid, n.signal, n.security, n.frequency]),
    [
      ['Home', 100, 'wpa2', 2412],
      ['Both', 100, 'wpa2', 2437],
      ['Three', 60, 'wpa3', 2437],
      ['Office', 40, 'other', 2437],
      ['Old', 30, 'other', 2437],
      ['Cafe', 20, 'open', 2437],
      ['Дом', 10, 'wpa2', 2437],
    ].sort((a, b) => Number(b[1]) - Number(a[1]) || (String(a[0]) < String(b[0]) ? -1 : 1)),
  );
});

test('a name of any bytes survives, and none breaks the list', () => {
  assert.is(unescapeSsid('a\\x20b\\\\c'), 'a b\\c');
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (junk) => {
      for (const n of parseScan(`${bss({ ssid: 'Home' })}${junk}`)) {
        assert.ok(n.ssid.length > 0);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not come through
        assert.not.match(n.ssid, /[\u0000-\u001f]/);
        assert.ok(n.signal >= 0 && n.signal <= 100);
      }
    }),
  );
});

test('a radio tells whether it can be an access point, and with WPA3', () => {
  const phy = (modes: string[], more: string) =>
    `Wiphy phy0\n\tSupported Ciphers:\n\t\t* CCMP-128 (00-0f-ac:4)\n${more}\tSupported interface modes:\n${modes.map((m) => `\t\t * ${m}\n`).join('')}\tBand 1:\n`;
  const cmac = '\t\t* CMAC (00-0f-ac:6)\n\tDevice supports SAE with AUTHENTICATE command\n';
  assert.equal(parsePhy(phy(['managed', 'AP', 'monitor'], cmac)), { ap: true, sae: true });
  assert.equal(parsePhy(phy(['managed', 'AP/VLAN'], cmac)), { ap: false, sae: true });
  assert.equal(parsePhy(phy(['AP'], '')), { ap: true, sae: false });
});

test('the access point takes the channel with the fewest neighbours', () => {
  const at = (frequency: number, signal: number) => ({
    ssid: 'x',
    security: 'wpa2' as const,
    frequency,
    signal,
  });
  assert.is(quietChannel([]), 1);
  assert.is(quietChannel([at(2412, 80)]), 6);
  assert.is(quietChannel([at(2412, 80), at(2437, 40)]), 11);
  assert.is(quietChannel([at(2412, 10), at(2437, 90), at(2462, 90)]), 1);
  assert.is(quietChannel([at(5180, 100)]), 1);
});

test.run();
