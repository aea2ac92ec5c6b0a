// What this browser says of itself when it connects to root, and with it the frame that begins its handshake with the
// hub: that spares a round trip (D172).
import { toBase64url } from '../firmware/protocol/bytes.ts';

/**
 * @param who says whose connection it is
 * @param opening told that a connection is being made. @returns whether a handshake begins, whose first frame comes to `take`
 */
export function openGreeting(who: () => object, opening: () => boolean) {
  /** The newest such frame that waits for a connection, and who waits for it. */
  let first: { frame: string; ctr: number } | undefined;
  let greet: (() => void) | undefined;
  /** One is on its way here; one has gone to root, which has said nothing since. */
  let begun = false;
  let gone = false;
  /** A root that is older takes none. */
  let takes = true;
  return {
    /** Begins while the connection is still on its way. */
    prepare(): void {
      begun = opening();
    },
    /** Socket.IO's `auth`. */
    auth(this: void, say: (auth: object) => void): void {
      greet = () => {
        gone = takes && first !== undefined;
        say({ ...who(), first: gone ? first : undefined });
        greet = first = undefined;
        begun = false;
      };
      if (first || !(begun || opening())) greet();
    },
    /** A frame that begins a handshake, while there is no connection. */
    take(frame: Uint8Array, ctr: number): void {
      first = { frame: toBase64url(frame), ctr };
      gone = false;
      greet?.();
    },
    /** Root did not understand it. */
    refused(): void {
      takes = false;
    },
    /** Root says how the route is. @returns whether it has just passed the frame on, if the route is bound */
    heard(): boolean {
      const was = gone;
      gone = false;
      // What is left over from before the connection is of a handshake that begins anew.
      first = undefined;
      return was;
    },
  };
}
