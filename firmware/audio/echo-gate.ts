// Whether what a microphone hears while the hub speaks is more than the hub itself. Energies only: the level of the
// hub's own voice is learnt from what it plays, frame by frame, and what stays below it is taken for it. No echo is
// subtracted, so a person who is quieter at the microphone than the hub is heard in its pauses only. Pure.
import { VAD_FRAME } from './vad.ts';

/** Latest that playback is heard after its start, frames of 30 ms: 1.5 s, with the start of a player. */
const MAX_LAG = 50;
/** Frames of playback that are compared before anything is decided, and after which the delay stands. */
const LEAST = 16;
const SETTLED = 100;
/** Correlation of both levels from which the microphone hears the hub at all. */
const HEARD = 0.5;
/** A room's ring, a frame: 60 dB in about half a second. */
const RING = 0.44;
/** Echo stays below this many times the level that nine tenths of its frames have. */
const MARGIN = 1.6;
/** So many frames without any likeness mean that nothing of the hub is heard: 2.4 s. */
const DEAF = 80;

export interface EchoGate {
  /** Takes the next frame of the microphone (480 samples at 16 kHz); true when it is louder than the hub itself. */
  feed(frame: Int16Array): boolean;
  /** Playback ends here. */
  cut(): void;
}

const powerOf = (x: ArrayLike<number>, from: number): number => {
  let sum = 0;
  for (let i = from; i < from + VAD_FRAME; i++) sum += (x[i] ?? 0) ** 2;
  return sum / VAD_FRAME;
};
const level = (power: number): number => Math.log(power + 1);

/** @param played what is played, 16 kHz, from the moment on from which frames are fed */
export function echoGate(played: Int16Array): EchoGate {
  const frames = Math.ceil(played.length / VAD_FRAME);
  const reference = Array.from({ length: frames }, (_, i) => powerOf(played, i * VAD_FRAME));
  const heard: number[] = [];
  /** Microphone to playback of frames that were echo. */
  const gains: number[] = [];
  let end = frames;
  let lag: number | undefined;
  let ring = 0;

  /** The power of playback that may be heard at a frame, with the ring of what was before. */
  function expected(at: number): number {
    // The delay is known to a frame or two only.
    let now = 0;
    for (let i = at - lag! - 2; i <= at - lag! + 2; i++)
      if (i >= 0 && i < end) now = Math.max(now, reference[i]!);
    ring = Math.max(now, ring * RING);
    return ring;
  }
  function gain(): number {
    const sorted = [...gains].sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length * 0.9)] ?? 0;
  }
  return {
    feed(frame) {
      const power = powerOf(frame, 0);
      const at = heard.push(power) - 1;
      if (at < SETTLED || lag === undefined) {
        const found = delay(heard, reference.slice(0, end));
        if (found !== lag) {
          lag = found;
          gains.length = 0;
          ring = 0;
          for (let i = 0; lag !== undefined && i < at; i++) learn(heard[i]!, expected(i));
        }
      }
      if (lag === undefined) return at > DEAF && power > MARGIN * floorOf(heard);
      const echo = expected(at);
      const isMore = power > MARGIN * (gain() * echo + floorOf(heard));
      if (!isMore) learn(power, echo);
      return isMore;
    },
    cut: () => {
      // What is on its way is still heard: the player's buffer is a few frames.
      end = Math.min(end, Math.max(0, heard.length - (lag ?? 0) + 10));
    },
  };
  function learn(power: number, echo: number): void {
    if (echo > 1000) gains.push(power / echo);
    if (gains.length > 200) gains.shift();
  }
}

/** The level of the room between words. */
function floorOf(heard: readonly number[]): number {
  const last = heard.slice(-100).sort((a, b) => a - b);
  return last[Math.floor(last.length * 0.1)]!;
}

/** By how many frames the levels of the microphone follow those of playback; undefined while they do not. */
function delay(heard: readonly number[], reference: readonly number[]): number | undefined {
  let best: { lag: number; r: number } | undefined;
  for (let lag = 0; lag <= MAX_LAG && heard.length - lag >= LEAST; lag++) {
    const r = likeness(heard.slice(lag, lag + reference.length), reference);
    if (r > HEARD && (!best || r > best.r)) best = { lag, r };
  }
  return best?.lag;
}

/** Pearson's correlation of levels, of as many frames as both have. */
function likeness(a: readonly number[], b: readonly number[]): number {
  const n = Math.min(a.length, b.length);
  if (n < LEAST) return 0;
  let [sa, sb, saa, sbb, sab] = [0, 0, 0, 0, 0];
  for (let i = 0; i < n; i++) {
    const [x, y] = [level(a[i]!), level(b[i]!)];
    sa += x;
    sb += y;
    saa += x * x;
    sbb += y * y;
    sab += x * y;
  }
  const of = (n * saa - sa * sa) * (n * sbb - sb * sb);
  return of > 0 ? (n * sab - sa * sb) / Math.sqrt(of) : 0;
}
