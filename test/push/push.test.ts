// Who is sent a notice, and what becomes of a browser that takes none any more.

import { generateKeyPairSync } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { Notice, PushRequest } from '../../firmware/push/message.ts';
import { openPush, pushSchema } from '../../firmware/push/push.ts';
import { openStore } from '../../firmware/system/store.ts';
import type { Language } from '../../firmware/text/i18n.ts';
import { receiver } from '../lab/pushed.ts';
import { until } from '../lab/wait.ts';

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const key = { publicKey: 'BKey', privateKey };
const notice = (language: Language): Notice => ({ title: 'Porch', body: language, path: '/', language });

async function setup(send: (r: PushRequest) => Promise<number> = async () => 201) {
  const store = await openStore(':memory:', [pushSchema]);
  const logged: string[] = [];
  const log = (what: string, more: unknown) => void logged.push(`${what} ${JSON.stringify(more)}`);
  const sent: PushRequest[] = [];
  const paired = new Set(['phone', 'laptop', 'theirs']);
  let now = 1_000_000;
  const push = openPush({
    ...{ store, key, contact: 'https://maker.example' },
    log: { error: log, warn: log, notice: log, info: log, debug: log },
    send(r) {
      sent.push(r);
      return send(r);
    },
    paired: async () => paired,
    now: () => now,
  });
  const keys = { phone: receiver(), laptop: receiver(), theirs: receiver() };
  const on = (browser: keyof typeof keys, owner_id = 'o1', language: Language = 'en') => {
    const { p256dh, auth } = keys[browser];
    return push.turnOn(browser, owner_id, {
      endpoint: `https://push.example/${browser}`,
      p256dh,
      auth,
      language,
    });
  };
  return {
    ...{ store, push, sent, logged, paired, keys, on },
    to: () => sent.map((r) => r.url.split('/').at(-1)).sort(),
    later: (ms: number) => {
      now += ms;
    },
  };
}

test('a person’s browsers are sent it, each in its language, and nobody else’s', async () => {
  const { push, on, sent, keys, to } = await setup();
  await on('phone');
  await on('laptop', 'o1', 'ru');
  await on('theirs', 'o2');
  push.tell('o1', notice);
  await until(() => sent.length === 2, 'two notices');
  assert.equal(to(), ['laptop', 'phone']);
  const body = (of: string) => sent.find((r) => r.url.endsWith(of))!.body;
  assert.is((keys.phone.read(body('phone')) as Notice).body, 'en');
  assert.is((keys.laptop.read(body('laptop')) as Notice).body, 'ru');
  push.tell('nobody', notice);
  push.tell('o2', notice);
  await until(() => sent.length === 3, 'the third');
  assert.equal(to(), ['laptop', 'phone', 'theirs']);
});

test('a browser has one place, and is asked for nothing once it is turned off, or its person gone', async () => {
  const { push, on, sent, to, store } = await setup();
  await on('phone');
  await on('phone');
  assert.is(await push.endpointOf('phone'), 'https://push.example/phone');
  assert.is(await push.endpointOf('laptop'), null);
  await on('laptop');
  await on('theirs', 'o2');
  await push.turnOff('phone');
  await push.forget('o2');
  push.tell('o2', notice);
  push.tell('o1', notice);
  await until(() => sent.length > 0, 'a notice');
  assert.equal(to(), ['laptop']);
  assert.equal(await store.all('SELECT browser FROM push'), [{ browser: 'laptop' }]);
});

test('a browser that was forgotten by the hub is sent nothing, and is not kept', async () => {
  const { push, on, sent, paired, to } = await setup();
  await on('phone');
  await on('laptop');
  paired.delete('phone');
  push.tell('o1', notice);
  await until(async () => (await push.endpointOf('phone')) === null, 'the phone gone');
  await until(() => sent.length > 0, 'a notice');
  assert.equal(to(), ['laptop']);
});

test('a subscription that is over is dropped; any other refusal, of a clock that is wrong too, drops nothing', async () => {
  for (const [status, stays] of [
    [404, false],
    [410, false],
    // A hub that has just woken in 1970 signs for a time that is over.
    [401, true],
    [403, true],
    [429, true],
    [500, true],
    [400, true],
    [302, true],
  ] as const) {
    const { push, on, sent, logged } = await setup(async () => status);
    await on('phone');
    push.tell('o1', notice);
    await until(() => logged.length === 1, `a word about ${status}`);
    assert.is(sent.length, 1);
    assert.is((await push.endpointOf('phone')) !== null, stays, `${status}`);
    assert.not.match(logged.join(), /https:|push\.example/, 'an address is as good as a secret');
  }
});

test('a push service that is silent holds up no other browser, and one that cannot be reached is tried again', async () => {
  let silent = () => {};
  let fails = true;
  const { push, on, sent, to, logged } = await setup(async (r) => {
    if (r.url.endsWith('phone')) await new Promise<void>((ok) => (silent = ok));
    else if (fails) throw new IngleError('unavailable', 'push.example cannot be reached.');
    return 201;
  });
  await on('phone');
  await on('laptop');
  push.tell('o1', notice);
  await until(() => logged.length === 1, 'the word of the laptop');
  assert.match(logged[0]!, /laptop.*unavailable/);
  fails = false;
  push.tell('o1', notice);
  await until(() => sent.length === 3, 'the laptop again');
  assert.equal(to(), ['laptop', 'laptop', 'phone'], 'the phone’s second one waits for its first');
  silent();
  await until(() => sent.length === 4, 'the phone’s second');
});

test('eleven at once are ten, a minute later there is one more, and who floods takes nothing from others', async () => {
  const { push, on, sent, to, later, logged } = await setup();
  await on('phone');
  await on('theirs', 'o2');
  for (let i = 0; i < 11; i++) push.tell('o1', notice);
  await until(() => logged.length === 1, 'one too many');
  await until(() => sent.length === 10, 'ten');
  push.tell('o2', notice);
  await until(() => to().includes('theirs'), 'the other person’s');
  later(61_000);
  push.tell('o1', notice);
  await until(() => sent.length === 12, 'one more');
});

test('a hub has places for 64 browsers, and one that is there may come again', async () => {
  const { push, on } = await setup();
  const { p256dh, auth } = receiver();
  const to = { endpoint: 'https://push.example/x', p256dh, auth, language: 'en' } as const;
  for (let i = 0; i < 64; i++) await push.turnOn(`b${i}`, 'o1', to);
  await push.turnOn('b3', 'o1', to);
  const e = (await on('phone').catch((x) => x)) as IngleError;
  assert.is(e.code, 'rate_limited');
  await push.turnOff('b3');
  await on('phone');
});

test.run();
