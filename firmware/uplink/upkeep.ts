// What the uplink does by the clock: renewal, telling root of a new key, forgetting what nobody uses.
import type { Connection } from './connection.ts';
import type { Core } from './core.ts';
import { renewalDue } from './proof.ts';

const HOUR = 3600;
/** Counters of web sessions silent for so long are forgotten, seconds; root forgets them after 12 hours. */
const COUNTERS_KEPT = 30 * 24 * HOUR;
/** A refused hub enrols its key anew after pauses that double from the first to the most, seconds. */
const REENROL_PAUSE = { first: 2, most: 60 };

/** @param subnet what the subnet has to tell root */
export function openUpkeep(core: Core, connection: () => Connection, subnet: () => Promise<void>) {
  const { place, store, ring, root, outside, now } = core;
  let mayEnrol = 0;
  let pause = REENROL_PAUSE.first;

  async function tellRoot(): Promise<void> {
    await place.refresh(root.rotate);
    await ring.told();
  }

  /** After each connect and every hour. */
  async function run(): Promise<void> {
    try {
      connection().sessions()?.sweep();
      await store.dropCounters(now() - COUNTERS_KEPT);
      if (!place.identity || !connection().isUp()) return;
      pause = REENROL_PAUSE.first;
      if (ring.keys.e2e[0]!.untold) await tellRoot();
      if (renewalDue(place.identity, now())) {
        const fresh = await place.refresh(root.renew);
        outside.notice('certificate renewed', { expires_at: fresh?.expires_at });
      }
      await subnet();
    } catch (e) {
      outside.warn('upkeep did not finish; it is tried again', { error: e as Error });
    }
  }

  const hourly = setInterval(() => void run(), HOUR * 1000);
  const sweeping = setInterval(() => connection().sessions()?.sweep(), 60_000);
  return {
    run,
    tellRoot,
    /** The certificate was refused: perhaps it ran out while the hub was off. The same key gets the same place. */
    reenrol(): void {
      // Not by the clock: a hub that was refused may be about to learn the time.
      const at = performance.now() / 1000;
      if (at < mayEnrol) return;
      mayEnrol = at + pause;
      pause = Math.min(2 * pause, REENROL_PAUSE.most);
      void place.enrol().catch((e) => outside.warn('could not enrol again', { error: e }));
    },
    stop(): void {
      clearInterval(hourly);
      clearInterval(sweeping);
    },
  };
}
