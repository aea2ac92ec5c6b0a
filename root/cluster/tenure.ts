// How long a node may act for the hubs that are at home in it. Redis grants it; while Redis is gone for everybody, the
// other nodes confirm that nobody can take its place. All times are milliseconds of a clock that only goes forward.

export interface Times {
  /** What Redis grants at a time, and how long before its end a node stops: clocks may differ by that much in it. */
  grant: number;
  margin: number;
  /** How often a node asks Redis, and the others. */
  beat: number;
  /** How long after a node's own question the answer to it counts: Redis was gone for the other one as well. */
  confirmed: number;
  /** How long Redis must answer a node before it takes hubs: by then who went on without Redis has come back, or ended. */
  settle: number;
}

export const times: Times = { grant: 3000, margin: 500, beat: 500, confirmed: 2000, settle: 4000 };

export interface Tenure {
  /** Redis granted what was asked at `asked`. */
  granted(asked: number): void;
  /** Every other node answered `asked` or later that Redis is gone. Without an end in between only. */
  confirmed(asked: number): void;
  /** Redis did not answer. */
  missed(): void;
  /** Whether this node may act. Once not, never again: it must begin anew. */
  holds(): boolean;
  /** Until when it may, as far as is known. */
  until(): number;
  /** Whether this node may take a hub nobody has. */
  mayTake(): boolean;
}

export function openTenure(now: () => number, t: Times = times): Tenure {
  let until = Number.NEGATIVE_INFINITY;
  let isOver = false;
  let answersSince: number | null = null;
  function holds(): boolean {
    // Before the first grant it has not begun, and what has not begun is not over.
    if (until === Number.NEGATIVE_INFINITY) return false;
    isOver ||= now() >= until;
    return !isOver;
  }
  return {
    granted(asked) {
      // The first one begins it.
      if (until === Number.NEGATIVE_INFINITY || holds()) until = Math.max(until, asked + t.grant - t.margin);
      answersSince ??= asked;
    },
    confirmed(asked) {
      if (holds()) until = Math.max(until, asked + t.confirmed);
    },
    missed() {
      answersSince = null;
    },
    holds,
    until: () => until,
    mayTake: () => holds() && answersSince !== null && now() - answersSince >= t.settle,
  };
}
