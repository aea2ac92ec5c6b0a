// A Telegram bot (grammY) over the desk that receives one chat after another.
import { Bot, InlineKeyboard } from 'grammy';
import { chatDesk } from '../../firmware/setup/chat.ts';
import type { Log } from '../../firmware/system/log.ts';

type DeskOptions = Parameters<typeof chatDesk>[0];

export interface TelegramOptions extends Omit<DeskOptions, 'messenger' | 'silenceMs'> {
  token: string;
  /** Origin of the Bot API. */
  api: string;
  log: Log;
  onTrouble(message: string): void;
}

/** A chat that says nothing for so long is over, milliseconds. */
const SILENCE_MS = 10 * 60_000;

export function telegramBot(o: TelegramOptions): Bot {
  const bot = new Bot(o.token, { client: { apiRoot: o.api } });
  const desk = chatDesk({
    ...o,
    silenceMs: SILENCE_MS,
    messenger: {
      async send(chat, text, buttons) {
        const keyboard = new InlineKeyboard();
        buttons?.forEach((label, i) => void keyboard.text(label.slice(0, 60), String(i)).row());
        await bot.api.sendMessage(chat, text.slice(0, 4096), buttons ? { reply_markup: keyboard } : {});
      },
      remove: async (chat, message) => void (await bot.api.deleteMessage(chat, message)),
    },
  });
  bot.on('callback_query:data', async (c) => {
    await c.answerCallbackQuery();
    const message = c.callbackQuery.message;
    if (message)
      await desk.receive({
        chat: message.chat.id,
        message: message.message_id,
        button: Number(c.callbackQuery.data),
      });
  });
  bot.on('message', (c) =>
    // Groups would let anybody in them read the answers.
    c.chat.type === 'private'
      ? desk.receive({ chat: c.chat.id, message: c.message.message_id, text: c.message.text })
      : undefined,
  );
  bot.catch((e) => {
    o.onTrouble(e.message);
    o.log.warn('a message was not handled', { error: e });
  });
  return bot;
}
