// One request and its answer: let in or refused by its head, its body gathered, answered whole or as a stream.
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { MAX_BODY } from '../../firmware/protocol/limits.ts';
import {
  type Admit,
  type Admitted,
  beginAnswer,
  errorResponse,
  type Head,
  type Response,
  readHead,
  type Streaming,
  writeAnswer,
} from './http.ts';
import { openPlaces, type Place } from './places.ts';

/** The largest refused body that is read to its end, bytes. */
const MAX_DROPPED = 16 * 1024 * 1024;
/** How long a client may take to send a body, milliseconds. */
const BODY_MS = 15_000;
/** The same of a large one, which comes through the relay of a slow line. */
const LARGE_MS = 300_000;
const LOOK_MS = 500;

/** A request while it is answered. */
interface Exchange extends Place {
  res: HttpResponse;
  /** This runs within uWebSockets' own call, which gathers what is written and sends it at its end. */
  isGathered: boolean;
  /** Its answer has no body. */
  isHead: boolean;
  /** Nothing more is to be answered. */
  aborted: boolean;
  /** Its body is too large; the refusal is written, and what still comes is dropped. */
  isRefused: boolean;
  admitted: Admitted | undefined;
  streaming: Streaming | undefined;
  /** Of its body, bytes, as its head says; NaN where it does not. */
  size: number;
  /** When its body began to come, on the clock of `performance`. */
  began: number;
  /** Called when the client has gone before its answer. */
  left: (() => void) | undefined;
}

const nothing = new Uint8Array();

/** Small ones share a slab, as memory of their own costs more than what is in them. */
function copyOf(chunk: ArrayBuffer): Uint8Array {
  const copy = Buffer.allocUnsafe(chunk.byteLength);
  copy.set(new Uint8Array(chunk));
  return copy;
}

export function openExchanges(admit: Admit) {
  const places = openPlaces();
  const arrivals = openArrivals((x) => {
    if (x.isRefused) x.res.close();
    else refuse(x, new IngleError('timeout', 'The request took too long to arrive.'));
  });
  let [streams, begun] = [0, 0];
  let closing = false;

  function leave(x: Exchange): void {
    if (!x.isTaken) return;
    places.leave(x);
    if (x.streaming) streams--;
  }
  /** The last word on a request that may still send. */
  function answer(x: Exchange, r: Response): void {
    arrivals.forget(x);
    if (respond(x, r)) streams++;
    leave(x);
    // What else comes of this body is read and dropped.
    x.aborted = true;
  }
  const refuse = (x: Exchange, cause: unknown) => answer(x, errorResponse(cause));
  const end = (x: Exchange, r: Response) => {
    if (respond(x, r)) streams++;
    else leave(x);
  };
  /** For what is not answered at once. */
  function wait(x: Exchange): void {
    x.isGathered = false;
    x.res.onAborted(() => {
      x.aborted = true;
      x.streaming?.stop();
      x.left?.();
      leave(x);
      arrivals.forget(x);
    });
  }
  function perform(x: Exchange, body: Uint8Array): void {
    let r: Response | Promise<Response>;
    try {
      r = x.admitted!.handle(body, (f) => {
        if (x.aborted) f();
        else x.left = f;
      });
    } catch (e) {
      r = errorResponse(e);
    }
    if (r instanceof Promise) r.catch(errorResponse).then((r) => end(x, r));
    else end(x, r);
  }
  /** What becomes of bodies; one for all, as to make it costs as much as to route. */
  const gathering: Gathering = {
    grown: (x, size) => places.makeRoom(x, size, x.admitted!.maxBody),
    // What still comes of it is dropped, and takes no place from others meanwhile.
    refused: leave,
    dropped: arrivals.forget,
    whole(x, body) {
      arrivals.forget(x);
      x.isGathered = true;
      perform(x, body);
      x.isGathered = false;
    },
  };

  /** Takes a place. @returns what goes on with the body, unless the answer is there already or needs none */
  function letIn(x: Exchange, head: Head): Admitted | undefined {
    try {
      if (closing) throw new IngleError('unavailable', 'The hub is stopping.');
      places.take(x);
      const said = admit(head);
      if (said instanceof Promise) {
        wait(x);
        said.catch(errorResponse).then((r) => answer(x, r));
      } else if ('handle' in said) {
        places.takeFor(x, said.who);
        x.admitted = said;
        x.size = Number(head.headers['content-length'] ?? Number.NaN);
        return said;
      } else answer(x, said);
    } catch (e) {
      refuse(x, e);
    }
    return undefined;
  }

  return {
    begin(res: HttpResponse, req: HttpRequest): void {
      begun++;
      const head = readHead(req);
      const x = exchangeOf(res, head);
      const admitted = letIn(x, head);
      if (!admitted) return;
      // Without these two a request has no body (RFC 9112, 6.3), and nothing is to be waited for.
      if (!head.headers['content-length'] && !head.headers['transfer-encoding']) {
        perform(x, nothing);
        if (x.isTaken) wait(x);
      } else {
        wait(x);
        arrivals.expect(x);
        gatherBody(x, admitted.isReadAtOnce ?? false, gathering);
      }
    },
    requests: (): number => places.requests(),
    streams: (): number => streams,
    /** Since the start. */
    begun: (): number => begun,
    /** Refuses new ones, and settles when those under way are answered or `graceMs` is over. */
    async close(graceMs: number): Promise<void> {
      closing = true;
      const end = Date.now() + graceMs;
      while (places.requests() > 0 && Date.now() < end) await new Promise((r) => setTimeout(r, 20));
      arrivals.stop();
    },
  };
}

/** All fields at once: objects of one shape are quick. */
function exchangeOf(res: HttpResponse, head: Head): Exchange {
  return {
    res,
    isGathered: true,
    isHead: head.method === 'HEAD',
    aborted: false,
    isRefused: false,
    isTaken: false,
    of: undefined,
    most: MAX_BODY,
    admitted: undefined,
    streaming: undefined,
    size: 0,
    began: 0,
    left: undefined,
  };
}

interface Gathering {
  /** Throws where there is no room for so many bytes. */
  grown(x: Exchange, size: number): void;
  /** There was no room. */
  refused(x: Exchange): void;
  /** Such a body has come to its end, or is not waited for any longer. */
  dropped(x: Exchange): void;
  /** One that is read at once is uWebSockets' own memory, which takes it back after this call. */
  whole(x: Exchange, body: Uint8Array): void;
}

function gatherBody(x: Exchange, isReadAtOnce: boolean, o: Gathering): void {
  let parts: Uint8Array[] = [];
  let size = 0;
  function grow(to: number): void {
    try {
      if (!x.isRefused) o.grown(x, to);
    } catch (e) {
      // All of it but its end: with that the connection would end, and who still sends might never read the answer.
      x.isRefused = true;
      parts = [];
      x.res.cork(() => beginAnswer(x.res, errorResponse(e), x.isHead));
      o.refused(x);
    }
  }
  function drop(isLast: boolean): void {
    if (!isLast && size <= MAX_DROPPED) return;
    x.aborted = true;
    o.dropped(x);
    // Whoever sends more than that is heard no longer.
    x.res.cork(() => void x.res.end(undefined, !isLast));
  }
  grow(x.size);
  x.res.onData((chunk, isLast) => {
    if (x.aborted) return;
    size += chunk.byteLength;
    grow(size);
    if (x.isRefused) return drop(isLast);
    if (isLast && isReadAtOnce && parts.length === 0) return o.whole(x, new Uint8Array(chunk));
    if (chunk.byteLength > 0) parts.push(copyOf(chunk));
    if (isLast) o.whole(x, parts.length > 1 ? Buffer.concat(parts) : (parts[0] ?? nothing));
  });
}

/** @returns whether the answer goes on */
function respond(x: Exchange, r: Response): boolean {
  if (x.aborted) return false;
  if (x.isGathered) writeAnswer(x.res, r, x.isHead);
  else x.res.cork(() => writeAnswer(x.res, r, x.isHead));
  if (x.isHead || !r.stream) return false;
  begin(x, r.stream);
  return true;
}

/** Begins a stream. */
function begin(x: Exchange, stream: NonNullable<Response['stream']>): void {
  const { res } = x;
  res.onWritable(() => {
    if (!x.aborted) x.streaming?.writable();
    return true;
  });
  x.streaming = stream((chunk) => {
    if (x.aborted) return false;
    let fine = false;
    res.cork(() => {
      fine = res.write(chunk);
    });
    return fine;
  });
}

/** Requests whose bodies are still to come. One timer for all, as most are there before one timer each were set. */
function openArrivals(late: (x: Exchange) => void) {
  const arriving = new Set<Exchange>();
  let looking: NodeJS.Timeout | undefined;
  function look(): void {
    looking = undefined;
    const now = performance.now();
    for (const x of arriving)
      if (now - x.began >= (x.most > MAX_BODY || x.isRefused ? LARGE_MS : BODY_MS)) late(x);
    if (arriving.size > 0) looking = setTimeout(look, LOOK_MS);
  }
  return {
    expect(x: Exchange): void {
      x.began = performance.now();
      arriving.add(x);
      looking ??= setTimeout(look, LOOK_MS);
    },
    forget: (x: Exchange): void => void arriving.delete(x),
    stop: (): void => clearTimeout(looking),
  };
}
