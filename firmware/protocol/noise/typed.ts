// A typed code on the browser's side: CPace until both ends have proved that they know it.
import { concat, random } from '../bytes.ts';
import { PROOF_SENDS } from '../limits.ts';
import { frameKind } from '../wire.ts';
import type { Attempts, Run } from './attempts.ts';
import type { Alarm } from './channel.ts';
import type { Link } from './transport.ts';
import type { Proven } from './whom.ts';
import type { KeyPair } from './x25519.ts';

export interface TypedOptions {
  l: Link;
  /** Who talks to whom, as in every handshake of the channel. */
  words: Uint8Array;
  key: KeyPair;
  tries: Attempts;
  /** Both ends know the code. */
  proven(keys: Proven): void;
  /** The hub's share was not one. */
  altered(): void;
  /** The code is not tried again without a person. */
  fail(message: string): void;
}

export interface TypedCode {
  /** Begins with a code, or says again what was said last: a run lasts over all losses. */
  go(secret: string): void;
  /** CPace 2: the hub's share. */
  shared(body: Uint8Array): Promise<void>;
  /** CPace 4: the hub's proof. */
  proved(body: Uint8Array): Promise<void>;
  /** The hub refuses the proof under way. @returns false when none is */
  refused(wrong: boolean): boolean;
}

export function typedCode(o: TypedOptions): TypedCode {
  const { l, tries } = o;
  /** Until the hub has proved itself. */
  let code: Run | null = null;

  function share(secret: string): void {
    tries.begin(async (mine, become) => {
      const { cpaceInitiator } = await import('../pairing/cpace.ts');
      const run = random(16);
      tries.own(run);
      const { ya, finish } = await cpaceInitiator({ secret, ci: o.words, sid: run }, o.key.publicKey);
      if (!mine()) return;
      const frame = concat(Uint8Array.of(frameKind.cpace1), run, ya, o.key.publicKey);
      code = { kind: 'cpace', run, frame, finish };
      become(code);
      await l.transmit(() => frame, mine);
    });
  }

  function fail(alarm: Alarm, message: string): void {
    l.alarm(alarm);
    o.fail(message);
  }
  /** Whoever got the proof has had a guess, so the code is not tried again without a person. */
  function unanswered(): void {
    fail(
      'no_answer',
      'The hub did not answer the proof of the code. The connection may be bad, or somebody is in between: ask the hub for a new code.',
    );
  }

  return {
    go(secret) {
      const r = code;
      if (!r) share(secret);
      else if (r.kind === 'proof' && ++r.sent > PROOF_SENDS) unanswered();
      else
        tries.begin(async (mine, become) => {
          become(r);
          await l.transmit(() => r.frame, mine);
        });
    },
    async shared(body) {
      const mine = tries.now;
      if (mine?.kind !== 'cpace' || body.length !== 80) return;
      if (!tries.isMine(body.slice(0, 16), mine.run)) return;
      const [yb, hubStatic] = [body.slice(16, 48), body.slice(48)];
      const keys = await mine.finish(yb, hubStatic).catch(() => null);
      if (tries.now !== mine) return;
      if (!keys) return o.altered();
      const { ta, tb, psk } = keys;
      const frame = concat(Uint8Array.of(frameKind.cpace3), mine.run, ta);
      code = { kind: 'proof', frame, sent: 1, tb, keys: { hubStatic, psk } };
      tries.become(code);
      l.emit('proving');
      await l.transmit(() => frame).catch(() => {});
    },
    async proved(body) {
      const mine = tries.now;
      if (mine?.kind !== 'proof') return;
      const { confirm } = await import('../pairing/cpace.ts');
      try {
        confirm(mine.tb, body);
      } catch {
        return fail(
          'wrong_code',
          'The hub did not prove that it knows the code. Somebody may be in between: ask the hub for a new code.',
        );
      }
      code = null;
      o.proven(mine.keys);
    },
    refused(wrong) {
      if (tries.now?.kind !== 'proof') return false;
      if (wrong)
        fail('wrong_code', 'The hub did not accept the code. Check it, or ask the hub for a new one.');
      else unanswered();
      return true;
    },
  };
}
