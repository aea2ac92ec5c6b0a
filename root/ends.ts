// One end of a way: a socket that is connected here, or one that is connected to another node (cluster/far.ts).

/** What root needs of an end; a Socket.IO socket is one. */
export interface End {
  /** false: it has gone. */
  readonly connected?: boolean;
  emit(event: string, ...message: unknown[]): unknown;
  /** Its acknowledgement is told what is late, if anything, and then the answer. */
  timeout?(ms: number): Pick<End, 'emit'>;
  /** Ends it as one side says it: a client of Socket.IO stays away. */
  disconnect(close?: boolean): unknown;
  /** `close` ends it as if its network had gone: its client comes back. */
  conn: { close(): unknown };
  /** Sends a relay frame, where that is not done on a WebSocket of this process. @returns false when it did not go out */
  frame?(ctr: number, frame: Uint8Array): boolean;
}
