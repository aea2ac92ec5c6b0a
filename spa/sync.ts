// A document of the hub, kept the same over the tunnel (the y-websocket protocol on y-protocols).
import { createDecoder, readVarString, readVarUint } from 'lib0/decoding';
import { createEncoder, type Encoder, toUint8Array, writeVarUint } from 'lib0/encoding';
import { readSyncMessage, writeSyncStep1, writeUpdate } from 'y-protocols/sync.js';
import * as Y from 'yjs';
import { IngleError, isErrorCode } from '../firmware/protocol/errors.ts';
import type { TunnelSocket } from '../firmware/protocol/tunnel/tunnel.ts';
import type { Link } from './link.ts';

const kind = { sync: 0, auth: 2 } as const;
function message(write: (e: Encoder) => void): Uint8Array {
  const e = createEncoder();
  writeVarUint(e, kind.sync);
  write(e);
  return toUint8Array(e);
}
/** How long the hub may take to send a document, milliseconds. */
const JOIN_WAIT = 4000;

export interface Room {
  readonly doc: Y.Doc;
  /** The content as JSON. */
  content(): Record<string, unknown>;
  /** False while what is shown may be old. */
  readonly live: boolean;
  close(): void;
}

/**
 * Joins a document and stays joined until `close`.
 * @param changed called when content or `live` changed.
 * @param refused called when the hub does not let us join; it is tried again after `retry` resolves.
 */
export function joinRoom(
  key: string,
  link: () => Link | null,
  changed: () => void,
  refused: (e: IngleError) => void = () => {},
): Room {
  const doc = new Y.Doc();
  let socket: TunnelSocket | null = null;
  let live = false;
  let closed = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pause = 250;
  let attempt = 0;

  const send = (bytes: Uint8Array) => socket?.send(bytes).catch(() => {});
  doc.on('update', (update: Uint8Array, origin: unknown) => {
    if (origin !== 'hub') {
      void send(message((e) => writeUpdate(e, update)));
    }
    changed();
  });

  function hear(data: string | Uint8Array): void {
    if (typeof data === 'string') return;
    const d = createDecoder(data);
    const what = readVarUint(d);
    if (what === kind.auth) {
      readVarUint(d);
      const reason = readVarString(d);
      const code = reason.split(':')[0]!.trim();
      refused(new IngleError(isErrorCode(code) ? code : 'forbidden', reason));
    }
    if (what !== kind.sync) return;
    let step = 0;
    const answer = message((e) => {
      step = readSyncMessage(d, e, doc, 'hub');
    });
    // More than its kind.
    if (answer.length > 1) void send(answer);
    if (step === 1 && !live) {
      live = true;
      pause = 250;
      changed();
    }
  }

  async function join(): Promise<void> {
    clearTimeout(timer);
    if (closed || socket) return;
    const l = link();
    // The hub says its welcome first and answers this after it, so nobody waits for the one to ask for the other (D172).
    if (!l?.near()) return again();
    // A join that the hub does not answer, since a part of it died meanwhile, is begun anew.
    const mine = ++attempt;
    const unanswered = setTimeout(() => {
      if (mine !== attempt || live) return;
      const s = socket;
      socket = null;
      s?.close();
      void join();
    }, JOIN_WAIT);
    try {
      const s = await l.websocket(
        `/sync/${key}`,
        message((e) => writeSyncStep1(e, doc)),
      );
      if (closed || mine !== attempt) return s.close();
      socket = s;
      s.onmessage = hear;
      s.onclose = (error) => {
        if (socket !== s) return;
        socket = null;
        clearTimeout(unanswered);
        const was = live;
        live = false;
        if (error && error.status < 500 && error.code !== 'timeout') refused(error);
        if (was) changed();
        again();
      };
    } catch (e) {
      clearTimeout(unanswered);
      if (mine !== attempt) return;
      if (e instanceof IngleError && e.status < 500 && e.code !== 'timeout' && e.code !== 'rate_limited')
        refused(e);
      again();
    }
  }
  function again(): void {
    if (closed) return;
    clearTimeout(timer);
    timer = setTimeout(join, pause);
    pause = link()?.near() ? Math.min(2000, pause * 1.5) : 250;
  }
  void join();

  return {
    doc,
    content: () => doc.getMap('content').toJSON(),
    get live() {
      return live;
    },
    close() {
      closed = true;
      clearTimeout(timer);
      const s = socket;
      socket = null;
      s?.close();
      doc.destroy();
    },
  };
}
