// Who is at a console: nobody, somebody, or somebody with the console secret, and for how long without a key. Pure.

export interface Attendance {
  /** A key came. */
  key(): void;
  /** A conversation begins, or is over: then nobody is inside any longer. */
  begin(): void;
  over(): void;
  /** The console secret was typed. */
  enter(): void;
  readonly inside: boolean;
  /**
   * What there is to do now: `break_off` ends the conversation as the person would, `leave` ends the console.
   * @param open setup has something to show or to ask, so the console stays
   */
  look(open: boolean): 'stay' | 'break_off' | 'leave';
}

/**
 * @param idleMs time without a key after which a conversation ends, and the console goes, milliseconds
 * @param now milliseconds of a clock that never jumps
 */
export function attendance(idleMs: number, now: () => number = () => performance.now()): Attendance {
  let resting = true;
  let inside = false;
  let last = now();
  let lastKey = last;
  return {
    key() {
      last = lastKey = now();
    },
    begin() {
      resting = false;
    },
    over() {
      resting = true;
      inside = false;
    },
    enter() {
      inside = true;
    },
    get inside() {
      return inside;
    },
    look(open) {
      if (open) last = now();
      // A line that somebody has unlocked does not stay so, whether setup is open or not.
      const leaves = now() - last >= idleMs || (inside && now() - lastKey >= idleMs);
      if (!leaves) return 'stay';
      if (!resting) return 'break_off';
      return open ? 'stay' : 'leave';
    },
  };
}
