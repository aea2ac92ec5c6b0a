// What leaves the hub in a journal holds no secret, wherever in a line it stood; what is no secret stays readable.
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { redactor } from '../../firmware/health/redact.ts';
import { makePin, makePsk } from '../../firmware/setup/secrets.ts';
import { busyFor } from '../lab/busy.ts';

const test = suite('redaction');
const from = (alphabet: string, min: number, max: number) =>
  fc
    .array(fc.constantFrom(...alphabet), { minLength: min, maxLength: max })
    .map((letters) => letters.join(''));
const digits = '0123456789';
const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** A word no secret would hold, so that a find is no chance. */
const letters = from('qzjvxw', 3, 12);
const around = fc.tuple(
  fc.constantFrom('', 'wifi: joining ', '<4>setup: ', 'Nov 21 10:00:00 hub node[12]: ', '{"a":1,'),
  letters,
);

const secrets = {
  'a network password': from('abcdefghijkmnpqrstuvwxyz23456789!?_.+*', 8, 63),
  'a PIN': from(digits, 6, 6),
  'a token': from(base64url, 43, 43),
};
const frames: ((value: string) => string)[] = [
  (v) => `psk=${v} `,
  (v) => `psk="${v}"`,
  (v) => `wpa_passphrase=${v}`,
  (v) => `{"ssid":"Home","psk":"${v}","hidden":false}`,
  (v) => JSON.stringify({ text: JSON.stringify({ pin: v }) }),
  (v) => `PIN: ${v}`,
  (v) => `Password: ${v}   PIN: ${v}`,
  (v) => `Пароль: ${v}   Пин-код: ${v}`,
  (v) => `the pin is ${v}`,
  (v) => `X-Service-Token: ${v}`,
  (v) => `token=${v}&x=1`,
  (v) => `Authorization: Bearer ${v}`,
  (v) => `https://owner:${v}@hub.example/`,
  (v) => `session_jwt: '${v}'`,
];
for (const [what, secret] of Object.entries(secrets))
  test(`${what} does not pass, by whatever name and in whatever frame`, () => {
    fc.assert(
      fc.property(secret, fc.constantFrom(...frames), around, (value, frame, [before, after]) => {
        const line = `${before}${frame(value)}  ${after}`;
        const out = redactor()(line);
        assert.not.ok(out.includes(value), `${line}\n${out}`);
        assert.ok(out.includes(after), `what follows stays: ${out}`);
      }),
      { numRuns: 600 },
    );
  });

test('what this hub is known to hold does not pass even where nothing names it', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ minLength: 4, maxLength: 63 }), { minLength: 1 }),
      letters,
      (known, word) => {
        const out = redactor(known)(`${word}${known.join(word)}${word}`);
        // A piece may stand by chance where two others met.
        const left = out.replaceAll('[removed]', '\0');
        for (const k of known)
          assert.not.ok(!'[removed]'.includes(k) && left.includes(k), `${JSON.stringify(k)} in ${out}`);
      },
    ),
  );
});

test('what programs of others logged does not pass either', () => {
  const said: [string, string][] = [
    ['hostapd: wpa_psk=%', '0f'.repeat(32)],
    ['wpa_supplicant[7]: PSK (ASCII passphrase): "%"', 'correct horse'],
    ['curl: > GET /v1?access_token=%&x=1', 'abcDEF123456'],
    ['lib: accessToken: %', 'abcDEF123456'],
    ['lib: {"clientSecret":"%"}', 'q1w2e3r4'],
    ['lib: refreshToken=%', 'abcDEF123456'],
    ['git: remote % denied', 'ghp_0123456789abcdefABCDEF0123456789abcd'],
    ['ai: Incorrect API key provided: %', 'sk-proj-0123456789abcdef'],
    ['aws: % is not valid', 'AKIAIOSFODNN7EXAMPLE'],
    ['ssl: session % resumed', Array.from({ length: 16 }, (_, i) => (i + 160).toString(16)).join(':')],
    ['wg: peer % endpoint', 'mDtBfpGhxyPcwjFJ7rzA4kIpgvJ0L9q6n1Vt2uXs3zE='],
    ['box: nonce % used', 'q83vEjRWeJASNFZ4kBI0Vg=='],
    ['login: enter % 507-226 at root', '482-913'],
    ['login: device_code=%', '482913'],
    ['otp=% ok', '902817'],
  ];
  for (const [line, value] of said) {
    const out = redactor()(line.replace('%', value));
    assert.not.ok(out.includes(value), out);
    assert.match(out, /^[a-z]+/, 'who spoke stays');
  }
});

test('what is no secret stays readable', () => {
  for (const line of [
    'api: listening host=127.0.0.1 port=8777',
    'boot 5d41402abc4b2a76b9719d911017c592 in 2026-11-24T02:00:00Z',
    'wifi: joined bssid=aa:bb:cc:dd:ee:ff signal=-60',
    'a == b === c; ratio=1.5',
  ])
    assert.is(redactor()(line), line);
});

test('a pairing link keeps its page and loses what opens the hub', () => {
  fc.assert(
    fc.property(from(digits, 6, 6), from(base64url, 43, 43), from(base64url, 22, 43), (code, pub, psk) => {
      const out = redactor()(`open https://root.example/#v1.${code}.${pub}.${psk} on the phone`);
      assert.match(out, /^open https:\/\/root\.example\/#v1\.\[removed\] on the phone$/);
    }),
  );
});

test('a JWT does not pass, whole or cut', () => {
  fc.assert(
    fc.property(fc.json(), fc.integer({ min: 0, max: 40 }), letters, (payload, cut, word) => {
      const part = (t: string | Buffer) => Buffer.from(t).toString('base64url');
      const signature = part(randomBytes(64));
      const jwt = `${part('{"alg":"EdDSA","typ":"JWT"}')}.${part(payload)}.${signature}`;
      const out = redactor()(`${word} ${jwt.slice(0, jwt.length - cut)} ${word}`);
      assert.is(out, `${word} [removed] ${word}`);
    }),
  );
});

test('a typed code, a WIFI: code, a bot token, a hash and raw keys do not pass', () => {
  for (let i = 0; i < 200; i++) {
    const psk = makePsk();
    const group = () => `${makePin().slice(0, 3)}-${makePin().slice(0, 3)}`;
    const typed = [group(), group()];
    const bot = `${1e9 + i}:${randomBytes(26).toString('base64url')}`;
    const keys = [
      randomBytes(32).toString('hex'),
      randomBytes(32).toString('base64url'),
      randomBytes(48).toString('base64'),
    ];
    for (const value of [...typed, bot, ...keys, `scrypt$${randomBytes(16).toString('base64url')}$x`])
      assert.not.ok(redactor()(`said ${value} then`).includes(value), value);
    assert.not.ok(redactor()(`type ${typed.join(' ')}`).includes(typed[1]!));
    for (const code of [`S:Hub-1;P:${psk};;`, `S:My Hub;P:${psk};;`, `S:Hub-1;P:${psk}`])
      assert.not.ok(redactor()(`WIFI:T:WPA;${code}`).includes(psk), code);
  }
});

test('a private key over many lines does not pass, and what follows it does', () => {
  const body = randomBytes(200)
    .toString('base64')
    .match(/.{1,40}/g)!;
  const clean = redactor();
  const lines = [
    'before',
    '-----BEGIN EC PRIVATE KEY-----',
    ...body,
    '-----END EC PRIVATE KEY-----',
    'after',
  ];
  const out = lines.map(clean).join('\n');
  for (const b of body) assert.not.ok(out.includes(b));
  assert.match(out, /^before\n/);
  assert.match(out, /\nafter$/);
});

test('an unquoted network password goes whole, blanks and commas with it', () => {
  const printable = fc
    .string({ minLength: 8, maxLength: 63 })
    .map((t) => t.trim().replace(/\s+/g, ' '))
    .filter((t) => t.length >= 8 && !/\s[\w-]+[=:]|^["'\\]|^\[removed/.test(t));
  fc.assert(
    fc.property(printable, letters, (psk, word) => {
      for (const line of [
        `psk=${psk}  ${word}`,
        `Password: ${psk}   PIN: 1`,
        `wpa_passphrase=${psk} ${word}=1`,
      ]) {
        const out = redactor()(line);
        assert.not.ok(out.includes(psk), `${line}\n${out}`);
      }
      assert.match(redactor()(`x psk=${psk} ${word}=1`), new RegExp(`^x psk=\\[removed\\] ${word}=1$`));
    }),
    // Its first word looks like a hash of a Unix password.
    { examples: [['$0$# ! !', 'qqq']] },
  );
});

const lines = fc.oneof(
  fc.string({ maxLength: 300 }),
  fc
    .tuple(secrets['a network password'], fc.constantFrom(...frames), around)
    .map(([value, frame, [before, after]]) => `${before}${frame(value)} ${after}`),
);
test('what was cleaned once is left as it is', () => {
  fc.assert(
    fc.property(lines, (line) => {
      const once = redactor()(line);
      assert.is(redactor()(once), once);
    }),
  );
});

test('ordinary lines of a journal stay as they are', () => {
  for (const line of [
    'Nov 21 22:48:04 hub-1a2b systemd[1]: Started ingle-uplink.service - Ingle link to root.',
    'wifi: joining a network channel=softap',
    'kernel: usb 1-1: New USB device found, idVendor=1d6b, idProduct=0002, bcdDevice= 6.12',
    'setup: ladder AUDIO -> CHANNELS by audio_failed',
    'uplink: connected root=https://root.example/ hub_id=hub_7Fq2',
    'api: a request failed error="The message bus is gone"',
    '2026-11-21T22:48:04.123Z info audio: test verdict=ok corr=0.91 latency_ms=82.5',
    'nft: 10.42.0.1/24 fe80::5054:ff:fe12:3456 52:54:00:12:34:56',
    'the keyboard was found; monkey=3',
  ])
    assert.is(redactor()(line), line);
});

test('a line of any length is cleaned in time that grows with it', () => {
  const units = [
    'psk=',
    '"psk":"',
    'a-',
    'eyJ',
    '\\"',
    '1',
    'A',
    ': ',
    'WIFI:',
    'WIFI:T:',
    'WIFI:T: ',
    'https://',
  ];
  const { ms } = busyFor(() => {
    for (const unit of units) {
      const clean = redactor(['hunter22']);
      assert.type(clean(unit.repeat(20_000)), 'string');
    }
  });
  console.log(`FIGURE redaction_of_long_lines_cpu_ms ${Math.round(ms)}`);
  // A shape that is tried anew at each place of a line takes seconds.
  assert.ok(ms < 500, `${ms} ms of processor time for ${units.length} lines`);
});

test.run();
