// HTTP and WebSocket in numbered streams over a channel's messages, with credit (D1).
import type { IngleError } from '../errors.ts';
import type { RequestHead, ResponseHead } from '../wire.ts';

export type Body = Uint8Array | AsyncIterable<Uint8Array>;

export interface TunnelResponse extends ResponseHead {
  /** The body as it comes; reading it slowly slows the sender. May be iterated once; leaving the loop cancels. */
  readonly stream: AsyncIterable<Uint8Array>;
  /** The whole body. @throws IngleError `too_large` over `maxBytes` (default 16 MiB), or what ended the stream. */
  body(maxBytes?: number): Promise<Uint8Array>;
  /** Lets go of the body. */
  cancel(): void;
}

/** One end of a WebSocket stream. */
export interface TunnelSocket {
  /** Sends a message (at most MAX_WS_MESSAGE bytes); settles when credit and channel took it. @throws IngleError */
  send(data: string | Uint8Array): Promise<void>;
  /** A promise it returns holds back further messages. */
  onmessage: (data: string | Uint8Array) => void | Promise<void>;
  /** Once, at the end: null when closed in order, else why. */
  onclose: (error: IngleError | null) => void;
  close(): void;
}

export interface TunnelClient {
  /**
   * One request.
   * @throws IngleError `unavailable` when the channel is not open or is lost on the way (ask again, or use the
   * outbox), `rate_limited` over MAX_STREAMS, `timeout` on `signal`, or the code the hub ended the stream with.
   */
  request(r: {
    method: string;
    path: string;
    headers?: Record<string, string>;
    body?: Body;
    signal?: AbortSignal;
  }): Promise<TunnelResponse>;
  /**
   * Opens a WebSocket; settles when the hub accepted it. Set its handlers at once: messages may follow.
   * @param first its first message, which goes along and spares a round trip @throws IngleError
   */
  websocket(path: string, first?: Uint8Array): Promise<TunnelSocket>;
  /** Ends all streams and lets go of the channel. */
  close(): void;
}

export interface TunnelHandlers {
  /** Answers one request; `signal` fires when the browser or the channel lets go. A throw becomes an error response. */
  request(
    head: RequestHead,
    body: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<ResponseHead & { body?: Body }>;
  /**
   * Takes or refuses a WebSocket: settle to accept (then messages flow), throw to refuse. Set the socket's handlers
   * before settling.
   */
  websocket(head: RequestHead, socket: TunnelSocket): Promise<void>;
}
