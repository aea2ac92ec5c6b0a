// Signs of life of a channel, asked for by the browser: an empty message that only the hub's own end can answer.
import type { Link } from './transport.ts';

export interface Pulse {
  /** Asks for a sign of life; the answer is a `beat`. */
  ask(): void;
  /** A frame of the hub has opened. */
  heard(): void;
  /** An empty one: the answer to the oldest question. */
  answered(): void;
  /** New keys. `first`: of a new channel, in which nothing has been asked yet. */
  anew(first: boolean): void;
  stop(): void;
}

/** @param silent called when the hub was asked after a silence of the link's `keepalive`, and said nothing for as long. */
export function pulse(l: Link, silent: () => void): Pulse {
  let heard = false;
  let pinged = false;
  /** When each sign of life was asked for that has no answer yet; answers come in the order of the questions. */
  let asked: number[] = [];

  function ask(): void {
    const at = performance.now();
    asked.push(at);
    l.sendPlain(new Uint8Array(0)).catch(() => {
      asked = asked.filter((other) => other !== at);
    });
  }
  const timer = setInterval(() => {
    if (!l.life) return;
    if (heard) pinged = false;
    else if (pinged) silent();
    else {
      pinged = true;
      ask();
    }
    heard = false;
  }, l.timing.keepalive);

  return {
    ask,
    heard() {
      heard = true;
    },
    answered() {
      const at = asked.shift();
      if (at !== undefined) l.emit('beat', performance.now() - at);
    },
    anew(first) {
      heard = pinged = false;
      if (first) asked = [];
    },
    stop: () => clearInterval(timer),
  };
}
