// Writing a relay frame: the packet Socket.IO would make, straight onto the WebSocket.
import { MAX_FRAME } from '../firmware/protocol/limits.ts';
import type { Backlog, Receiver } from './backlog.ts';
import type { End } from './ends.ts';

/** What engine.io keeps under a Socket.IO socket on uWebSockets.js. */
interface Line {
  conn: { transport: { socket?: WebSocketLine; gate?: Receiver } };
}
interface WebSocketLine {
  /** 1 sent, 0 sent or queued with backpressure, 2 dropped. */
  send(data: string | Uint8Array, binary?: boolean): number;
  cork(work: () => void): void;
  getBufferedAmount(): number;
  close(): void;
}

/** Bytes that may wait for a slow receiver before it is cut off. */
export const MAX_WAITING = { browser: 4 * 1024 * 1024, hub: 16 * 1024 * 1024 } as const;

/** Everything of a packet that does not change (Socket.IO protocol 5: a binary event with one attachment). */
const heads = {
  hub: (sid: string) =>
    `451-/hub,["relay.to_hub",{"sid":"${sid}","frame":{"_placeholder":true,"num":0},"ctr":`,
  browser: (sid: string) =>
    `451-/owner,["relay.to_browser",{"sid":"${sid}","frame":{"_placeholder":true,"num":0},"ctr":`,
} as const;

// One cork for both messages is one system call; module variables spare a closure a frame.
let line: WebSocketLine;
let text = '';
let bytes: Uint8Array;
let result = 1;
const write = () => {
  line.send(text);
  result = line.send(bytes, true);
};

/**
 * Sends a frame to one side. Socket.IO's own emit would copy, scan and encode the same three fields again.
 * A receiver that is too far behind is cut off at once, as if its network had gone: it will connect again. So is one
 * that makes too much wait together with others (`Backlog`).
 * @returns false when the frame did not go out
 */
export function sendFrame(
  backlog: Backlog,
  to: End,
  side: keyof typeof heads,
  sid: string,
  ctr: number,
  frame: Uint8Array,
): boolean {
  if (to.frame) return to.frame(ctr, frame);
  const { socket: ws, gate } = (to as unknown as Line).conn.transport;
  if (!ws) return false;
  line = ws;
  text = `${heads[side](sid)}${ctr}}]`;
  bytes = frame;
  try {
    ws.cork(write);
    if (result === 1) return true;
    const waiting = ws.getBufferedAmount();
    if (result === 0 && waiting <= MAX_WAITING[side]) return !gate || backlog.note(gate, waiting);
    ws.close();
    return false;
  } catch {
    // uWebSockets.js throws on a socket that has just closed.
    return false;
  }
}

/** What relay frames may be: 1 to MAX_FRAME bytes. */
export function isFrame(frame: unknown): frame is Uint8Array {
  return frame instanceof Uint8Array && frame.length > 0 && frame.length <= MAX_FRAME;
}
/** What numbers a frame of one direction: a whole number from 0 on. */
export function isCounter(ctr: unknown): ctr is number {
  return typeof ctr === 'number' && Number.isSafeInteger(ctr) && ctr >= 0;
}
