import { createHash, createHmac } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isTicket, linkTicket, MAX_NAMED, passkeyName } from '../../firmware/protocol/pairing/ticket.ts';

const test = suite('tickets');

test('the ticket of a link is half an HMAC of its own purpose, and the name of a passkey a hash', async () => {
  const psk = new Uint8Array(32).fill(7);
  const mac = createHmac('sha256', psk).update('ingle link ticket').digest();
  assert.is(await linkTicket(psk), mac.subarray(0, 16).toString('base64url'));
  const hash = createHash('sha256').update('cred').digest('base64url');
  assert.is(await passkeyName('cred'), hash.slice(0, 22));
  assert.is(MAX_NAMED, 32);
});

test('a ticket is 22 characters of base64url, and nothing else', async () => {
  const ticket = await linkTicket(new Uint8Array(32));
  assert.ok(isTicket(ticket));
  for (const other of [
    `${ticket}A`,
    ticket.slice(1),
    `${ticket.slice(1)}+`,
    `${ticket}\n`,
    ` ${ticket}`,
    '',
    null,
    7,
  ])
    assert.not(isTicket(other), String(other));
  assert.not(isTicket([ticket]), 'a list that reads like one');
});

test.run();
