// What the hub's local API answers, as it is read and printed.
import { IngleError } from '../../../firmware/protocol/errors.ts';
import type { Say } from '../say.ts';
import { plain } from '../show.ts';
import { eventReader } from './events.ts';

/** Largest answer that is shown, bytes. */
const MAX_ANSWER = 16 * 1024 * 1024;

export interface Answer {
  status: number;
  type: string;
  /** The pieces as they come. @throws IngleError `timeout`, `unavailable` */
  pieces: AsyncIterable<Uint8Array>;
  /** Ends it. */
  end(): void;
}

/** The answer as a whole. @throws IngleError `too_large` */
export async function whole(answer: Answer, say: Say): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const piece of answer.pieces) {
    size += piece.byteLength;
    if (size > MAX_ANSWER) throw new IngleError('too_large', say.text('apiLong', { most: MAX_ANSWER }));
    parts.push(piece);
  }
  return Buffer.concat(parts);
}

/** The text of an answer; undefined for what is none. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** The JSON of a text; undefined for what is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const isError = (body: unknown) => typeof (body as { error?: unknown } | null)?.error === 'string';

/** Text for a terminal: what could drive it is written as JSON writes it. */
const tame = (text: string) =>
  text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it replaces
    /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g,
    (c) => (c === '\t' ? c : `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );

export function show(answer: Answer, bytes: Uint8Array, say: Say): void {
  const text = textOf(bytes);
  const type = plain(answer.type) || '-';
  const json = text === undefined ? undefined : jsonOf(text);
  if (json !== undefined) {
    say.event(json as Record<string, unknown>);
    say.line(tame(JSON.stringify(json, null, 2)));
  } else if (text === undefined) {
    say.event({ type, bytes: bytes.byteLength });
    say.line(say.text('apiBinary', { type, bytes: bytes.byteLength }));
  } else {
    say.event({ type, text });
    say.line(text === '' ? say.text('apiDone') : tame(text));
  }
}

/** Prints events until somebody ends it. @throws IngleError `unavailable` when the hub does */
export async function follow(answer: Answer, say: Say): Promise<void> {
  let ended = false;
  const end = () => {
    ended = true;
    answer.end();
  };
  for (const s of ['SIGINT', 'SIGTERM'] as const) process.once(s, end);
  const read = eventReader();
  try {
    for await (const piece of answer.pieces)
      for (const { event, data } of read(piece)) {
        say.event({ event, data: jsonOf(data) ?? data });
        say.line(`${tame(event)}  ${tame(data.replaceAll('\n', ' '))}`);
      }
    if (!ended) throw new IngleError('unavailable', say.text('apiEnded'));
  } catch (e) {
    if (!ended) throw e;
  } finally {
    for (const s of ['SIGINT', 'SIGTERM'] as const) process.off(s, end);
  }
}
