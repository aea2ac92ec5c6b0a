// ingle-bot: the messaging bot channel (Telegram, by grammY), for a hub with a network and no sound.
import { Bot, InlineKeyboard } from 'grammy';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { may } from '../../firmware/setup/access.ts';
import { bot1 } from '../../firmware/setup/bot-contract.ts';
import { chatDesk } from '../../firmware/setup/chat.ts';
import { setup1 } from '../../firmware/setup/contract.ts';
import { setupDialog } from '../../firmware/setup/dialog.ts';
import { progressOf } from '../../firmware/setup/progress.ts';
import { readConfig } from '../../firmware/system/config.ts';
import { startService } from '../../firmware/system/service.ts';
import { pickLanguage } from '../../firmware/text/i18n.ts';

/** The service ends this long after the bot was closed, milliseconds. */
const IDLE_MS = 60_000;

const life = await startService('bot');
const { bus, log } = life;
const config = readConfig();
const language = pickLanguage([config.language]);
const { token, api } = config.bot;
const setup = bus.client(setup1);
let bot: Bot | undefined;
let trouble = '';

function makeBot(): Bot {
  const made = new Bot(token, { client: { apiRoot: api } });
  const desk = chatDesk({
    language,
    silenceMs: 10 * 60_000,
    messenger: {
      async send(chat, text, buttons) {
        const keyboard = new InlineKeyboard();
        buttons?.forEach((label, i) => void keyboard.text(label.slice(0, 60), String(i)).row());
        await made.api.sendMessage(chat, text.slice(0, 4096), buttons ? { reply_markup: keyboard } : {});
      },
      remove: async (chat, message) => void (await made.api.deleteMessage(chat, message)),
    },
    authorise: (pin) => setup.Authorise({ channel: 'bot', pin }),
    converse: (talk) =>
      setupDialog(talk, {
        channel: 'bot',
        // chatDesk lets nobody as far as this without the PIN.
        may: (stage, action) => may('bot', stage, action, ['pin']),
        setup,
        language,
        onProgress: progressOf(bus),
      }),
  });
  made.on('callback_query:data', async (c) => {
    await c.answerCallbackQuery();
    const message = c.callbackQuery.message;
    if (message)
      await desk.receive({
        chat: message.chat.id,
        message: message.message_id,
        button: Number(c.callbackQuery.data),
      });
  });
  made.on('message', (c) =>
    // Groups would let anybody in them read the answers.
    c.chat.type === 'private'
      ? desk.receive({ chat: c.chat.id, message: c.message.message_id, text: c.message.text })
      : undefined,
  );
  made.catch((e) => {
    trouble = e.message;
    log.warn('a message was not handled', { error: e });
  });
  return made;
}

await bus.serve(
  bot1,
  {
    async Start() {
      if (!token) throw new IngleError('not_supported', 'No bot is configured on this hub.');
      if (bot) return { name: bot.botInfo.username };
      const made = makeBot();
      try {
        await made.init();
      } catch (e) {
        trouble = (e as Error).message;
        throw new IngleError(
          'unavailable',
          'The messenger does not answer. Check the network and the bot token.',
        );
      }
      bot = made;
      trouble = '';
      // Long polling goes on until Stop; what it throws is told, and the channel closed.
      made.start({ drop_pending_updates: true }).catch((e: Error) => {
        trouble = e.message;
        log.error('the bot has stopped', { error: e });
        bot = undefined;
      });
      log.info('the bot is open', { name: made.botInfo.username });
      return { name: made.botInfo.username };
    },
    async Stop() {
      const was = bot;
      bot = undefined;
      await was?.stop();
      return {};
    },
    Status: () => ({ open: bot !== undefined, name: bot?.botInfo.username ?? '', error: trouble }),
  },
  { onCall: life.touch },
);
life.onStop(() => bot?.stop());
life.leaveWhenIdle(IDLE_MS, () => bot !== undefined);
life.ready();
