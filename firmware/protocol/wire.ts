// What crosses between browser, root and hub, as types. Validators stand beside their users.

/** Web session stages, in the order a login goes through them (stage.ts has the moves). */
export type Stage = 'NEW' | 'PREAUTH' | 'WEBREG' | 'AUTH' | 'PAIRED' | 'ONLINE';

/** What a hub's proof is for, its claim `purpose`: one given for one thing serves no other (ARCHITECTURE D11). */
export type ProofPurpose =
  | 'enrol'
  | 'socket'
  | 'device-code'
  | 'renew'
  | 'rotate'
  | 'pairing-accept'
  | 'subnet-join'
  | 'subnet-route'
  | 'subnet-admit'
  | 'subnet-part';

/** What a hub says it can do, in hub.online. */
export interface HubCaps {
  version: string;
  e2e: string[];
  ui: string[];
  features: string[];
}

/** Socket.IO `/hub`, hub to root. Each is acknowledged with `Ack`. */
export interface HubToRoot {
  'hub.online': (m: { hub_id: string; subnet_id: string; caps: HubCaps }, ack?: (a: Ack) => void) => void;
  /** `sealed_secret` (base64url, seal.ts) only while the hub's insecure debug mode is on (ARCHITECTURE D35). */
  'pairing.accept': (
    m: { sid: string; hub_e2e_pub?: string; sealed_secret?: string },
    ack?: (a: Ack) => void,
  ) => void;
  'relay.to_browser': (m: RelayMessage) => void;
}

/** Socket.IO `/hub`, root to hub. */
export interface RootToHub {
  'pairing.request': (m: { sid: string; owner_id: string; subnet_id: string; browser_pub?: string }) => void;
  'relay.to_hub': (m: RelayMessage) => void;
  /** Also serves root to measure the round trip: the hub only acknowledges. */
  status: (m: { browsers: number }, ack?: () => void) => void;
  /** A file below a skill's /v1/ui/, for the owner (ARCHITECTURE D130); answered with its first piece. */
  'page.get': (m: PageAsked, ack: (a: PagePiece) => void) => void;
  /** Its next piece. */
  'page.next': (m: { id: string }, ack: (a: PagePiece) => void) => void;
  /** Nobody waits for the rest. */
  'page.stop': (m: { id: string }) => void;
  /** A session is over: what the hub has open for it goes, also where that does not pass root. */
  'session.over': (m: { sid: string }) => void;
  restart: (m: Restart) => void;
}

/** `id` is root's name for this file on its way; `path` is below /v1/ui/. */
export interface PageAsked {
  id: string;
  owner_id: string;
  skill_id: string;
  path: string;
}

/** A piece of a file; `type` comes with the first, after `end` there are no more. */
export type PagePiece =
  | { ok: true; type?: string; bytes: Uint8Array; end: boolean }
  | { ok: false; error: string; message: string };

/** Socket.IO `/owner`, browser to root. */
export interface BrowserToRoot {
  'owner.online': (
    m: { sid: string; session_jwt: string; browser_key_id: string },
    ack?: (a: Ack & Partial<RouteStatus>) => void,
  ) => void;
  /** The acknowledgement says that root has the frame, and no more. */
  'relay.to_hub': (m: RelayMessage, ack?: (a: Ack) => void) => void;
}

/** Socket.IO `/owner`, root to browser. */
export interface RootToBrowser {
  'relay.to_browser': (m: RelayMessage) => void;
  status: (m: RouteStatus, ack?: () => void) => void;
  restart: (m: Restart) => void;
}

/** Root ends soon; once the connection is gone, whoever knows this comes back at a random time within `in_ms` (heed.ts). */
export interface Restart {
  in_ms: number;
}

export type Ack = { ok: true } | { ok: false; error: string; message: string };

/** `frame` is opaque to root; `ctr` grows by one a frame, one counter a sid and direction. */
export interface RelayMessage {
  sid: string;
  frame: Uint8Array;
  ctr: number;
}

/** The `status` event. */
export interface RouteStatus {
  /** `none`: no route; `waiting`: asked for while the hub is away; `bound`: frames may pass. */
  route: 'none' | 'waiting' | 'bound';
  hub_online: boolean;
  /** Round trip browser-root plus root-hub, milliseconds; null until measured. */
  lag_ms: number | null;
  /** Grows each time the route is bound anew: the browser then shakes hands again. */
  generation: number;
  /** INSECURE, debug mode of the hub only: what `pairing.accept` carried, for as long as the route is bound. */
  sealed_secret?: string;
}

/** First byte of every relay frame. */
export const frameKind = {
  /** Noise IK, message 1 (browser to hub) and 2; 2 begins with the first 8 bytes of the 1 it answers. */
  ik1: 0x01,
  ik2: 0x02,
  /** `[epoch u8][Noise transport message]`, associated data = ctr as u64 big endian. */
  transport: 0x03,
  /** `[reason u8]` in the clear: "I hold no keys for this sid, shake hands again". A hint, never trusted. */
  reset: 0x04,
  /** Noise IKpsk2, message 1 and 2: pairing by link, or after CPace. */
  ikpsk1: 0x05,
  ikpsk2: 0x06,
  /**
   * CPace: `[run 16][share 32][browser static 32]`, `[run 16][share 32][hub static 32]`, browser's proof
   * `[run 16][Ta 64]`, hub's proof `[Tb 64]`.
   */
  cpace1: 0x10,
  cpace2: 0x11,
  cpace3: 0x12,
  cpace4: 0x13,
} as const;

/** What a `reset` frame says; never trusted. */
export const resetReason = { noKeys: 1, unknownBrowser: 2, noPairing: 3, wrongCode: 4 } as const;

/** First byte of every plaintext inside the channel. */
export const messageKind = {
  /** JSON `Control`. */
  control: 0x00,
  /** `[stream u32][flags u8][JSON head]` a request opens a stream (browser to hub). */
  open: 0x01,
  /** `[stream u32][flags u8][JSON head]` the response's head. */
  head: 0x02,
  /** `[stream u32][flags u8][bytes]` */
  data: 0x03,
  /** `[stream u32][bytes u32]` the receiver has consumed this many more. */
  credit: 0x04,
  /** `[stream u32][code utf-8]` the stream ends at once, with an error code. */
  reset: 0x05,
} as const;

/** Flags of open, head and data. */
export const flag = { end: 1, websocket: 2, text: 4, more: 8 } as const;

export interface RequestHead {
  method: string;
  path: string;
  headers: Record<string, string>;
}
export interface ResponseHead {
  status: number;
  headers: Record<string, string>;
}

/** Control messages inside the channel, after every handshake. */
export type Control =
  /** Hub: who I am, and what is still needed before streams may open. */
  | {
      t: 'welcome';
      hub_id: string;
      /** Whose hub this is, by its own word: root's is not taken. */
      owner_id: string;
      hub_name: string;
      version: string;
      admitted: boolean;
      /** `assertion` over this handshake (assertion.ts) by a passkey the hub has pinned, or by any when `first`. */
      need: null | 'assertion';
      first: boolean;
      /** Base64url of the hub's Ed25519 identity key: pinned at the first welcome, it vouches for later static keys. */
      sign_pub?: string;
      /** Until when admin skills are open to this browser, Unix seconds; 0 = not. */
      elevated_until: number;
    }
  /** Browser: an assertion over this handshake; `public_key` (COSE, base64url) is used for a first pin only. */
  | { t: 'assertion'; credential: unknown; public_key?: string; label?: string }
  /** Hub: you are in (or elevated). */
  | { t: 'admitted'; elevated_until: number }
  /** Hub: you are not; `error` as in the error table. */
  | { t: 'refused'; error: string; message: string }
  /** Hub, to a member of its subnet: there is something to do; it asks what. */
  | { t: 'work' }
  /** Hub, to a browser it has let in: a data channel may be asked for; the STUN servers this hub uses, `stun:host:port`. */
  | { t: 'direct'; stun: string[] }
  /** Browser: its end of a data channel (direct/description.ts); `id` is told again in the answer. */
  | { t: 'offer'; id: number; end: object }
  /** Hub: its own end, or none: there is no direct way. */
  | { t: 'answer'; id: number; end?: object }
  /** Hub: whether the part of it that serves skills answers; said when that changes. */
  | { t: 'serving'; ok: boolean }
  /** Between hubs of a subnet, each to the other: root's certificate, and a signature over this handshake. */
  | { t: 'member'; certificate: string; signature: string }
  /** Hub: my next static key, signed by the present Ed25519 identity key; the browser pins it and shakes hands. */
  | { t: 'rotate'; e2e_pub: string; sign_pub: string; signature: string };
