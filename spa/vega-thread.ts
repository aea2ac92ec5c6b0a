// The thread that draws charts, so that none holds the page up: one worker for all of them, which draws one after another.
import type { Config } from 'vega-lite';

/** What a drawing is made of; its rows as JSON, which crosses to another thread as one text. */
export interface Order {
  spec: Record<string, unknown>;
  rows: string;
  config: Config;
  /** CSS pixels. */
  width: number;
  height: number;
  language: string;
}

/** How long a drawing may take, in seconds that the page is awake. */
export const PATIENCE = 10;
/** After how long a worker without charts ends, milliseconds. */
export const IDLE = 60_000;

export type Thread = Pick<Worker, 'postMessage' | 'terminate' | 'onmessage' | 'onerror'>;

/** @param start a worker; it says 'ready', and of each order the parts of its drawing and 'drawn', or 'fault' */
export function openThread(start: () => Thread) {
  let running: Promise<Thread> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let users = 0;
  let idle: ReturnType<typeof setTimeout> | undefined;

  function end(): void {
    running?.then((thread) => thread.terminate()).catch(() => {});
    running = undefined;
  }
  function rest(): void {
    clearTimeout(idle);
    if (users === 0) idle = setTimeout(end, IDLE);
  }
  /** @throws where no worker can be started; the next one who asks tries it again */
  function ready(): Promise<Thread> {
    rest();
    running ??= new Promise<Thread>((done, no) => {
      const thread = start();
      thread.onmessage = ({ data }) => data === 'ready' && done(thread);
      thread.onerror = () => {
        thread.terminate();
        no(new Error('No worker can be started.'));
      };
    }).catch((e) => {
      running = undefined;
      throw e;
    });
    return running;
  }
  async function draw(order: Order): Promise<unknown[]> {
    const thread = await ready();
    const parts: unknown[] = [];
    let waited = 0;
    let timer: ReturnType<typeof setInterval> | undefined;
    try {
      await new Promise<void>((done, no) => {
        thread.onmessage = ({ data }) => {
          if (data === 'drawn') done();
          else if (data === 'fault') no(new Error('The chart cannot be drawn.'));
          else parts.push(data);
        };
        const lost = () => {
          end();
          no(new Error('The chart was given up.'));
        };
        thread.onerror = lost;
        // Counted, as a page that slept wakes up with all its time gone.
        timer = setInterval(() => ++waited >= PATIENCE && lost(), 1000);
        thread.postMessage(order);
      });
    } finally {
      clearInterval(timer);
    }
    return parts;
  }
  return {
    ready,
    /**
     * @returns the parts of the drawing, as they came; undefined where it `isGone` before its turn
     * @throws where it cannot be drawn, or takes too long
     */
    drawn(order: Order, isGone: () => boolean): Promise<unknown[] | undefined> {
      const own = last.then(() => (isGone() ? undefined : draw(order)));
      last = own.catch(() => {});
      return own;
    },
    /** Keeps the worker until the function that it gives is called. */
    hold(): () => void {
      users++;
      rest();
      return () => {
        users--;
        rest();
      };
    },
  };
}
