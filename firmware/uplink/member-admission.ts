// Who is behind a member's channel: root's certificate, and its own signature over this very handshake.
import { toBase64url } from '../protocol/bytes.ts';
import { IngleError, toIngleError } from '../protocol/errors.ts';
import type { Opened } from '../protocol/noise/channel.ts';
import { openQueue } from '../protocol/queue.ts';
import type { Control } from '../protocol/wire.ts';
import { type Belongs, type Papers, readPapers, type Shown } from '../subnet/papers.ts';
import type { Principal } from './headers.ts';
import type { Nodes } from './nodes.ts';
import type { RootKeys } from './root-answers.ts';

export interface MemberAdmissionOptions {
  nodes: Pick<Nodes, 'known' | 'isProven' | 'mayJoin' | 'admit'>;
  /** This hub. */
  hub: Belongs;
  /** What it shows of itself in this handshake. */
  papers(handshake: Uint8Array): Papers;
  /** Root's public keys. @throws IngleError `unavailable` */
  keys(): Promise<RootKeys>;
  /** Tells root that this hub lets another in. @throws IngleError */
  tell(hubId: string, signPub: string): Promise<unknown>;
  /** Streams may open from now on. */
  entered(): void;
  /** Unix seconds, by root's clock where that is known. */
  now(): number;
  send(control: Control): void;
}

/** Wrong papers a member may show in one handshake. */
const WRONG = 3;

/** Admission of one channel of a hub, anew at each of its handshakes; the keys of a channel that goes on change nothing. */
export function memberAdmission(o: MemberAdmissionOptions) {
  let handshake: Uint8Array = new Uint8Array(0);
  let id = '';
  let shown: Shown | undefined;
  let wrong = 0;
  const turn = openQueue();

  const mine = (s: Belongs): boolean => s.owner_id === o.hub.owner_id && s.subnet_id === o.hub.subnet_id;

  function opened(at: Opened): void {
    if (!at.first && id === toBase64url(at.remoteStatic)) return;
    handshake = at.hash;
    id = toBase64url(at.remoteStatic);
    shown = undefined;
    wrong = 0;
    o.send({ t: 'member', ...o.papers(at.hash) });
  }

  async function check(m: Papers): Promise<void> {
    const over = handshake;
    const me = id;
    try {
      if (wrong >= WRONG) throw new IngleError('rate_limited', 'Too many wrong papers. Connect again first.');
      const given = await readPapers(m, {
        ...{ side: 'member' as const, handshake: over, keys: await o.keys(), now: o.now() },
      });
      const known = o.nodes.known(me);
      if (known && (known.hub_id !== given.hub_id || known.sign_pub !== given.sign_pub))
        throw new IngleError('forbidden', 'This connection is of another member.');
      if (given.hub_id === o.hub.hub_id) throw new IngleError('forbidden', 'This is this very hub.');
      // Who is known and has its own place still did not hear that it was let in.
      if (!known || (known.state === 'joined' && !mine(given))) await letIn(given, me, over);
      if (over !== handshake || me !== id)
        throw new IngleError('unauthenticated', 'The handshake is over. Sign the new one.');
      if (mine(given)) shown = given;
      else if (known && known.state !== 'joined')
        throw new IngleError('forbidden', 'The certificate is of another owner or subnet.');
      o.send({ t: 'admitted', elevated_until: 0 });
      if (shown) o.entered();
    } catch (cause) {
      wrong++;
      const e = toIngleError(cause);
      o.send({ t: 'refused', error: e.code, message: e.message });
    }
  }

  /** A hub that knew the secret of a code: what root says of it is not asked, and root is told. @throws IngleError */
  async function letIn(given: Shown, static_pub: string, over: Uint8Array): Promise<void> {
    if (!o.nodes.isProven(static_pub) && !o.nodes.known(static_pub))
      throw new IngleError('pairing_failed', 'This hub is no member of the subnet. It needs an invitation.');
    const { hub_id, sign_pub } = given;
    o.nodes.mayJoin(given);
    await o.tell(hub_id, sign_pub);
    await o.nodes.admit({ hub_id, sign_pub, static_pub, bond: toBase64url(over) });
  }

  const admitted = (): boolean =>
    shown !== undefined && shown.expires_at > o.now() && o.nodes.known(id)?.hub_id === shown.hub_id;

  return {
    opened,
    control(m: Control): Promise<void> {
      if (m.t === 'member') return turn.add(() => check(m));
      o.send({ t: 'refused', error: 'invalid_request', message: 'A member says nothing of this kind.' });
      return Promise.resolve();
    },
    /** Whether streams may open now. */
    admitted,
    /** Base64url of the member's static key. */
    get browser(): string {
      return id;
    },
    /** @throws IngleError `unauthenticated` */
    principal(): Principal {
      if (!admitted()) throw new IngleError('unauthenticated', 'The hub waits for papers first.');
      return {
        ...{ owner_id: o.hub.owner_id, browser: id, role: 'member', elevated_until: 0 },
        hub: shown!.hub_id,
      };
    },
  };
}

export type MemberAdmission = ReturnType<typeof memberAdmission>;
