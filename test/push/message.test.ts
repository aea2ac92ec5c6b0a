// What a browser is sent: for it alone, signed as this hub's, small enough for every push service.
import { createPublicKey } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { decodeProtectedHeader, jwtVerify } from 'jose';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { checkSubscription, noticeOf, pushRequest, type Subscription } from '../../firmware/push/message.ts';
import { openVapid } from '../../firmware/push/vapid.ts';
import { receiver } from '../lab/pushed.ts';

const dir = mkdtempSync(join(tmpdir(), 'ingle-push-'));
test.after(() => rmSync(dir, { recursive: true }));
const file = join(dir, 'push.key');
const key = openVapid(file);
const now = Math.floor(Date.now() / 1000);
const sign = { key, contact: 'mailto:hub@maker.example', now };
const phone = receiver();
const to: Subscription = {
  ...{ endpoint: 'https://push.example.org/wp/abc?x=1', p256dh: phone.p256dh, auth: phone.auth },
  language: 'en',
};
const title = { en: 'Porch', ru: 'Крыльцо' };
const line = (payload: Record<string, unknown>) => ({ skill_id: 'porch', payload });

test('the key is made once, for its owner alone, and is a point that a browser takes', () => {
  assert.is(openVapid(file).publicKey, key.publicKey);
  assert.is(statSync(file).mode & 0o777, 0o600);
  assert.match(key.publicKey, /^B[\w-]{86}$/);
  assert.not.throws(() => checkSubscription({ endpoint: to.endpoint, p256dh: key.publicKey }));
});

test('the browser reads what was told, and nobody else can', async () => {
  const notice = noticeOf(line({ title: 'Post', body: 'A parcel' }), { title, path: '/', language: 'en' });
  const r = await pushRequest(to, notice, sign);
  assert.equal(phone.read(r.body), {
    ...{ title: 'Porch', body: 'Post\nA parcel', path: '/', language: 'en' },
  });
  assert.throws(() => receiver().read(r.body));
  assert.not.match(Buffer.from(r.body).toString('latin1'), /parcel/);
  const again = await pushRequest(to, notice, sign);
  assert.not.equal(again.body, r.body, 'a key and salt of its own for each');
});

test('a push service sees whose it is, for how long, and that it is for this service', async () => {
  const notice = noticeOf(line({ title: 'Post', tag: 'post' }), { title, path: '/', language: 'en' });
  const { url, headers } = await pushRequest(to, notice, sign);
  assert.is(url, to.endpoint);
  const [, t, k] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(headers['authorization']!)!;
  assert.is(k, key.publicKey);
  assert.equal(decodeProtectedHeader(t!), { typ: 'JWT', alg: 'ES256' });
  const { payload } = await jwtVerify(t!, createPublicKey(key.privateKey));
  assert.equal(payload, { aud: 'https://push.example.org', sub: sign.contact, exp: now + 12 * 3600 });
  assert.is(headers['ttl'], '86400');
  assert.is(headers['content-encoding'], 'aes128gcm');
  // A tag is nobody's to read on the way, and the same one has the same topic.
  assert.match(headers['topic']!, /^[\w-]{32}$/);
  assert.is((await pushRequest(to, notice, sign)).headers['topic'], headers['topic']);
  const other = noticeOf(line({ title: 'Post', tag: 'door' }), { title, path: '/', language: 'en' });
  assert.is.not((await pushRequest(to, other, sign)).headers['topic'], headers['topic']);
});

test('it is told in the reader’s language, under the name of its skill', () => {
  const told = line({ title: { en: 'Post', ru: 'Почта' }, body: { en: 'A parcel' }, tag: 'post' });
  assert.equal(noticeOf(told, { title, path: '/s/porch/', language: 'ru' }), {
    ...{ title: 'Крыльцо', body: 'Почта\nA parcel', tag: 'porch:post', path: '/s/porch/', language: 'ru' },
  });
  assert.is(noticeOf(line({ title: 'x' }), { title: {}, path: '/', language: 'en' }).title, 'porch');
  assert.is(noticeOf(line({ title: 7, body: null }), { title, path: '/', language: 'en' }).body, '');
});

test('whatever a skill tells fits into what every push service takes, 4,096 bytes', () =>
  fc.assert(
    fc.asyncProperty(
      fc.record({
        title: fc.string({ unit: 'binary', maxLength: 600 }),
        body: fc.oneof(fc.string({ unit: 'binary', maxLength: 600 }), fc.constant('\u0001'.repeat(500))),
        tag: fc.string({ unit: 'binary', maxLength: 64 }),
      }),
      async (payload) => {
        const notice = noticeOf(line(payload), { title, path: '/', language: 'en' });
        const { body, headers } = await pushRequest(to, notice, sign);
        assert.ok(body.length <= 4096, `${body.length}`);
        assert.equal(phone.read(body), JSON.parse(JSON.stringify(notice)));
        assert.match(headers['topic']!, /^[\w-]{32}$/);
      },
    ),
    { numRuns: 100 },
  ));

test('what is no point of the curve is no subscription', () => {
  for (const p256dh of ['A'.repeat(87), key.publicKey.slice(1), `C${key.publicKey.slice(1)}`, ''])
    assert.throws(() => checkSubscription({ endpoint: to.endpoint, p256dh }), /P-256/);
  assert.throws(() => checkSubscription({ endpoint: 'https://', p256dh: key.publicKey }), /address/);
});

test.run();
