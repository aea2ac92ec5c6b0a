// The heartbeat: while the page is visible the hub is asked for a sign of life that only its own end can seal.

/**
 * Milliseconds between an answer and the next question, until an unanswered one shows, and until the socket is made
 * anew. So a silent hub shows after 3.1 s at most, and a page that is looked at costs about a megabyte an hour.
 */
export const PAUSE = 1300;
export const LATE = 1800;
export const LOST = 6000;

export interface HeartbeatOptions {
  /** Sends the question, unless that is `done`. */
  ask(done: boolean): void;
  /** No answer in time; one may still come. */
  late(): void;
  /** None for so long that the way itself is in doubt. */
  lost(): void;
  /** The present question's answer. */
  answered(ms: number): void;
}

/** One question is under way at a time. Nothing of it moves before `beat` and after `stop`. */
export function heartbeat(o: HeartbeatOptions) {
  let asked = Infinity;
  let timers: ReturnType<typeof setTimeout>[] = [];
  function stop(): void {
    for (const t of timers) clearTimeout(t);
    timers = [];
    asked = Infinity;
  }
  function beat(done = false): void {
    stop();
    // A question that was asked before may be answered now.
    asked = done ? 0 : performance.now();
    timers = [setTimeout(o.late, LATE), setTimeout(o.lost, LOST)];
    o.ask(done);
  }
  return {
    /** Asks now, and from then on. @param done the first question has been sent already */
    beat,
    stop,
    /** An answer that took `ms`; one to an earlier question says nothing of now. */
    heard(ms: number): void {
      if (performance.now() - ms < asked) return;
      stop();
      timers = [setTimeout(beat, PAUSE)];
      o.answered(ms);
    },
  };
}
