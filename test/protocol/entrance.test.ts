// By what a browser comes in: each purpose of a message 1 against each policy.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Policy } from '../../firmware/protocol/noise/channel.ts';
import { entrance, nextEpoch } from '../../firmware/protocol/noise/entrance.ts';
import { purpose } from '../../firmware/protocol/noise/transport.ts';
import { pairingWindow } from '../../firmware/protocol/pairing/pairing.ts';
import { resetReason } from '../../firmware/protocol/wire.ts';

const test = suite('entrance');
const browser = new Uint8Array(32).fill(1);
const open = () =>
  pairingWindow({ psk: new Uint8Array(32).fill(2), secret: '123456', expiresAt: Date.now() + 60_000 });
const over = () => pairingWindow({ psk: new Uint8Array(32).fill(2), secret: '123456', expiresAt: 0 });
const typedPsk = new Uint8Array(32).fill(3);
const nobody: Policy = { knows: () => false, window: () => null };
const fails = () => {
  throw new Error('the store is gone');
};

/** How a browser comes in, in a word; what it is told where it does not. */
async function comes(
  isPsk: boolean,
  why: number | undefined,
  policy: Partial<Policy>,
  proved: Parameters<typeof entrance>[2] = () => null,
): Promise<string> {
  const by = await entrance({ isPsk, why, browser }, { ...nobody, ...policy }, proved);
  if (typeof by !== 'number') return by.mode;
  return Object.entries(resetReason).find(([, n]) => n === by)![0];
}

test('without a code a browser comes in by its key alone, to start and to change keys', async () => {
  const knows = { knows: (key: Uint8Array) => key === browser };
  assert.is(await comes(false, purpose.start, knows), 'known');
  assert.is(await comes(false, purpose.rekey, knows), 'known');
  for (const why of [purpose.link, purpose.typed, purpose.sealed, 5, undefined])
    assert.is(await comes(false, why, knows), 'unknownBrowser', String(why));
  assert.is(await comes(false, purpose.start, { window: open }), 'unknownBrowser');
});

test('a link needs an open window, and gives its psk', async () => {
  const window = open();
  const by = await entrance(
    { isPsk: true, why: purpose.link, browser },
    { ...nobody, window: () => window },
    () => null,
  );
  assert.equal(by, { mode: 'link', window, psk: window.psk });
  assert.is(await comes(true, purpose.link, {}), 'noPairing');
  assert.is(await comes(true, purpose.link, { window: over }), 'noPairing');
  assert.is(await comes(true, purpose.link, { sealed: open }), 'noPairing');
});

test('a typed code needs its proof, while its window is open', async () => {
  const window = open();
  const by = await entrance({ isPsk: true, why: purpose.typed, browser }, nobody, (b) =>
    b === browser ? { psk: typedPsk, window } : null,
  );
  assert.equal(by, { mode: 'typed', window, psk: typedPsk });
  assert.is(await comes(true, purpose.typed, { window: open }), 'noPairing');
  assert.is(await comes(true, purpose.typed, {}, () => ({ psk: typedPsk, window: over() })), 'noPairing');
});

test('a sealed secret has its own window, where the policy has one', async () => {
  assert.is(await comes(true, purpose.sealed, { sealed: open }), 'sealed');
  assert.is(await comes(true, purpose.sealed, { sealed: over }), 'noPairing');
  assert.is(await comes(true, purpose.sealed, { window: open }), 'noPairing');
});

test('a code is good for pairing alone', async () => {
  const all = { knows: () => true, window: open, sealed: open };
  for (const why of [purpose.start, purpose.rekey, 5, undefined])
    assert.is(
      await comes(true, why, all, () => ({ psk: typedPsk, window: open() })),
      'noPairing',
      String(why),
    );
});

test('a policy that fails lets nobody in', async () => {
  const broken = { knows: fails, window: fails, sealed: fails };
  assert.is(await comes(false, purpose.start, broken), 'unknownBrowser');
  assert.is(await comes(true, purpose.link, broken), 'noPairing');
  assert.is(await comes(true, purpose.sealed, broken), 'noPairing');
  assert.is(
    await comes(true, purpose.link, { window: () => Promise.reject(new Error('late')) }),
    'noPairing',
  );
});

test('the next epoch is another than the last and than the one in use, and goes round', () => {
  assert.is(nextEpoch(4, undefined), 5);
  assert.is(nextEpoch(255, undefined), 0);
  assert.is(nextEpoch(4, 5), 6);
  assert.is(nextEpoch(254, 255), 0);
  assert.is(nextEpoch(255, 0), 1);
});

test.run();
