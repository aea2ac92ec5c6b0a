// Frames that have arrived and wait to be judged, one at a time and in order.
import { MAX_FRAME } from '../limits.ts';

/** Frames and bytes that may wait to be opened; a sender within its credit stays below. */
const MAX_FRAMES = 4096;
const MAX_BYTES = 20 * 1024 * 1024;

/** @param overflow called when more waits than may: none of it is judged any more */
export function openInbox(judge: (frame: Uint8Array, ctr: number) => Promise<void>, overflow: () => void) {
  let waiting: { frame: Uint8Array; ctr: number }[] = [];
  let bytes = 0;
  let judging = false;

  /** One frame after the other. */
  async function drain(): Promise<void> {
    judging = true;
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      bytes -= next.frame.length;
      // A fault of ours or of a listener must not silence the channel; it surfaces as uncaught.
      await judge(next.frame, next.ctr).catch((e) => queueMicrotask(() => Promise.reject(e)));
    }
    judging = false;
  }

  return {
    /** Takes a frame from the relay, whatever it holds. */
    put(frame: Uint8Array, ctr: number): void {
      if (!(frame instanceof Uint8Array) || frame.length < 2 || frame.length > MAX_FRAME) return;
      if (!Number.isSafeInteger(ctr) || ctr < 0) return;
      if (waiting.length >= MAX_FRAMES || bytes + frame.length > MAX_BYTES) {
        waiting = [];
        bytes = 0;
        overflow();
        return;
      }
      waiting.push({ frame, ctr });
      bytes += frame.length;
      if (!judging) void drain();
    },
  };
}
