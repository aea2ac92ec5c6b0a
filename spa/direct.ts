// The direct way to the hub: a data channel that is asked for inside the end-to-end channel, again when it has fallen.
import {
  checkedDescription,
  type Description,
  readDescription,
  writeDescription,
} from '../firmware/protocol/direct/description.ts';
import { openSwitch, type TransportEvents } from '../firmware/protocol/direct/switch.ts';
import type { Channel } from '../firmware/protocol/noise/channel.ts';
import { encodeControl } from '../firmware/protocol/noise/control.ts';
import type { Control } from '../firmware/protocol/wire.ts';
import { wantsDirect } from './direct-choice.ts';
import type { Line } from './line.ts';

/** Until the browser knows its addresses, and until the data channel is open, milliseconds. */
const GATHERING = 2000;
const OPENING = 10_000;
/** Before it is asked for once more, the first time and the longest, milliseconds. */
const PAUSE = 5000;
const PAUSE_MAX = 300_000;
/** One that stood for so long fell for a reason that may have passed, milliseconds. */
const GOOD = 60_000;

/** Settles when the browser has found all addresses, or after a while with those it has. */
function gathered(peer: RTCPeerConnection): Promise<void> {
  return new Promise((resolve) => {
    const look = () => peer.iceGatheringState === 'complete' && resolve();
    peer.addEventListener('icegatheringstatechange', look);
    setTimeout(resolve, GATHERING);
    look();
  });
}

/** One data channel, from the offer to its end. @param on its `closed` is told once, whatever ends it */
function connect(stun: readonly string[], on: TransportEvents) {
  const peer = new RTCPeerConnection(stun.length > 0 ? { iceServers: [{ urls: [...stun] }] } : {});
  const channel = peer.createDataChannel('ingle', { negotiated: true, id: 0 });
  channel.binaryType = 'arraybuffer';
  const late = setTimeout(close, OPENING);
  let closed = false;
  function close(): void {
    if (closed) return;
    closed = true;
    clearTimeout(late);
    peer.close();
    on.closed();
  }
  channel.onopen = () => {
    clearTimeout(late);
    on.open({
      send(message) {
        try {
          channel.send(message as Uint8Array<ArrayBuffer>);
          return true;
        } catch {
          return false;
        }
      },
      close,
    });
  };
  // A text is none of the hub's messages, and no message is empty: it ends the way.
  channel.onmessage = ({ data }) =>
    on.message(data instanceof ArrayBuffer ? new Uint8Array(data) : new Uint8Array(0));
  channel.onclose = close;
  peer.onconnectionstatechange = () => {
    if (peer.connectionState === 'failed') close();
  };
  return {
    close,
    /** What the hub is told of this end; null where there is nothing to tell. */
    async offer(): Promise<Description | null> {
      await peer.setLocalDescription();
      await gathered(peer);
      return closed ? null : readDescription(peer.localDescription?.sdp ?? '');
    },
    answered: (end: Description) =>
      peer.setRemoteDescription({ type: 'answer', sdp: writeDescription(end, 'answer') }),
  };
}

/** What is told of the direct way is for `heard`; nothing is done before the hub has said that there is one. */
export function openDirect(line: Pick<Line, 'channel' | 'detour'>) {
  /** The hub's STUN servers; undefined while it has not let this browser in. */
  let stun: readonly string[] | undefined;
  let trying: { id: number; end: ReturnType<typeof connect> } | undefined;
  let tries = 0;
  let pause = PAUSE;
  let again: ReturnType<typeof setTimeout> | undefined;
  let stood = Number.POSITIVE_INFINITY;

  let followed: Channel | null = null;
  const ways = line.detour((o) =>
    openSwitch({
      ...o,
      changed(way) {
        heed();
        stood = way === 'direct' ? performance.now() : Number.POSITIVE_INFINITY;
        o.changed(way);
      },
    }),
  );

  /** After a way that stood for a while the next is tried soon. */
  function heed(): void {
    if (performance.now() - stood > GOOD) pause = PAUSE;
  }
  function later(): void {
    clearTimeout(again);
    if (!stun) return;
    heed();
    again = setTimeout(() => void begin(), pause * (0.5 + Math.random() / 2));
    pause = Math.min(2 * pause, PAUSE_MAX);
  }
  function stop(): void {
    clearTimeout(again);
    const { end } = trying ?? {};
    trying = undefined;
    end?.close();
    ways.drop();
  }

  async function begin(): Promise<void> {
    clearTimeout(again);
    if (!stun || trying || !wantsDirect()) return;
    const id = ++tries;
    const events = ways.next();
    const closed = () => {
      events.closed();
      if (trying?.id !== id) return;
      trying = undefined;
      later();
    };
    try {
      const end = connect(stun, { ...events, closed });
      trying = { id, end };
      const own = await end.offer();
      if (own) await line.channel()?.send(encodeControl({ t: 'offer', id, end: own }));
    } catch {
      // A browser without WebRTC, or one that keeps it from pages; or the channel has fallen.
      stop();
    }
  }
  async function answered(c: Control & { t: 'answer' }): Promise<void> {
    if (c.id !== trying?.id) return;
    const { end } = trying;
    const theirs = checkedDescription(c.end);
    if (theirs) await end.answered(theirs).catch(end.close);
    else end.close();
  }

  const chosen = () => (wantsDirect() ? void begin() : stop());
  const woken = () => {
    pause = PAUSE;
    void begin();
  };
  /** The channel has fallen: its next one begins through root. */
  function lost(): void {
    stun = undefined;
    stop();
    ways.anew();
    removeEventListener('direct', chosen);
    removeEventListener('online', woken);
  }

  return {
    /** Takes what the hub says of the direct way. */
    heard(c: Control & ({ t: 'direct' } | { t: 'answer' })): void {
      if (c.t === 'answer') return void answered(c);
      const channel = line.channel();
      if (followed !== channel) channel?.on('lost', lost);
      followed = channel;
      stun = c.stun.filter((s) => /^stun:[\w.:[\]-]{1,128}$/.test(s)).slice(0, 4);
      addEventListener('direct', chosen);
      addEventListener('online', woken);
      void begin();
    },
  };
}

export type DirectWay = ReturnType<typeof openDirect>;
