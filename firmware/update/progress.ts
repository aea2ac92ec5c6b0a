// How far an update is, told no more often than anybody can read.

export interface Progress {
  step: string;
  /** -1: not known. */
  percent: number;
  bytes: number;
  total: number;
}

const none: Progress = { step: '', percent: -1, bytes: 0, total: 0 };

/** Between two signals of one step, milliseconds: one for each packet would flood the bus. */
const PAUSE_MS = 250;

export function openTelling(say: (step: string, percent: number, bytes: number, total: number) => void) {
  let now = none;
  let told = 0;
  return {
    now: (): Progress => now,
    reset(): void {
      now = none;
    },
    tell(step: string, percent: number, bytes = 0, total = 0): void {
      const same = now.step === step && percent < 100;
      now = { step, percent, bytes, total };
      if (same && Date.now() - told < PAUSE_MS) return;
      told = Date.now();
      say(step, percent, bytes, total);
    },
  };
}
