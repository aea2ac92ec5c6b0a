// The way to the hub: the end-to-end channel in the route through root, the tunnel in that.
import { fromBase64url, fromUtf8, toBase64url, utf8 } from '../firmware/protocol/bytes.ts';
import { fromBody, IngleError } from '../firmware/protocol/errors.ts';
import type { Access, Channel } from '../firmware/protocol/noise/channel.ts';
import { decodeControl, encodeControl } from '../firmware/protocol/noise/control.ts';
import { initiator } from '../firmware/protocol/noise/initiator.ts';
import { openQueue } from '../firmware/protocol/queue.ts';
import { tunnelClient } from '../firmware/protocol/tunnel/client.ts';
import type { TunnelClient, TunnelSocket } from '../firmware/protocol/tunnel/tunnel.ts';
import { type Control, frameKind } from '../firmware/protocol/wire.ts';
import type { Suspicion } from '../firmware/text/channel.ts';
import { type Pin, read, write } from './database.ts';
import { browserKey } from './key.ts';
import { reach } from './reach.ts';
import { openRoute } from './route.ts';
import { changeSession, reserveCounter, type Session, session, startCounter } from './sid.ts';
import type { LinkState } from './store.ts';
import { trust } from './trust.ts';

/** What becomes of the way; each may come many times. */
export interface LinkEvents {
  state(state: LinkState): void;
  /** The hub itself has answered, after so many milliseconds. */
  answered(lag: number): void;
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
  websocket(path: string): Promise<TunnelSocket>;
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

function accessOf(s: Session, pin: Pin | undefined): Access | null {
  if (s.access?.mode === 'link')
    return {
      mode: 'link',
      hubStatic: fromBase64url(s.access.hubStatic),
      psk: fromBase64url(s.access.psk),
    };
  if (s.access?.mode === 'typed') return { mode: 'typed', secret: s.access.secret };
  if (s.access?.mode === 'proven') return { mode: 'known', hubStatic: fromBase64url(s.access.hubStatic) };
  return pin ? { mode: 'known', hubStatic: pin.hubStatic } : null;
}

/** Opens the way for the signed-in session and keeps it open until `close`. @throws IngleError */
export async function openLink(on: LinkEvents): Promise<Link> {
  const s = session();
  if (!s?.session_jwt || !s.hub_id) throw new IngleError('unauthenticated', 'Not signed in.');
  const { sid, hub_id: hubId, session_jwt: jwt } = s;
  const key = await browserKey();
  const pin = await read('hubs', hubId);
  /** INSECURE: the hub's secret comes through root, sealed; until it is here there is no access. */
  let sealed = s.access?.mode === 'sealed';
  let access = accessOf(s, pin);
  if (!access && !sealed) throw new IngleError('pairing_failed', 'This browser is not paired with the hub.');

  let channel: Channel | null = null;
  let tunnel: TunnelClient | null = null;
  let admitted = false;
  let closed = false;
  let hubProof = false;
  const hub = trust({
    ...{ hubId, pin, pairing: s.access !== undefined },
    proven: s.access?.mode === 'proven' ? s.access : undefined,
    keepPin: (p) => write('hubs', hubId, p),
    keepProven(p) {
      sealed = false;
      changeSession({ access: { mode: 'proven', ...p } });
    },
    paired: () => void changeSession({ access: undefined }),
  });
  /** What the hub does and says, one after the other. */
  const turn = openQueue();
  const inTurn = (work: () => void | Promise<void>) => {
    turn.add(work).catch(on.trouble);
  };
  let silence = false;
  let answer: { resolve: () => void; reject: (e: IngleError) => void } | null = null;

  const route = openRoute(
    {
      ...{ sid, session_jwt: jwt, browser_key_id: s.browser_key_id ?? '' },
      e2e_pubkey: toBase64url(key.publicKey),
      wantsSecret: () => sealed,
    },
    {
      changed() {
        if (!route.connected || !route.status.hub_online) admitted = false;
        view.tell();
      },
      bound: (secret) => (sealed ? void unsealed(secret) : shake()),
      frame(frame, ctr) {
        hubProof = frame[0] === frameKind.cpace4;
        channel?.receive(frame, ctr);
      },
      signedOut: on.signedOut,
      elsewhere: on.elsewhere,
    },
  );

  const view = reach({
    route: () => route,
    open: () => channel?.state === 'open',
    admitted: () => admitted,
    beat: () => channel?.beat(),
    state: on.state,
    answered: on.answered,
  });

  function shake(): void {
    if (channel) {
      channel.restart();
      return;
    }
    startCounter(sid);
    channel = initiator({
      sid,
      hubId,
      key,
      access: access!,
      counters: { reserve: async (count) => reserveCounter(sid, count) },
      timing: { handshake: 4000, backoff: 200, backoffMax: 2000 },
      send: route.send,
    });
    tunnel = tunnelClient(channel);
    channel.on('open', (o) =>
      inTurn(() => {
        hub.opened(o);
        view.opened(o.first);
        view.tell();
      }),
    );
    channel.on('message', (plaintext) => inTurn(() => heard(plaintext)));
    channel.on('beat', view.heard);
    channel.on('lost', (why) => {
      admitted = false;
      view.lost();
      if (why === 'unknown_browser') on.unknown();
      view.tell();
    });
    channel.on('alarm', (what) => {
      // Later on the channel drops a foreign frame and begins anew; while pairing there is no second try to trust.
      if (what === 'altered' && hub.pairing) on.alarm(what);
      silence ||= what === 'no_answer';
    });
    // Whoever gets the proof may check one guess by it, so a page that is loaded again must not make another.
    channel.on('proving', () => changeSession({ access: undefined }));
    channel.on('failed', (error) => {
      // A hub that knows another code says so at once; one that sends a false proof is not the hub.
      if (silence) on.unanswered();
      else if (hubProof) on.alarm('wrong_proof');
      else if (access!.mode === 'typed') on.wrongCode(error);
      else on.refused(error);
    });
  }

  /** Takes the sealed secret root hands over; a new one begins a new channel. */
  async function unsealed(given: string | undefined): Promise<void> {
    try {
      const { unseal } = await import('../firmware/protocol/noise/seal.ts');
      const secret = await unseal(fromBase64url(given ?? ''), key, sid, hubId!);
      access = { mode: 'sealed', ...secret };
    } catch {
      return on.refused(new IngleError('pairing_failed', 'The hub sent no secret: its debug mode is off.'));
    }
    if (!sealed || closed) return;
    tunnel?.close();
    channel?.close();
    channel = null;
    shake();
  }

  async function heard(plaintext: Uint8Array): Promise<void> {
    let control: Control | null = null;
    try {
      control = decodeControl(plaintext);
    } catch {}
    if (control?.t === 'serving') return view.serves(control.ok);
    const said = control && (await hub.control(control));
    if (!said || closed) return;
    switch (said.t) {
      case 'welcome':
        admitted = said.admitted;
        on.hub(said.name);
        if (said.asks) on.asks();
        return view.tell();
      case 'admitted':
        admitted = true;
        answer?.resolve();
        return view.tell();
      case 'refused':
        return answer ? answer.reject(said.error) : on.refused(said.error);
      case 'alarm':
        return on.alarm(said.reason);
      case 'rekey':
        channel?.rekey(said.hubStatic);
    }
  }

  return {
    get up() {
      return admitted && channel?.state === 'open';
    },
    async request<R>(
      method: string,
      path: string,
      body?: unknown,
      headers: Record<string, string> = {},
      stop?: AbortSignal,
    ) {
      if (!tunnel) throw new IngleError('hub_offline', 'The hub is not reached.');
      const r = await tunnel.request({
        method,
        path,
        ...sent(body, headers, stop),
      });
      const text = fromUtf8(await r.body());
      let json: unknown = null;
      try {
        json = text === '' ? null : JSON.parse(text);
      } catch {}
      if (r.status >= 400) throw fromBody(json, r.status);
      return json as R;
    },
    async websocket(path) {
      if (!tunnel) throw new IngleError('hub_offline', 'The hub is not reached.');
      return tunnel.websocket(path);
    },
    hubId,
    handshake() {
      if (!channel?.current) throw new IngleError('hub_offline', 'The hub is not reached.');
      return channel.current.hash;
    },
    async assert(credential, label = '') {
      if (!channel) throw new IngleError('hub_offline', 'The hub is not reached.');
      const known = session()?.passkey;
      const mine = known && credential.id === known.id ? known.public_key : undefined;
      hub.signed(credential.id);
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
            ...(mine ? { public_key: mine } : {}),
          }),
        );
        await said;
      } finally {
        answer = null;
      }
    },
    close() {
      closed = true;
      view.close();
      tunnel?.close();
      channel?.close();
      route.close();
    },
  };
}
