// Questions and answers on a line between nodes.
import { type ErrorBody, fromBody, IngleError, toIngleError } from '../../firmware/protocol/errors.ts';
import { log } from '../log.ts';
import type { Routed } from '../table.ts';
import { type Line, unreachable } from './peers.ts';

/** How long a node may take to answer, milliseconds. */
const ANSWER_MS = 5000;

/** What nodes ask of each other, by name. */
export interface Asked {
  up: { end: number; session: Routed; member: boolean };
  route: { session: Routed; pub: string | undefined };
  bind: { hubId: string; sid: string; sealed: string | undefined };
  sid: { sid: string };
  hub: { hubId: string };
  letGo: { hubId: string; sid: string };
  rotated: { hubId: string; cut: boolean };
  ask: { hubId: string; event: string; message: object; ms: number };
}

type Question = { ask: number; what: string; of: unknown };
type Answer = { answer: number; value?: unknown; error?: ErrorBody };

export type Talk = ReturnType<typeof openTalk>;

/** @param answers what this node answers, by name; `line`: who asks */
export function openTalk(answers: Record<string, (of: never, line: Line) => unknown>) {
  let last = 0;
  const open = new Map<number, { line: Line; resolve(v: unknown): void; reject(e: Error): void }>();

  async function reply(line: Line, { ask, what, of }: Question): Promise<void> {
    try {
      const value = await answers[what]?.(of as never, line);
      line.say({ answer: ask, value } satisfies Answer);
    } catch (e) {
      if (!(e instanceof IngleError)) log('error', 'another node was not answered', { cause: e });
      line.say({ answer: ask, error: toIngleError(e).body() } satisfies Answer);
    }
  }
  return {
    /** @param ms how long the answer may take @throws IngleError what the other node says; `unavailable` */
    ask<T>(line: Line, what: string, of: unknown, ms = ANSWER_MS): Promise<T> {
      const ask = ++last;
      return new Promise<T>((resolve, reject) => {
        const late = setTimeout(() => done()?.reject(unreachable()), ms);
        const done = () => {
          clearTimeout(late);
          const entry = open.get(ask);
          open.delete(ask);
          return entry;
        };
        open.set(ask, {
          line,
          resolve: (v) => done() && resolve(v as T),
          reject(e) {
            done();
            reject(e);
          },
        });
        line.say({ ask, what, of } satisfies Question);
      });
    },
    /** @returns whether it was of a question */
    heard(line: Line, body: object): boolean {
      if ('ask' in body) void reply(line, body as Question);
      else if ('answer' in body) {
        const { answer, value, error } = body as Answer;
        const entry = open.get(answer);
        if (entry?.line !== line) return true;
        if (error) entry.reject(fromBody(error, 503));
        else entry.resolve(value);
      } else return false;
      return true;
    },
    lost(line: Line): void {
      for (const entry of [...open.values()]) if (entry.line === line) entry.reject(unreachable());
    },
  };
}
