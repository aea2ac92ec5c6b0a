// The hub's end of a data channel (node-datachannel, which is libdatachannel). Loaded when a browser asks for the first.
import { cleanup, type DataChannel, initLogger, PeerConnection } from 'node-datachannel';
import {
  type Description,
  MAX_MESSAGE_SIZE,
  readDescription,
  writeDescription,
} from '../protocol/direct/description.ts';
import type { TransportEvents } from '../protocol/direct/switch.ts';
import { IngleError } from '../protocol/errors.ts';

/** Until the addresses of this hub are known, and a STUN server has said its own, milliseconds. */
const GATHERING = 2000;
/** Until the data channel is open, milliseconds. */
const OPENING = 10_000;

export interface AnswerOptions {
  offer: Description;
  /** STUN servers, `stun:host:port`; with none the hub sends nothing to an address it was not called from. */
  stun: readonly string[];
  /** UDP ports, the first and the last. */
  ports: readonly [number, number];
  on: TransportEvents;
}

export interface Answer {
  description: Description;
  close(): void;
}

// Its own words go to the terminal, with addresses.
initLogger('Fatal', () => {});

/** Settles when all is gathered, or after a while with what there is. */
function gathered(peer: PeerConnection): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(resolve, GATHERING);
    peer.onGatheringStateChange((state) => {
      if (state !== 'complete') return;
      clearTimeout(late);
      resolve();
    });
  });
}

function bytesOf(m: string | Buffer | ArrayBuffer): Uint8Array {
  // A text is none of ours, and no message is empty: it ends the way.
  if (typeof m === 'string') return new Uint8Array(0);
  return m instanceof ArrayBuffer ? new Uint8Array(m) : m;
}

/** Tells of the data channel; `end` closes all of it. */
function follow(channel: DataChannel, on: TransportEvents, end: () => void): void {
  const late = setTimeout(end, OPENING);
  channel.onOpen(() => {
    clearTimeout(late);
    on.open({
      send(message) {
        try {
          channel.sendMessageBinary(message);
          return true;
        } catch {
          return false;
        }
      },
      close: end,
    });
  });
  channel.onMessage((m) => on.message(bytesOf(m)));
  channel.onClosed(() => {
    clearTimeout(late);
    end();
  });
  channel.onError(() => {});
}

/** Answers a browser's offer. @throws IngleError `unavailable` where the library finds no way */
export async function answerTo({ offer, stun, ports, on }: AnswerOptions): Promise<Answer> {
  const peer = new PeerConnection('ingle', {
    iceServers: [...stun],
    portRangeBegin: ports[0],
    portRangeEnd: ports[1],
    disableAutoNegotiation: true,
    maxMessageSize: MAX_MESSAGE_SIZE,
  });
  let closed = false;
  const end = () => {
    if (closed) return;
    closed = true;
    // Within a callback of the library's it would wait for itself.
    setImmediate(() => peer.close());
    on.closed();
  };
  try {
    peer.onStateChange((state) => {
      if (state === 'failed' || state === 'closed' || state === 'disconnected') end();
    });
    const all = gathered(peer);
    // Only who is behind another router must be called first; and its address is what a STUN server told it.
    const candidates = stun.length > 0 ? offer.candidates.filter((c) => c.includes(' typ srflx')) : [];
    peer.setRemoteDescription(writeDescription({ ...offer, candidates }, 'offer'), 'offer');
    follow(peer.createDataChannel('ingle', { negotiated: true, id: 0 }), on, end);
    peer.setLocalDescription('answer');
    await all;
    const description = closed ? null : readDescription(peer.localDescription()?.sdp ?? '');
    if (description && description.candidates.length > 0) return { description, close: end };
  } catch {}
  end();
  throw new IngleError('unavailable', 'There is no direct way.');
}

/** For good: ends the library's threads. */
export const endAll = cleanup;
