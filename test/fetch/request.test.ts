// What a skill may ask for: addresses, hosts, headers, redirects. Pure.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isPublic } from '../../firmware/fetch/address.ts';
import { type Asked, BOUNDS, checkAsked, checkUrl, followed, handed } from '../../firmware/fetch/request.ts';
import type { IngleError } from '../../firmware/protocol/errors.ts';

const test = suite('what a skill may fetch');
const hosts = ['api.example.org', 'other.example.org'];
const asked = (a: Partial<Asked> = {}): Asked => ({
  url: 'https://api.example.org/v1',
  method: 'GET',
  headers: {},
  body: new Uint8Array(),
  ...a,
});
function refused(code: string, work: () => unknown, about = ''): void {
  try {
    work();
  } catch (e) {
    assert.is((e as IngleError).code, code, `${about} ${e}`);
    return;
  }
  assert.unreachable(`not refused: ${about}`);
}

test('an address at home, of the machine itself, of a cloud or of no host is not public', () => {
  for (const a of [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.255',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::a00:1',
    'fe80::1',
    'fe80::1%eth0',
    'fd00:ec2::254',
    'ff02::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    'localhost',
    '',
    '2130706433',
  ])
    assert.not.ok(isPublic(a), a);
  for (const a of ['8.8.8.8', '172.15.0.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1'])
    assert.ok(isPublic(a), a);
});

test('only https, the port of https and hosts of the manifest, spelled as they are', () => {
  assert.is(checkUrl('https://API.example.org:443/a?b#c', hosts).href, 'https://api.example.org/a?b');
  for (const url of [
    'https://example.org/',
    'https://sub.api.example.org/',
    'https://api.example.org./',
    'https://api.example.org.evil.net/',
    'https://8.8.8.8/',
    'https://[::1]/',
    'https://0x7f.1/',
  ])
    refused('forbidden', () => checkUrl(url, [...hosts, '8.8.8.8']), url);
  for (const url of [
    'http://api.example.org/',
    'ftp://api.example.org/',
    'file:///etc/passwd',
    'https://api.example.org:8443/',
    'https://user:word@api.example.org/',
    '//api.example.org/',
    '',
    `https://api.example.org/${'a'.repeat(BOUNDS.url)}`,
  ])
    refused('invalid_request', () => checkUrl(url, hosts), url);
  refused('forbidden', () => checkUrl('https://api.example.org/', []));
});

test('cookies, headers of the connection and the hub’s own name are not the skill’s to send', () => {
  const given = {
    Cookie: 'a=b',
    Connection: 'close',
    Host: 'other.example.org',
    'User-Agent': 'me',
    'Transfer-Encoding': 'chunked',
    'Content-Length': '9',
    'X-Forwarded-For': '10.0.0.1',
    'Proxy-Whatever': 'x',
    Authorization: 'Bearer k',
    'If-Modified-Since': 'then',
  };
  const { headers } = checkAsked(asked({ headers: given }), hosts);
  assert.equal({ ...headers }, { authorization: 'Bearer k', 'if-modified-since': 'then' });
});

test('what would break a request apart, or is too much of one, is refused', () => {
  for (const headers of [
    { 'a\r\nb': 'c' },
    { a: 'b\r\nHost: c' },
    { 'a b': 'c' },
    { '': 'c' },
    { a: 'ü\u2028' },
  ])
    refused(
      'invalid_request',
      () => checkAsked(asked({ headers: headers as never }), hosts),
      JSON.stringify(headers),
    );
  const many = Object.fromEntries(Array.from({ length: BOUNDS.headers + 1 }, (_, i) => [`h${i}`, 'v']));
  refused('too_large', () => checkAsked(asked({ headers: many }), hosts));
  refused('too_large', () => checkAsked(asked({ headers: { a: 'b'.repeat(BOUNDS.headerBytes) } }), hosts));
  const post = (n: number) => asked({ method: 'POST', body: new Uint8Array(n) });
  assert.is(checkAsked(post(BOUNDS.body), hosts).body.length, BOUNDS.body);
  refused('too_large', () => checkAsked(post(BOUNDS.body + 1), hosts));
  refused('invalid_request', () => checkAsked(asked({ body: new Uint8Array(1) }), hosts));
  for (const method of ['PUT', 'DELETE', 'CONNECT', 'get', ''])
    refused('invalid_request', () => checkAsked(asked({ method }), hosts), method);
});

test('a redirect stays among the hosts, and takes no proof of identity and no posted body along', () => {
  const sent = { authorization: 'k', 'content-type': 'text/plain', accept: 'a' };
  const post = checkAsked(asked({ method: 'POST', headers: sent, body: new Uint8Array(3) }), hosts);
  const away = followed(post, 302, 'https://other.example.org/b', hosts)!;
  assert.equal([away.method, away.body.length, { ...away.headers }], ['GET', 0, { accept: 'a' }]);
  const same = followed(post, 307, '/c', hosts)!;
  assert.equal([same.method, same.body.length, { ...same.headers }], ['POST', 3, sent]);
  assert.is(same.url.href, 'https://api.example.org/c');
  assert.is(followed(post, 200, '/c', hosts), undefined);
  assert.is(followed(post, 304, '/c', hosts), undefined);
  assert.is(followed(post, 301, undefined, hosts), undefined);
  refused('forbidden', () => followed(post, 302, 'https://evil.net/', hosts));
  refused('forbidden', () => followed(post, 302, 'https://169.254.169.254/', hosts));
  refused('invalid_request', () => followed(post, 302, 'http://api.example.org/', hosts));
  refused('invalid_request', () => followed(post, 302, 'https://', hosts));
});

test('an answer hands on its headers without cookies and those of the connection', () => {
  const raw = [
    'ETag',
    '"1"',
    'Set-Cookie',
    'a=b',
    'Connection',
    'close',
    'Vary',
    'a',
    'vary',
    'b',
    'X',
    'a\0b',
  ];
  assert.equal(handed(raw), { etag: '"1"', vary: 'a, b', x: 'ab' });
});

test.run();
