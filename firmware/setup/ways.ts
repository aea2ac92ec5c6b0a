// When the ways into setup open and close: with the window, by the idle time, and once the hub has its network.
import { type At, type Core, isOwned } from './core.ts';
import type { LadderState } from './ladder.ts';
import { afterIdle } from './owner.ts';
import { isDone } from './state.ts';

/** States in which somebody may come; after the idle time nobody did. */
const waiting: ReadonlySet<LadderState> = new Set(['CHANNELS', 'CONSOLE']);

export type Ways = ReturnType<typeof openWays>;

export function openWays(core: Core) {
  const { ladder, ports, channels, pins, voice, time } = core;
  let idle: NodeJS.Timeout | undefined;
  let opening = Promise.resolve();

  async function open(here: At, fresh: boolean): Promise<void> {
    await channels.open({ fresh, asked: ladder.memory.asked, signal: here.signal });
    const mode = channels.first();
    if (mode && mode !== ladder.memory.mode) await ladder.remember({ mode });
    if (here.signal.aborted) return;
    if (!mode) await here.move('no_radio');
    else if (fresh) void voice.secrets(pins.secrets()).catch(() => {});
  }

  function begin(here: At, fresh: boolean): void {
    opening = open(here, fresh).catch((e) =>
      core.log.warn('the channels do not open', { error: e as Error }),
    );
  }

  /** The idle time starts again. */
  function wait(): void {
    clearTimeout(idle);
    const { state } = ladder;
    if (!waiting.has(state)) return;
    idle = setTimeout(async () => {
      const online = await ports.online().catch(() => false);
      if (ladder.state !== state) return;
      const event = afterIdle({ online, owned: isOwned(core) });
      // A console stays the way in where there is no other; what else was open beside it closes.
      if (!(await ladder.move(event))) await channels.close();
      else if (event === 'idle') core.onProgress('softap', 'failed', 'hint_restart', { reason: 'idle' });
    }, time.idle);
  }

  return {
    wait,
    stop: () => clearTimeout(idle),
    /** Settles when the channels have been opened, and the window's secrets are being said. */
    opened: () => opening,
    /** CHANNELS. A join that failed comes back to the same window. */
    enter(here: At): void {
      const fresh = here.by?.old !== 'CONNECTING';
      if (fresh) {
        voice.wanted();
        pins.renew();
      }
      wait();
      begin(here, fresh);
    },
    /** Opens what is missing in the window that is open. */
    again(here: At): void {
      wait();
      begin(here, false);
    },
    /** Another state than those in which channels are open. */
    async leave(state: LadderState): Promise<void> {
      clearTimeout(idle);
      if (state !== 'RETEST' && !isDone(state)) return channels.close();
      // An access point that shared its radio with the joined network is gone already.
      const { by, kept } = ladder.memory;
      await channels.leave((name) => (name === 'softap' ? kept : name === by));
    },
  };
}
