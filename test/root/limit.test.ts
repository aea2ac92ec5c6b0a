import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { solvePow, verifyPow } from '../../firmware/protocol/pairing/pow.ts';
import { readConfig } from '../../root/config.ts';
import { openCrowd } from '../../root/crowd.ts';
import { addressLimit, clientKey, limit, placeOf } from '../../root/limit.ts';
import { allow, newHub, newLink } from '../../root/links.ts';
import { openSurge } from '../../root/surge.ts';
import { openUploads } from '../../root/uploads.ts';

const test = suite('limit');
const refused = (work: () => void): number | undefined => {
  try {
    work();
  } catch (e) {
    return (e as { details: { retry_after: number } }).details.retry_after;
  }
  return undefined;
};

test('never more than the limit in a window, and retry_after is long enough', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(9000), { maxLength: 200 }), (steps) => {
      let t = 1_000_000;
      const l = limit(20, 60, () => t);
      let taken: number[] = [];
      for (const step of steps) {
        t += step;
        const wait = refused(() => l.take('a'));
        if (wait === undefined) taken.push(t);
        else {
          assert.ok(wait >= 1 && wait <= 61, String(wait));
          const kept = t;
          t += wait * 1000;
          if (refused(() => l.take('a')) !== undefined) assert.unreachable('still shut after the wait');
          taken.push(t);
          t = Math.max(t, kept);
        }
        taken = taken.filter((x) => x > t - 30_000);
        assert.ok(taken.length <= 20);
      }
    }),
  );
});

test('one key does not use up another, and quiet ones are forgotten', () => {
  let t = 0;
  const l = limit(1, 60, () => t);
  l.take('a');
  l.take('b');
  assert.ok(refused(() => l.take('a')));
  t = 200_000;
  l.sweep();
  l.take('a');
});

test('an IPv6 household counts as one, and IPv4 in any dress as itself', () => {
  assert.is(clientKey('203.0.113.9'), '203.0.113.9');
  assert.is(clientKey('::ffff:203.0.113.9'), '203.0.113.9');
  assert.is(clientKey('2001:db8:1:2:3:4:5:6'), clientKey('2001:db8:1:2::9'));
  assert.is.not(clientKey('2001:db8:1:2::1'), clientKey('2001:db8:1:3::1'));
  assert.is(clientKey('2001:0db8:0001:0002:0:0:0:1'), clientKey('2001:db8:1:2::9'));
});

test('a network has what eight of its clients have, and another network is undisturbed', () => {
  for (const address of [(i: number) => `2001:db8:1:${i}::1`, (i: number) => `198.51.100.${i}`]) {
    let t = 1_000_000;
    const l = addressLimit(5, 60, () => t);
    let taken = 0;
    for (let i = 0; i < 50; i++)
      for (let k = 0; k < 3; k++) if (refused(() => l.take(address(i))) === undefined) taken++;
    assert.is(taken, 40);
    l.take(address(0).replace('db8:1:', 'db8:2:').replace('51.100', '51.101'));
    // Those who were refused with their network have their own still: what was taken back counts nowhere.
    t += 200_000;
    const back = l.take(address(49));
    for (let i = 0; i < 4; i++) l.take(address(49));
    assert.ok(refused(() => l.take(address(49))));
    back();
    l.take(address(49));
    t += 200_000;
    l.sweep();
    l.take(address(49));
  }
});

test('bodies under way are counted until they end, once, by client, network and in all', () => {
  const u = openUploads({ client: 2, network: 3, all: 4 });
  const first = u.begin('198.51.100.1')!;
  u.begin('198.51.100.1');
  assert.is(u.begin('198.51.100.1'), undefined);
  u.begin('198.51.100.2');
  assert.is(u.begin('198.51.100.3'), undefined, 'of its network');
  u.begin('203.0.113.1');
  assert.is(u.begin('192.0.2.1'), undefined, 'of all');
  first();
  first();
  assert.ok(u.begin('192.0.2.1'));
  assert.is(u.begin('192.0.2.2'), undefined, 'an end counts once');
});

test('a client has 1,024 connections and its network 8,192, whoever has signed in on them', () => {
  const crowd = openCrowd();
  const come = (key: string) => {
    const guest = { key, kind: 'stranger' as const, cut: () => {} };
    crowd.came(guest);
    crowd.known(guest, 'browser');
    return guest;
  };
  const first = Array.from({ length: 1024 }, () => come('198.51.100.1'));
  assert.ok(crowd.isFull('198.51.100.1'));
  assert.not(crowd.isFull('198.51.100.2'), 'another client of its network');
  for (let client = 2; client <= 8; client++) for (let i = 0; i < 1024; i++) come(`198.51.100.${client}`);
  assert.ok(crowd.isFull('198.51.100.9'), 'its network');
  assert.not(crowd.isFull('198.51.101.1'), 'another network');
  crowd.left(first[0]!);
  assert.not(crowd.isFull('198.51.100.1'));
  assert.not(crowd.isFull('198.51.100.9'));
  assert.is(crowd.counts().browser, 8191);
});

test('a sid may send 8 MiB a second, and what it sends in one direction does not count in the other', () => {
  const link = newLink({ sid: 's', owner_id: 'o', subnet_id: 'n', stage: 'AUTH' }, newHub('h'));
  let sent = 0;
  while (allow(link, 'up', 65_535)) sent += 65_535;
  assert.ok(sent >= 16 * 1024 * 1024 - 65_535);
  assert.ok(allow(link, 'down', 65_535));
});

test('work is asked for from the threshold on, grows with the surge and fades with it', async () => {
  let t = 60_000_000;
  const mac = (x: string) => Buffer.alloc(32, x.length).toString('base64url');
  const s = openSurge(4, mac, () => t);
  const pow = () => {
    try {
      s.check('sid', '');
    } catch (e) {
      return (e as { details: { pow: { challenge: string; bits: number } } }).details.pow;
    }
    return undefined;
  };
  for (let i = 0; i < 3; i++) s.failed();
  assert.is(pow(), undefined);
  s.failed();
  const { challenge, bits } = pow()!;
  for (let i = 0; i < 400; i++) s.failed();
  assert.ok(pow()!.bits > bits && pow()!.bits <= 21);
  const solution = await solvePow(challenge, bits);
  assert.ok(verifyPow(solution, bits));
  t += 180_000;
  assert.is(pow(), undefined);
});

test('a place is a network cut short, whatever dress an address wears, and nothing of what is none', () => {
  for (const [ip, place] of [
    ['203.0.113.77', '203.0.113.0/24'],
    ['::ffff:203.0.113.77', '203.0.113.0/24'],
    ['2001:db8:12:3456::9', '2001:db8:12::/48'],
    ['2001:DB8::1', '2001:db8:0::/48'],
    ['::1', '0:0:0::/48'],
    ['unknown', ''],
    ['203.0.113.77:80', ''],
    ['<b>', ''],
    ['', ''],
  ] as const)
    assert.is(placeOf(ip), place, ip);
  fc.assert(fc.property(fc.ipV4(), (ip) => placeOf(ip) === `${ip.split('.').slice(0, 3).join('.')}.0/24`));
  fc.assert(fc.property(fc.ipV6(), (ip) => /^([0-9a-f]{1,4}:){3}:\/48$|\.0\/24$/.test(placeOf(ip))));
  fc.assert(fc.property(fc.string(), (text) => /^$|\/(24|48)$/.test(placeOf(text))));
});

test('root does not start with settings that make no sense', () => {
  const read = (...argv: string[]) => readConfig(argv, {});
  assert.throws(() => read('--port', 'x'), /--port/);
  assert.throws(() => read('--origin', 'http://hub.example'), /https/);
  assert.throws(() => read('--nonsense', '1'));
  assert.throws(() => read('--api', 'http://root.example'), /--api must be https/);
  assert.throws(() => read('--origin', 'nonsense'), /--origin must be https/);
  assert.is(read('--port', '9000').origin, 'http://localhost:9000');
  assert.equal([read().api, read().spa], [read().origin, 'dist/spa']);
  const apart = read('--origin', 'https://app.example/', '--api', 'https://root.example/');
  assert.equal([apart.origin, apart.api, apart.spa], ['https://app.example', 'https://root.example', '']);
  assert.is(read('--origin', 'https://app.example', '--api', 'https://app.example').spa, 'dist/spa');
  assert.is(readConfig([], { INGLE_ROOT_SPA: '' }).spa, '');
  assert.is(readConfig([], { INGLE_ROOT_MTLS_HEADER: 'X-Cert' }).mtlsHeader, 'x-cert');
});

test.run();
