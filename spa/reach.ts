// How the hub is reached, for the screen: told by its own answers, by root and by this browser, each for what it knows.
import { heartbeat } from './heartbeat.ts';
import type { Route } from './route.ts';
import type { LinkState } from './store.ts';

/** A hub that is there has shaken hands sooner, milliseconds. */
const SHAKING_WAIT = 4000;

export interface ReachOptions {
  route(): Pick<Route, 'connected' | 'status' | 'acknowledged' | 'renew'>;
  /** Whether the channel to the hub stands. */
  open(): boolean;
  /** Frames reach the hub without root. */
  direct(): boolean;
  /** Whether the hub has let this browser in. */
  admitted(): boolean;
  /** Asks the hub for a sign of life. */
  beat(): void;
  /** @param direct as `direct()` says now */
  state(state: LinkState, direct: boolean): void;
  /** The hub itself has answered, after so many milliseconds. */
  answered(lag: number): void;
}

/** Follows one link until `close`. `look` and `tell` are for the caller to say that something changed. */
export function reach(o: ReachOptions) {
  let closed = false;
  /** The browser has said that it has no network, and nothing has come since. */
  let cut = false;
  let serving = true;
  /** Of the present question, or the present handshake: no answer in time. */
  let late = false;
  let asked = 0;
  let shaking: ReturnType<typeof setTimeout> | undefined;
  const pulse = heartbeat({
    ask(done) {
      asked = performance.now();
      if (!done) o.beat();
    },
    late() {
      late = true;
      tell();
    },
    lost: () => o.route().acknowledged < asked && o.route().renew(),
    answered(ms) {
      late = cut = false;
      o.answered(ms);
      tell();
    },
  });
  /** On becoming visible, and with each new channel, at once; never while nobody looks. */
  function look(done = false): void {
    if (!document.hidden && o.open()) pulse.beat(done);
    else pulse.stop();
  }
  function network(e: Event): void {
    cut = e.type === 'offline';
    tell();
    look();
  }

  function stateNow(): LinkState {
    const { connected, status, acknowledged } = o.route();
    if (cut || (!connected && !navigator.onLine)) return 'cut';
    const open = o.open();
    if (!o.direct()) {
      if (!connected || (open && late && acknowledged < asked)) return 'down';
      if (!status.hub_online) return 'offline';
    }
    if (late) return 'silent';
    if (!open || !o.admitted()) return 'connecting';
    return serving ? 'up' : 'unserved';
  }
  function tell(): void {
    if (closed) return;
    const state = stateNow();
    // Root may take a hub that is frozen for one that is there, and lets us knock.
    if (state !== 'connecting' || o.open()) {
      clearTimeout(shaking);
      shaking = undefined;
    } else
      shaking ??= setTimeout(() => {
        late = !o.open();
        tell();
      }, SHAKING_WAIT);
    o.state(state, o.direct());
  }
  const events = [
    [window, 'offline', network],
    [window, 'online', network],
    [document, 'visibilitychange', () => look()],
  ] as const;
  for (const [of, name, f] of events) of.addEventListener(name, f as EventListener);

  return {
    tell,
    /** The hub answered a question, after so many milliseconds. */
    heard: pulse.heard,
    /** A handshake is done. @param first of a new channel */
    opened(first: boolean): void {
      late = false;
      serving ||= first;
      // A handshake ends with a question of its own.
      look(true);
    },
    /** The hub says whether what serves its skills answers. */
    serves(ok: boolean): void {
      serving = ok;
      tell();
    },
    /** The channel fell. */
    lost: pulse.stop,
    close(): void {
      closed = true;
      pulse.stop();
      clearTimeout(shaking);
      for (const [of, name, f] of events) of.removeEventListener(name, f as EventListener);
    },
  };
}
