// The part of libfvad (WebRTC's voice activity detector) that vad.ts uses; the package brings no types.
declare module '@echogarden/fvad-wasm' {
  interface Fvad {
    HEAP16: Int16Array;
    _malloc(bytes: number): number;
    _free(pointer: number): void;
    _fvad_new(): number;
    _fvad_free(state: number): void;
    _fvad_set_mode(state: number, mode: number): number;
    _fvad_set_sample_rate(state: number, rate: number): number;
    /** 1 speech, 0 none, -1 a length that is not 10, 20 or 30 ms. */
    _fvad_process(state: number, samples: number, length: number): number;
  }
  export default function fvad(): Promise<Fvad>;
}
