// A conversation in a messenger: one chat at a time, let in by the PIN. Pure but for what `Messenger` does.
import { toIngleError } from '../protocol/errors.ts';
import { botTexts } from '../text/bot.ts';
import { type Language, translator } from '../text/i18n.ts';
import { setupTexts, waitText } from '../text/setup.ts';
import { Left, type Talk } from './talk.ts';

export interface Messenger {
  send(chat: number, text: string, buttons?: string[]): Promise<void>;
  /** Takes a message with a secret out of the chat's history. */
  remove(chat: number, message: number): Promise<void>;
}

export interface ChatDeps {
  messenger: Messenger;
  language: Language;
  authorise(pin: string): Promise<{ ok: boolean; left: number; wait_s: number }>;
  converse(talk: Talk): Promise<void>;
  /** A chat that says nothing for this long is let go, milliseconds. */
  silenceMs: number;
}

export interface Incoming {
  chat: number;
  message: number;
  /** Typed text, or undefined for pictures and the like. */
  text?: string;
  /** Index of a pressed button. */
  button?: number;
}

/** Takes messages; holds at most one conversation. */
export function chatDesk(d: ChatDeps): { receive(m: Incoming): Promise<void>; close(): void } {
  const t = translator(botTexts, d.language);
  const setupText = translator(setupTexts, d.language);
  const isStart = (m: Incoming) => m.text?.startsWith('/start') ?? false;
  let closed = false;
  let inside: { chat: number; take: (m: Incoming) => void; leave: () => void } | undefined;

  function open(chat: number): void {
    const queue: Incoming[] = [];
    let waiting: { resolve: (m: Incoming) => void; reject: (e: Error) => void } | undefined;
    let timer: NodeJS.Timeout | undefined;
    const leave = () => {
      clearTimeout(timer);
      waiting?.reject(new Left());
      waiting = undefined;
    };
    const next = (): Promise<Incoming> => {
      const first = queue.shift();
      if (first) return Promise.resolve(first);
      clearTimeout(timer);
      timer = setTimeout(leave, d.silenceMs);
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject };
      });
    };
    const take = (m: Incoming) => {
      if (waiting) {
        const w = waiting;
        waiting = undefined;
        w.resolve(m);
      } else if (queue.length < 10) queue.push(m);
    };
    const typed = async (secret: boolean): Promise<string> => {
      for (;;) {
        const m = await next();
        if (m.text === undefined) await d.messenger.send(chat, t('only_text'));
        else {
          if (secret) {
            await d.messenger.remove(chat, m.message).then(
              () => d.messenger.send(chat, t('deleted')),
              () => {},
            );
          }
          return m.text.trim();
        }
      }
    };
    const talk: Talk = {
      say: (text) => d.messenger.send(chat, text),
      async choose(question, options) {
        await d.messenger.send(chat, question, options);
        for (;;) {
          const m = await next();
          const n = m.button ?? (/^\d{1,3}$/.test(m.text?.trim() ?? '') ? Number(m.text) - 1 : -1);
          if (n >= 0 && n < options.length) return n;
          await d.messenger.send(chat, question, options);
        }
      },
      async ask(question, secret = false) {
        await d.messenger.send(chat, question);
        return typed(secret);
      },
    };
    inside = { chat, take, leave };
    void hold(talk)
      .catch((e) => {
        if (!(e instanceof Left)) return talk.say(toIngleError(e).message);
      })
      .then(() => talk.say(t('bye')))
      .catch(() => {})
      .then(() => {
        clearTimeout(timer);
        if (inside?.chat === chat) inside = undefined;
        // Said between the last answer and the goodbye, it was meant for the next conversation.
        if (!closed && !inside && queue.some(isStart)) open(chat);
      });
  }

  async function hold(talk: Talk): Promise<void> {
    for (;;) {
      const { ok, left, wait_s } = await d.authorise(await talk.ask(t('ask_pin'), true));
      if (ok) return d.converse(talk);
      if (wait_s > 0) return talk.say(setupText('pin_wait', { wait: waitText(wait_s, d.language) }));
      await talk.say(t('wrong_pin', { left }));
    }
  }

  return {
    async receive(m) {
      if (inside && inside.chat !== m.chat) return d.messenger.send(m.chat, t('busy'));
      if (inside) inside.take(m);
      else if (isStart(m)) open(m.chat);
      else await d.messenger.send(m.chat, t('bye'));
    },
    close() {
      closed = true;
      inside?.leave();
    },
  };
}
