// What happens on the hub, as server-sent events. The bus is heard only while somebody listens.
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import { fromVariant } from '../../firmware/system/contract.ts';
import type { Response } from './server.ts';

export interface Observe {
  /** An event of this service. */
  event(topic: string, payload: unknown): void;
  /** A stream of events whose topic begins with `prefix`. @throws IngleError `rate_limited` when too many listen. */
  stream(prefix: string): Response;
}

const MAX_LISTENERS = 16;
const BEAT_MS = 15_000;
/** Largest event passed on, bytes; a larger one is named without its payload. */
const MAX_EVENT = 16 * 1024;

type Listener = (topic: string, payload: unknown) => void;

export function observe(bus: Bus): Observe {
  const listeners = new Set<Listener>();
  let hearing: Promise<() => Promise<void>> | undefined;

  function event(topic: string, payload: unknown): void {
    for (const l of listeners) l(topic, payload);
  }
  return {
    event,
    stream(prefix) {
      if (listeners.size >= MAX_LISTENERS)
        throw new IngleError('rate_limited', 'Too many listen already.', { retry_after: 10 });
      return {
        status: 200,
        headers: { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' },
        stream(write) {
          let dropped = 0;
          let full = false;
          const say = (name: string, data: unknown) => {
            let text = JSON.stringify(data) ?? 'null';
            if (text.length > MAX_EVENT) text = JSON.stringify({ topic: name, too_large: text.length });
            full = !write(`event: ${name}\ndata: ${text}\n\n`);
          };
          const listener: Listener = (topic, payload) => {
            if (!topic.startsWith(prefix)) return;
            if (full) dropped++;
            else say('event', { at: Date.now(), topic, payload });
          };
          listeners.add(listener);
          hearing ??= bus.match({ interface: 'io.ingle.Bus1', member: 'Event' }, (s) =>
            event(String(s.body[0]), fromVariant(s.body[1])),
          );
          write(': listening\n\n');
          const beat = setInterval(() => {
            // A slow reader's line is tried again at each beat, and told how much it missed.
            if (dropped > 0) say('dropped', { count: dropped });
            else full = !write(': beat\n\n');
            if (!full) dropped = 0;
          }, BEAT_MS);
          return () => {
            clearInterval(beat);
            listeners.delete(listener);
            if (listeners.size > 0 || !hearing) return;
            hearing.then((stop) => stop()).catch(() => {});
            hearing = undefined;
          };
        },
      };
    },
  };
}
