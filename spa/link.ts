// The way to the hub: the end-to-end channel in the route through root, the tunnel in that.
import { fromUtf8, utf8 } from '../firmware/protocol/bytes.ts';
import { fromBody, IngleError } from '../firmware/protocol/errors.ts';
import type { Access, Channel } from '../firmware/protocol/noise/channel.ts';
import { decodeControl, encodeControl } from '../firmware/protocol/noise/control.ts';
import { openQueue } from '../firmware/protocol/queue.ts';
import type { TunnelClient } from '../firmware/protocol/tunnel/tunnel.ts';
import { type Control, frameKind } from '../firmware/protocol/wire.ts';
import type { Suspicion } from '../firmware/text/channel.ts';
import { type Pin, read, write } from './database.ts';
import type { DirectWay } from './direct.ts';
import { browserKey } from './key.ts';
import { type Line, openLine, type Signed } from './line.ts';
import { reach } from './reach.ts';
import { changeSession, type Session, session } from './sid.ts';
import type { LinkState } from './store.ts';
import { trust } from './trust.ts';

/** What becomes of the way; each may come many times. */
export interface LinkEvents {
  /** @param direct without root between this browser and its hub */
  state(state: LinkState, direct: boolean): void;
  /** The hub itself has answered, after so many milliseconds. */
  answered(lag: number): void;
  /** The hub is `near`. */
  near(): void;
  /** The hub asks for an assertion before it lets this browser in. */
  asks(): void;
  hub(name: string): void;
  /** The hub has said no; nothing is tried again. */
  refused(error: IngleError): void;
  /** Somebody interferes. */
  alarm(reason: Suspicion): void;
  /** Nobody answered the proof of the typed code: it is not sent again, a new code is needed. */
  unanswered(): void;
  /** The typed second group or the link was wrong. */
  wrongCode(error: IngleError): void;
  /** Root no longer knows the session. */
  signedOut(): void;
  /** The same session is open elsewhere. */
  elsewhere(): void;
  /** This browser does not keep what it must. */
  trouble(e: unknown): void;
  /** The hub, or somebody on the way, says that the hub does not know this browser: nothing proves it. */
  unknown(): void;
}

export interface Link {
  readonly up: boolean;
  /** The hub is there and lets this browser in, as far as that is known before its welcome. */
  near(): boolean;
  /**
   * @param body is sent as JSON, or as it is where it comes in pieces
   * @param stop ends the request; without it the wait for an answer has its own bound
   * @throws IngleError what the hub said, or `unavailable` when it is not reached.
   */
  request<R>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
    stop?: AbortSignal,
  ): Promise<R>;
  websocket: TunnelClient['websocket'];
  /** For answers that are no JSON. @throws IngleError while the hub is not reached */
  tunnel(): TunnelClient;
  readonly hubId: string;
  /** The present handshake's hash: what a passkey signs for the hub. */
  handshake(): Uint8Array;
  /**
   * Hands an assertion over `handshake()` to the hub; settles when it is accepted.
   * @param label what the hub's owner calls this browser
   * @throws IngleError
   */
  assert(credential: { id: string }, label?: string): Promise<void>;
  close(): void;
}

const ASSERTION_WAIT = 20_000;
/** Until a request is answered, and one whose body is large, milliseconds. */
const ANSWER_WAIT = 30_000;
const UPLOAD_WAIT = 600_000;

const isPieces = (body: unknown): body is AsyncIterable<Uint8Array> =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body;

/** What of a request its body makes. */
function sent(body: unknown, headers: Record<string, string>, stop?: AbortSignal) {
  const signal = stop ?? AbortSignal.timeout(isPieces(body) ? UPLOAD_WAIT : ANSWER_WAIT);
  if (body === undefined) return { headers, signal };
  if (isPieces(body)) return { headers, body, signal };
  return {
    headers: { 'content-type': 'application/json', ...headers },
    body: utf8(JSON.stringify(body)),
    signal,
  };
}

/** Whom a pairing that fails is laid to. */
function suspicion(on: LinkEvents, isPairing: () => boolean) {
  let silence = false;
  let hubProof = false;
  return {
    frame(frame: Uint8Array): void {
      hubProof = frame[0] === frameKind.cpace4;
    },
    follow(channel: Channel, mode: Access['mode']): void {
      channel.on('alarm', (what) => {
        // Later on the channel drops a foreign frame and begins anew; while pairing there is no second try to trust.
        if (what === 'altered' && isPairing()) on.alarm(what);
        silence ||= what === 'no_answer';
      });
      channel.on('failed', (error) => {
        // A hub that knows another code says so at once; one that sends a false proof is not the hub.
        if (silence) on.unanswered();
        else if (hubProof) on.alarm('wrong_proof');
        else if (mode === 'typed') on.wrongCode(error);
        else on.refused(error);
      });
    },
  };
}

/** An assertion that waits for the hub's word on it. */
function openAssertion() {
  let answer: { resolve: () => void; reject: (e: IngleError) => void } | null = null;
  return {
    /** The hub's word; false where nobody waits for it. */
    settle(error?: IngleError): boolean {
      if (!answer) return false;
      if (error) answer.reject(error);
      else answer.resolve();
      return true;
    },
    async send(channel: Channel, credential: { id: string }, label: string): Promise<void> {
      const known = session()?.passkey;
      const said = new Promise<void>((resolve, reject) => {
        answer = { resolve, reject };
        setTimeout(() => reject(new IngleError('timeout', 'No answer.')), ASSERTION_WAIT);
      });
      said.catch(() => {});
      try {
        await channel.send(
          encodeControl({
            t: 'assertion',
            credential,
            label,
            ...(known?.id === credential.id ? { public_key: known.public_key } : {}),
          }),
        );
        await said;
      } finally {
        answer = null;
      }
    },
  };
}

/** Takes what the hub says of the direct way, whose code comes with the first word of it; false: it is of something else. */
function directWay(line: () => Line): (c: Control | null) => boolean {
  let direct: Promise<DirectWay> | undefined;
  return (c) => {
    if (c?.t !== 'direct' && c?.t !== 'answer') return false;
    direct ??= import('./direct.ts').then((m) => m.openDirect(line()));
    direct.then((d) => d.heard(c)).catch(() => {});
    return true;
  };
}

/** What there is while the hub is reached. @throws IngleError */
function reached<T>(it: T | null | undefined): T {
  if (!it) throw new IngleError('hub_offline', 'The hub is not reached.');
  return it;
}

/** @throws IngleError what the hub said */
function answered<R>(status: number, text: string): R {
  let json: unknown = null;
  try {
    json = JSON.parse(text);
  } catch {}
  if (status >= 400) throw fromBody(json, status);
  return json as R;
}

/** What this browser believes of the hub of a session, and where that is kept. */
const trusting = ({ access }: Session, hubId: string, pin: Pin | undefined) =>
  trust({
    ...{ hubId, pin, pairing: access !== undefined },
    proven: access?.mode === 'proven' ? access : undefined,
    keepPin: (p) => write('hubs', hubId, p),
    keepProven: (p) => void changeSession({ access: { mode: 'proven', ...p } }),
    paired: () => void changeSession({ access: undefined }),
  });

/** Opens the way for the signed-in session and keeps it open until `close`. @throws IngleError */
export async function openLink(on: LinkEvents): Promise<Link> {
  const s = session();
  if (!s?.session_jwt || !s.hub_id) throw new IngleError('unauthenticated', 'Not signed in.');
  const hubId = s.hub_id;
  const pin = await read('hubs', hubId);
  /** `cut`: root or the hub has gone since, and only a direct way that opens goes on with the same channel. */
  let admitted: '' | 'yes' | 'cut' = '';
  let closed = false;
  const hub = trusting(s, hubId, pin);
  const isOpen = () => line.channel()?.state === 'open';
  const isIn = () => admitted === 'yes';
  const near = () => isOpen() && admitted !== 'cut' && !hub.pairing;
  const suspect = suspicion(on, () => hub.pairing);
  const assertion = openAssertion();
  const ofDirect = directWay(() => line);
  /** What the hub does and says, one after the other. */
  const turn = openQueue();
  const inTurn = (work: () => void | Promise<void>) => {
    turn.add(work).catch(on.trouble);
  };
  const view = reach({
    ...on,
    route: () => line.route,
    open: isOpen,
    admitted: isIn,
    direct: () => line.direct(),
    beat: () => line.channel()?.beat(),
  });
  const line = openLine(s as Signed, await browserKey(), pin, {
    ...on,
    changed() {
      const { connected, status } = line.route;
      if (admitted && line.direct()) admitted = 'yes';
      else if (admitted && (!connected || !status.hub_online)) admitted = 'cut';
      view.tell();
    },
    begun: listen,
    frame: suspect.frame,
  });

  function listen(channel: Channel, mode: Access['mode']): void {
    channel.on('open', (o) =>
      inTurn(() => {
        hub.opened(o);
        view.opened(o.first);
        view.tell();
        if (near()) on.near();
      }),
    );
    channel.on('message', (plaintext) => inTurn(() => heard(plaintext)));
    channel.on('beat', view.heard);
    channel.on('lost', (why) => {
      admitted = '';
      view.lost();
      if (why === 'unknown_browser') on.unknown();
      view.tell();
    });
    // Whoever gets the proof may check one guess by it, so a page that is loaded again must not make another.
    channel.on('proving', () => changeSession({ access: undefined }));
    suspect.follow(channel, mode);
  }

  async function heard(plaintext: Uint8Array): Promise<void> {
    let control: Control | null = null;
    try {
      control = decodeControl(plaintext);
    } catch {}
    if (control?.t === 'serving') return view.serves(control.ok);
    if (ofDirect(control)) return;
    const said = control && (await hub.control(control));
    if (!said || closed) return;
    switch (said.t) {
      case 'welcome':
        admitted = said.admitted ? 'yes' : '';
        on.hub(said.name);
        if (said.asks) on.asks();
        return view.tell();
      case 'admitted':
        admitted = 'yes';
        assertion.settle();
        return view.tell();
      case 'refused':
        if (!assertion.settle(said.error)) on.refused(said.error);
        return;
      case 'alarm':
        return on.alarm(said.reason);
      case 'rekey':
        line.channel()?.rekey(said.hubStatic);
    }
  }

  const tunnel = () => reached(line.tunnel());
  return {
    get up() {
      return isIn() && isOpen();
    },
    near,
    async request(method, path, body, headers = {}, stop) {
      const r = await tunnel().request({ method, path, ...sent(body, headers, stop) });
      return answered(r.status, fromUtf8(await r.body()));
    },
    websocket: async (...of) => tunnel().websocket(...of),
    tunnel,
    hubId,
    handshake: () => reached(line.channel()?.current).hash,
    async assert(credential, label = '') {
      const channel = reached(line.channel());
      hub.signed(credential.id);
      await assertion.send(channel, credential, label);
    },
    close() {
      closed = true;
      view.close();
      line.close();
    },
  };
}
