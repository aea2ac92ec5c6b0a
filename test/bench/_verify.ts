// The peer of the bench `login`: @simplewebauthn/server checks one assertion again and again, and nothing else.
import { verifyAuthenticationResponse } from '@simplewebauthn/server';
import { authenticator } from '../lab/authenticator.ts';

const origin = 'http://localhost';
const keys = authenticator(origin);
const key = keys.make('dXNlcg');
const challenge = Buffer.alloc(32, 7).toString('base64url');
const response = keys.get({ challenge, rpId: 'localhost' }, {}, key);
const check = () =>
  verifyAuthenticationResponse({
    response: response as unknown as Parameters<typeof verifyAuthenticationResponse>[0]['response'],
    ...{ expectedChallenge: challenge, expectedOrigin: origin, expectedRPID: 'localhost' },
    credential: { id: key.id, publicKey: new Uint8Array(Buffer.from(key.cose, 'base64url')), counter: 0 },
    requireUserVerification: true,
  });

/** Assertions checked in so many milliseconds, a second. */
async function rate(ms: number): Promise<number> {
  const began = performance.now();
  let n = 0;
  for (; performance.now() - began < ms; n++) if (!(await check()).verified) throw new Error('not verified');
  return n / ((performance.now() - began) / 1000);
}
await rate(1000);
console.log(await rate(Number(process.argv[2])));
