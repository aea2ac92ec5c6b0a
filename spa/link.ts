// The way to the hub: the socket to root, the end-to-end channel in it, the tunnel in that.
import { io, type Socket } from 'socket.io-client';
import { equal, fromBase64url, fromUtf8, toBase64url, utf8 } from '../firmware/protocol/bytes.ts';
import { type Access, type Channel, initiator, type Opened } from '../firmware/protocol/channel.ts';
import { decodeControl, encodeControl } from '../firmware/protocol/control.ts';
import { fromBody, IngleError, isErrorCode, toIngleError } from '../firmware/protocol/errors.ts';
import type { Suspicion } from '../firmware/protocol/text/channel.ts';
import { type TunnelClient, type TunnelSocket, tunnelClient } from '../firmware/protocol/tunnel.ts';
import {
  type BrowserToRoot,
  type Control,
  frameKind,
  type RootToBrowser,
  type RouteStatus,
} from '../firmware/protocol/wire.ts';
import { generate, type KeyPair, restore } from '../firmware/protocol/x25519.ts';
import { type Pin, read, write } from './database.ts';
import { post } from './rest.ts';
import { changeSession, reserveCounter, type Session, session, startCounter } from './session.ts';

type Welcome = Extract<Control, { t: 'welcome' }>;

/** What becomes of the way; each may come many times. */
export interface LinkEvents {
  /** `down`: no root; `offline`: no hub; `connecting`: shaking hands; `up`: streams may pass. */
  state(state: 'down' | 'connecting' | 'offline' | 'up', lag: number | null): void;
  /** The hub asks for an assertion before it lets this browser in. */
  asks(welcome: Welcome): void;
  hub(name: string): void;
  /** The hub has said no; nothing is tried again. */
  refused(error: IngleError): void;
  /** Somebody interferes. */
  alarm(reason: Suspicion): void;
  /** The typed second group or the link was wrong. */
  wrongCode(error: IngleError): void;
  /** Root no longer knows the session. */
  signedOut(): void;
  /** The same session is open elsewhere. */
  elsewhere(): void;
  /** The hub does not know this browser: pair anew. */
  unpaired(): void;
}

export interface Link {
  readonly up: boolean;
  /** @throws IngleError what the hub said, or `unavailable` when it is not reached. */
  request<R>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<R>;
  websocket(path: string): Promise<TunnelSocket>;
  /** Base64url of the present handshake's hash: what a passkey signs for the hub. */
  challenge(): string;
  /** Hands an assertion over `challenge()` to the hub; settles when it is accepted. @throws IngleError */
  assert(credential: unknown): Promise<void>;
  close(): void;
}

const ASSERTION_WAIT = 20_000;
/** A hub that is there answers an offer sooner, milliseconds. */
const UNANSWERED = 3000;

export async function browserKey(): Promise<KeyPair> {
  const kept = await read('keys', 'browser');
  if (kept) return restore(kept);
  const made = await generate();
  await write('keys', 'browser', made.stored);
  return made;
}

function accessOf(s: Session, pin: Pin | undefined): Access | null {
  if (s.access?.mode === 'link')
    return {
      mode: 'link',
      hubStatic: fromBase64url(s.access.hubStatic),
      psk: fromBase64url(s.access.psk),
    };
  if (s.access?.mode === 'typed') return { mode: 'typed', secret: s.access.secret };
  return pin ? { mode: 'known', hubStatic: pin.hubStatic } : null;
}

/** What the browser calls itself in the hub's list of browsers. */
function label(): string {
  const ua = navigator.userAgent;
  const browser = /Edg|Firefox|OPR|Chrome|Safari/.exec(ua)?.[0] ?? 'Browser';
  const system = /Android|iPhone|iPad|Windows|Mac OS|Linux/.exec(ua)?.[0] ?? '';
  return `${{ Edg: 'Edge', OPR: 'Opera' }[browser] ?? browser} ${system}`.trim();
}

/** Opens the way for the signed-in session and keeps it open until `close`. @throws IngleError */
export async function openLink(on: LinkEvents): Promise<Link> {
  const s = session();
  if (!s?.session_jwt || !s.hub_id) throw new IngleError('unauthenticated', 'Not signed in.');
  const { sid, hub_id: hubId, session_jwt: jwt } = s;
  const key = await browserKey();
  let pin = await read('hubs', hubId);
  /** INSECURE: the hub's secret comes through root, sealed; until it is here there is no access. */
  let sealed = s.access?.mode === 'sealed';
  let access = accessOf(s, pin);
  if (!access && !sealed) throw new IngleError('pairing_failed', 'This browser is not paired with the hub.');

  let channel: Channel | null = null;
  let tunnel: TunnelClient | null = null;
  let generation = -1;
  /** Root has answered owner.online on this socket. */
  let greeted = false;
  let admitted = false;
  let closed = false;
  let status: RouteStatus = { route: 'none', hub_online: false, lag_ms: null, generation: 0 };
  let hubProof = false;
  let unanswered: ReturnType<typeof setTimeout> | undefined;
  let answer: { resolve: () => void; reject: (e: IngleError) => void } | null = null;

  const socket: Socket<RootToBrowser, BrowserToRoot> = io('/owner', {
    transports: ['websocket'],
    auth: { session_jwt: jwt },
    reconnectionDelay: 200,
    reconnectionDelayMax: 1000,
    randomizationFactor: 0.3,
    timeout: 5000,
  });

  function tell(): void {
    if (closed) return;
    const at = !socket.connected
      ? 'down'
      : admitted && channel?.state === 'open'
        ? 'up'
        : status.hub_online
          ? 'connecting'
          : 'offline';
    on.state(at, status.lag_ms);
  }

  async function offer(): Promise<void> {
    try {
      await post('/v1/browser/pairing/offer', { sid, e2e_pubkey: toBase64url(key.publicKey) }, jwt);
    } catch (e) {
      const error = toIngleError(e);
      if (error.code === 'unauthenticated' || error.code === 'forbidden') on.signedOut();
      else if (!closed) setTimeout(offer, 1000);
    }
  }

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
      // Root may be away: a lost frame shows as a gap, and the handshake begins anew.
      send: (frame, ctr) => void socket.emit('relay.to_hub', { sid, frame, ctr }),
    });
    tunnel = tunnelClient(channel);
    channel.on('open', (o) => void opened(o));
    channel.on('message', (plaintext) => void heard(plaintext));
    channel.on('lost', (why) => {
      admitted = false;
      if (why === 'unknown_browser' && access!.mode === 'known') on.unpaired();
      tell();
    });
    channel.on('alarm', (what) => {
      // Later on the channel drops a foreign frame and begins anew; while pairing there is no second try to trust.
      if (what === 'altered' && !pin) on.alarm(what);
    });
    channel.on('failed', (error) => {
      // A hub that knows another code says so at once; one that sends a false proof is not the hub.
      if (hubProof) on.alarm('wrong_proof');
      else if (access!.mode === 'typed') on.wrongCode(error);
      else on.refused(error);
    });
  }

  /** Takes the sealed secret root hands over; a new one begins a new channel. */
  async function unsealed(given: string | undefined): Promise<void> {
    try {
      const { unseal } = await import('../firmware/protocol/seal.ts');
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

  async function opened(o: Opened): Promise<void> {
    if (o.mode !== 'known' || !pin || sealed) {
      pin = {
        hub_id: hubId!,
        name: pin?.name ?? '',
        owner_id: s!.owner_id ?? '',
        paired: Date.now(),
        ...pin,
        hubStatic: o.remoteStatic,
        insecure: sealed,
      };
      sealed = false;
      await write('hubs', hubId!, pin);
      changeSession({ access: undefined });
    }
    tell();
  }

  async function heard(plaintext: Uint8Array): Promise<void> {
    let control: Control | null;
    try {
      control = decodeControl(plaintext);
    } catch {
      return;
    }
    if (control?.t === 'welcome') {
      if (control.hub_id !== hubId) return on.alarm('hub_id');
      admitted = control.admitted;
      on.hub(control.hub_name);
      // The identity key is pinned once, with the static key; later ones must be signed by it.
      if (pin && (pin.name !== control.hub_name || !pin.signPub)) {
        pin = { ...pin, name: control.hub_name, signPub: pin.signPub ?? control.sign_pub };
        void write('hubs', hubId!, pin);
      }
      if (!control.admitted && control.need === 'assertion') on.asks(control);
      tell();
    } else if (control?.t === 'admitted') {
      admitted = true;
      answer?.resolve();
      tell();
    } else if (control?.t === 'refused') {
      const error = new IngleError(isErrorCode(control.error) ? control.error : 'forbidden', control.message);
      if (answer) answer.reject(error);
      else on.refused(error);
    } else if (control?.t === 'rotate' && pin) {
      const { followRotation } = await import('../firmware/protocol/follow.ts');
      try {
        const hubStatic = await followRotation(control, hubId!, pin.signPub ?? '');
        if (equal(hubStatic, pin.hubStatic)) return;
        pin = { ...pin, hubStatic };
      } catch {
        return on.alarm('rotate');
      }
      await write('hubs', hubId!, pin);
      channel?.rekey(pin.hubStatic);
    }
  }

  function routed(next: RouteStatus): void {
    status = next;
    if (greeted && next.route === 'bound' && next.hub_online && next.generation !== generation) {
      generation = next.generation;
      if (sealed) void unsealed(next.sealed_secret);
      else shake();
    }
    // A hub that had too many to answer at once dropped the question: it is put again.
    const waits = greeted && next.route === 'waiting' && next.hub_online;
    if (waits)
      unanswered ??= setTimeout(() => {
        unanswered = undefined;
        void offer();
      }, UNANSWERED);
    else {
      clearTimeout(unanswered);
      unanswered = undefined;
    }
    if (!next.hub_online) admitted = false;
    tell();
  }

  socket.on('connect', () => {
    generation = -1;
    greeted = false;
    socket.emit(
      'owner.online',
      { sid, session_jwt: jwt!, browser_key_id: s!.browser_key_id ?? '' },
      (ack) => {
        greeted = true;
        if (!ack.ok) {
          if (ack.error === 'unauthenticated' || ack.error === 'forbidden') on.signedOut();
          else socket.disconnect().connect();
          return;
        }
        // A route that is bound already stays: asking again would bind it anew and break the handshake under way.
        if (ack.route === 'bound' && (!sealed || ack.sealed_secret))
          routed({ ...status, ...ack, route: ack.route });
        else void offer();
      },
    );
    tell();
  });
  socket.on('connect_error', (e: Error & { data?: { error?: string } }) => {
    if (e.data?.error === 'unauthenticated' || e.data?.error === 'forbidden') on.signedOut();
    tell();
  });
  socket.on('disconnect', (reason) => {
    admitted = false;
    tell();
    // Root ends a socket by itself for two reasons: a newer one of this session, or the session's end.
    if (reason === 'io server disconnect' && !closed) void whyEnded();
  });
  socket.on('status', (next, ack) => {
    ack?.();
    routed(next);
  });
  socket.on('relay.to_browser', (m) => {
    if (m.sid !== sid) return;
    const frame = new Uint8Array(m.frame);
    hubProof = frame[0] === frameKind.cpace4;
    channel?.receive(frame, m.ctr);
  });

  async function whyEnded(): Promise<void> {
    try {
      await post('/v1/browser/pairing/offer', { sid, e2e_pubkey: toBase64url(key.publicKey) }, jwt);
      on.elsewhere();
    } catch (e) {
      const error = toIngleError(e);
      if (error.code === 'unavailable') socket.connect();
      else on.signedOut();
    }
  }
  // A phone that wakes up or finds its network again does not wait for the next try.
  const wake = () => {
    if (!socket.connected && document.visibilityState === 'visible') socket.disconnect().connect();
  };
  window.addEventListener('online', wake);
  document.addEventListener('visibilitychange', wake);

  return {
    get up() {
      return admitted && channel?.state === 'open';
    },
    async request<R>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
      if (!tunnel) throw new IngleError('hub_offline', 'The hub is not reached.');
      const r = await tunnel.request({
        method,
        path,
        headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: utf8(JSON.stringify(body)) }),
        signal: AbortSignal.timeout(30_000),
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
    challenge() {
      if (!channel?.current) throw new IngleError('hub_offline', 'The hub is not reached.');
      return toBase64url(channel.current.hash);
    },
    async assert(credential) {
      if (!channel) throw new IngleError('hub_offline', 'The hub is not reached.');
      const known = session()?.passkey;
      const mine = known && (credential as { id?: string }).id === known.id ? known.public_key : undefined;
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
            label: label(),
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
      clearTimeout(unanswered);
      window.removeEventListener('online', wake);
      document.removeEventListener('visibilitychange', wake);
      tunnel?.close();
      channel?.close();
      socket.disconnect();
    },
  };
}
