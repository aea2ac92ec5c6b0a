// A line editor for a dumb terminal at 115200 baud: no colours, and no cursor movement but to clear it. Pure but for `write`.
import { dialogTexts } from '../text/dialog.ts';
import { type Language, translator } from '../text/i18n.ts';
import { Left, type Talk } from './talk.ts';

export interface Terminal extends Talk {
  /** Bytes from the line. */
  feed(bytes: Uint8Array): void;
  /** The line is gone: whoever waits gets `Left`. */
  hangup(): void;
  /** Nothing that was shown stays, on the screen or above it. */
  clear(): void;
}

/** Home, and erase the screen and what has scrolled off it (ECMA-48 and xterm; a console of Linux knows all three). */
const CLEAR = '\x1b[H\x1b[2J\x1b[3J';
/** Longest line a person may type, bytes. */
const MAX_LINE = 256;

export function terminal(send: (bytes: Uint8Array) => void, language: Language): Terminal {
  const write = (text: string) => send(Buffer.from(text));
  const t = translator(dialogTexts, language);
  let line: number[] = [];
  let secret = false;
  let waiting: { resolve: (line: string) => void; reject: (e: Error) => void } | undefined;
  let afterReturn = false;
  let gone = false;

  function key(byte: number): void {
    // CR LF is one end of line, as some terminals send both.
    const second = byte === 0x0a && afterReturn;
    afterReturn = byte === 0x0d;
    if (second) return;
    if (byte === 0x0d || byte === 0x0a) submit();
    else if (byte === 0x03 || byte === 0x04) leave();
    else if (byte === 0x08 || byte === 0x7f) erase();
    else if (byte === 0x15) while (line.length > 0) erase();
    else if (byte >= 0x20 && line.length < MAX_LINE && waiting) type(byte);
  }

  function type(byte: number): void {
    line.push(byte);
    if (!secret) send(new Uint8Array([byte]));
    // Bytes of a character after its first show no star of their own.
    else if ((byte & 0xc0) !== 0x80) write('*');
  }

  function erase(): void {
    if (line.length === 0) return;
    while (((line.pop() ?? 0) & 0xc0) === 0x80);
    write('\b \b');
  }

  function submit(): void {
    if (!waiting) return;
    const text = Buffer.from(line).toString('utf8');
    line = [];
    write('\r\n');
    const w = waiting;
    waiting = undefined;
    w.resolve(text);
  }

  function leave(): void {
    line = [];
    const w = waiting;
    waiting = undefined;
    w?.reject(new Left());
  }

  function read(hide: boolean): Promise<string> {
    if (gone) return Promise.reject(new Left());
    secret = hide;
    return new Promise((resolve, reject) => {
      waiting = { resolve, reject };
    });
  }

  const self: Terminal = {
    feed(bytes) {
      for (const b of bytes) key(b);
    },
    hangup() {
      gone = true;
      leave();
    },
    clear() {
      if (!gone) write(CLEAR);
    },
    async say(text) {
      if (gone) throw new Left();
      write(`${text.replace(/\r?\n/g, '\r\n')}\r\n`);
    },
    async choose(question, options) {
      for (;;) {
        await self.say(`\n${question}\n${options.map((o, i) => `  ${i + 1}. ${o}`).join('\n')}`);
        write('> ');
        const answer = (await read(false)).trim();
        const n = Number(answer);
        if (/^\d{1,3}$/.test(answer) && n >= 1 && n <= options.length) return n - 1;
        await self.say(t('not_understood', { max: options.length }));
      }
    },
    async ask(question, hide = false) {
      write(`${question}: `);
      return read(hide);
    },
  };
  return self;
}
