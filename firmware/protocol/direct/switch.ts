// A channel's two ways with a transport under the direct one: data channels come and go, one at a time counts.
import { type Left, openWays, type Way, type Ways, type WaysOptions } from './ways.ts';

/** How often silence and acknowledgements are looked after, milliseconds. */
const TICK = 250;

/** An open data channel, of whichever library. */
export interface Transport {
  /** False: it takes no more. */
  send(message: Uint8Array): boolean;
  /** May be called more than once; nothing comes of it afterwards that counts. */
  close(): void;
}

/** What a data channel tells. */
export interface TransportEvents {
  open(transport: Transport): void;
  message(message: Uint8Array): void;
  closed(): void;
}

export interface SwitchOptions extends Pick<WaysOptions, 'relay' | 'receive' | 'given'> {
  /** The next frame takes this way; `why` it is not the direct one any more. */
  changed(way: Way, why?: Left): void;
}

export interface Switch extends Pick<Ways, 'way' | 'settled' | 'send' | 'fromRelay' | 'anew'> {
  /** For a data channel that is being made; one that was made before counts no more. */
  next(): TransportEvents;
  /** Through root from now on, until a data channel opens that `next` has been called for since. */
  drop(): void;
}

export function openSwitch(o: SwitchOptions): Switch {
  let transport: Transport | undefined;
  let latest: TransportEvents | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;
  /**
   * Stands still while this process does: what has come meanwhile is read before anybody is taken to be silent.
   * Milliseconds.
   */
  let clock = 0;
  const ways = openWays({
    ...o,
    direct: (message) => transport?.send(message) ?? false,
    left(why) {
      clearInterval(timer);
      transport?.close();
      transport = latest = undefined;
      o.changed('relay', why);
    },
    now: () => clock,
  });
  function drop(): void {
    latest = undefined;
    ways.leave('closed');
  }
  return {
    get way() {
      return ways.way;
    },
    get settled() {
      return ways.settled;
    },
    send: ways.send,
    fromRelay: ways.fromRelay,
    anew() {
      latest = undefined;
      ways.anew();
    },
    next() {
      drop();
      const mine: TransportEvents = {
        open(opened) {
          if (latest !== mine || transport) return opened.close();
          transport = opened;
          ways.take();
          timer = setInterval(() => {
            clock += TICK;
            ways.tick();
          }, TICK);
          o.changed('direct');
        },
        message: (message) => void (latest === mine && ways.fromDirect(message)),
        closed: () => void (latest === mine && drop()),
      };
      latest = mine;
      return mine;
    },
    drop,
  };
}
