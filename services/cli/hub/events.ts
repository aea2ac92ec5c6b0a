// Server-sent events (the HTML standard, 9.2.6) out of the bytes of a stream. Pure.
import { IngleError } from '../../../firmware/protocol/errors.ts';

export interface StreamEvent {
  event: string;
  data: string;
}

/** Largest event, characters. */
const MAX_EVENT = 1024 * 1024;

/** Takes the pieces of a stream in order; answers the events that each completes. @throws IngleError `too_large` */
export function eventReader(): (piece: Uint8Array) => StreamEvent[] {
  const decoder = new TextDecoder();
  let rest = '';
  let event = '';
  let data: string[] = [];
  let size = 0;

  return (piece) => {
    rest += decoder.decode(piece, { stream: true });
    const events: StreamEvent[] = [];
    // A carriage return at the end may be half of a line's end.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop()!;
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) events.push({ event: event || 'message', data: data.join('\n') });
        event = '';
        data = [];
        size = 0;
        continue;
      }
      const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line) as unknown as [string, string, string];
      if (field === 'event') event = value;
      else if (field === 'data') data.push(value);
      size += line.length;
    }
    if (size + rest.length > MAX_EVENT)
      throw new IngleError('too_large', 'An event of the stream has no end.');
    return events;
  };
}
