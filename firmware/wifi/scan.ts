// What the radios have heard: the last look round, and whether it is fresh enough.
import { type Network, near, quietChannel } from './iw.ts';
import { oneRadio, type Shared } from './ports.ts';

export type Scan = ReturnType<typeof createScan>;

export function createScan({ radios, events, log, time }: Shared) {
  let seen: { networks: Network[]; at: number } | undefined;

  const isFresh = () => seen !== undefined && Date.now() - seen.at <= time.fresh;

  async function look(radio: string): Promise<void> {
    const networks = await radios.scan(radio);
    seen = { networks, at: Date.now() };
    events.scanDone(networks.length);
  }
  return {
    isFresh,
    look,
    /** The last look; undefined before the first. */
    get seen() {
      return seen;
    },
    /** The quietest channel for an access point on `radio`. */
    async channel(radio: string): Promise<number> {
      const missed = (e: unknown) => log.info('no scan before the access point', { error: e });
      if (isFresh() || oneRadio(radios)) {
        if (!isFresh()) await look(radio).catch(missed);
        return quietChannel(seen?.networks ?? []);
      }
      // The other radio looks at all bands, for seconds, once this one's beacons are in the air.
      return quietChannel((await radios.scan(radio, near).catch(missed)) ?? []);
    },
  };
}
