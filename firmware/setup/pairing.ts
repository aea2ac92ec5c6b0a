// One pairing code for all channels: a new one closes the one before (io.ingle.Uplink1), so what was just spoken,
// shown or sent by one channel must not die of the next one's asking. Pure but for what `issue` does.

export interface Pairing {
  link: string;
  device_code: string;
  secret: string;
  /** Unix seconds. */
  expires_at: bigint;
}

/** Who asks setup for a pairing link waits so long: longer than setup waits for the link to root, milliseconds. */
export const PAIRING_MS = 60_000;

/** A code is given to everybody who asks within this time, milliseconds; who asks later wants a new one. */
const SHARED_MS = 60_000;

/** @param now milliseconds of a clock that never jumps */
export function sharedPairing(issue: () => Promise<Pairing>, now: () => number = () => performance.now()) {
  let held: { at: number; pairing: Promise<Pairing> } | undefined;
  return {
    /** @throws what `issue` throws; then nothing is held */
    get(): Promise<Pairing> {
      if (held && now() - held.at < SHARED_MS) return held.pairing;
      const mine = { at: now(), pairing: issue() };
      held = mine;
      mine.pairing.catch(() => {
        if (held === mine) held = undefined;
      });
      return mine.pairing;
    },
    /** The code was used, or burned by wrong tries. */
    drop(): void {
      held = undefined;
    },
  };
}
