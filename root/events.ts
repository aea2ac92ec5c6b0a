// The events of a namespace: how they come to the functions that answer them.
import type { Socket } from 'socket.io';
import { type ErrorBody, IngleError, toIngleError } from '../firmware/protocol/errors.ts';
import { log } from './log.ts';

type Ack = (answer: object) => void;
export type Event = (socket: Socket, message: unknown) => unknown;

/** One end of the relay: a namespace, who may connect to it, and what each of its events does. */
export interface Side {
  /** Lets a socket in, and notes on it whose it is. @throws IngleError */
  admit(socket: Socket, header: (name: string) => string): Promise<void>;
  events: Record<string, Event>;
  came(socket: Socket): void;
  gone(this: Socket): void;
}

/**
 * One function a namespace instead of listeners a socket: it costs no memory a socket, sees unknown events too, and
 * runs while the frame's buffer is valid (uWebSockets.js takes it back after the tick).
 */
export function dispatcher(
  events: Record<string, Event>,
  unknown: () => void,
  wrote: (conn: object) => void,
) {
  const table = new Map(Object.entries(events));
  return function dispatch(this: Socket, args: unknown[]): void {
    const last = args[args.length - 1];
    const reply = typeof last === 'function' ? (last as Ack) : undefined;
    const ack =
      reply &&
      ((answer: object) => {
        reply(answer);
        wrote(this.conn);
      });
    try {
      const event = table.get(args[0] as string);
      if (!event) {
        unknown();
        throw new IngleError('invalid_request', 'This event is not known here.');
      }
      const result = event(this, args[1] === reply ? undefined : args[1]);
      if (result instanceof Promise)
        result.then(
          (value) => ack?.({ ok: true, ...(value as object | undefined) }),
          (e) => ack?.(failure(e)),
        );
      else if (ack)
        ack(
          result === false
            ? failure(new IngleError('invalid_request', 'The frame was dropped.'))
            : { ok: true },
        );
    } catch (e) {
      ack?.(failure(e));
    }
  };
}

function failure(e: unknown): { ok: false } & ErrorBody {
  if (!(e instanceof IngleError)) log('error', 'an event failed', { cause: e });
  return { ok: false, ...toIngleError(e).body() };
}
