// ingle-bot: the messaging bot channel (Telegram, by grammY), for a hub with a network and no sound.
import type { Bot } from 'grammy';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { may } from '../../firmware/setup/access.ts';
import { bot1 } from '../../firmware/setup/bot-contract.ts';
import { setup1 } from '../../firmware/setup/contract.ts';
import { setupDialog } from '../../firmware/setup/dialog.ts';
import { progressOf } from '../../firmware/setup/progress.ts';
import { readConfig } from '../../firmware/system/config.ts';
import { startService } from '../../firmware/system/service.ts';
import { pickLanguage } from '../../firmware/text/i18n.ts';
import { telegramBot } from './telegram.ts';

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

const make = () =>
  telegramBot({
    ...{ token, api, language, log },
    onTrouble: (message) => (trouble = message),
    authorise: (pin) => setup.Authorise({ channel: 'bot', pin }),
    converse: (talk) =>
      setupDialog(talk, {
        channel: 'bot',
        // The desk lets nobody as far as this without the PIN.
        may: (stage, action) => may('bot', stage, action, ['pin']),
        setup,
        language,
        onProgress: progressOf(bus),
      }),
  });

await bus.serve(
  bot1,
  {
    async Start() {
      if (!token) throw new IngleError('not_supported', 'No bot is configured on this hub.');
      if (bot) return { name: bot.botInfo.username };
      const made = make();
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
