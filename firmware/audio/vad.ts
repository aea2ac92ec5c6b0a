// Voice activity by WebRTC's detector (libfvad compiled to WebAssembly; no model, no download).
import fvad from '@echogarden/fvad-wasm';

/** The detector works at this rate (recognisers take 16 kHz, 16 bit, mono). */
export const VAD_RATE = 16_000;
/** Samples a decision: 30 ms. */
export const VAD_FRAME = 480;

export interface VoiceDetector {
  /** Feeds 16 kHz samples of any length; true once enough of the last half second was speech. */
  feed(samples: Int16Array): boolean;
  /** Speech was there, and has ended since. */
  readonly ended: boolean;
  readonly spoken: boolean;
  /** How much of what was fed is speech, seconds. */
  readonly seconds: number;
  /** Forgets what it was fed: the next utterance begins. */
  again(): void;
  free(): void;
}

/** Frames of the last `WINDOW` (0.6 s) that must be speech to say that somebody speaks: 0.24 s. */
const WINDOW = 20;
const ENOUGH = 8;
/** Frames of silence after which an utterance has ended: 0.6 s. */
const PAUSE = 20;
/** 3 = least eager to call noise speech. */
const MODE = 3;
/** Below this level nothing counts as speech, whatever its shape: about -56 dB of full scale. */
const LEAST_RMS = 50;

/** A detector of its own state; free it when done. */
export async function voiceDetector(): Promise<VoiceDetector> {
  const wasm = await fvad();
  const state = wasm._fvad_new();
  wasm._fvad_set_mode(state, MODE);
  wasm._fvad_set_sample_rate(state, VAD_RATE);
  const buffer = wasm._malloc(2 * VAD_FRAME);
  const recent: boolean[] = [];
  let rest = new Int16Array(0);
  let spoken = false;
  let quiet = 0;
  let frames = 0;
  function frame(f: Int16Array): void {
    wasm.HEAP16.set(f, buffer >> 1);
    let power = 0;
    for (const v of f) power += v * v;
    const speech =
      wasm._fvad_process(state, buffer, VAD_FRAME) === 1 && Math.sqrt(power / VAD_FRAME) > LEAST_RMS;
    recent.push(speech);
    if (recent.length > WINDOW) recent.shift();
    if (recent.filter(Boolean).length >= ENOUGH) spoken = true;
    quiet = speech ? 0 : quiet + 1;
    if (speech) frames++;
  }
  return {
    feed(samples) {
      const all = new Int16Array(rest.length + samples.length);
      all.set(rest);
      all.set(samples, rest.length);
      let at = 0;
      for (; at + VAD_FRAME <= all.length; at += VAD_FRAME) frame(all.subarray(at, at + VAD_FRAME));
      rest = all.slice(at);
      return spoken;
    },
    get spoken() {
      return spoken;
    },
    get seconds() {
      return (frames * VAD_FRAME) / VAD_RATE;
    },
    get ended() {
      return spoken && quiet >= PAUSE;
    },
    again() {
      recent.length = 0;
      spoken = false;
      quiet = 0;
      frames = 0;
    },
    free() {
      wasm._free(buffer);
      wasm._fvad_free(state);
    },
  };
}
