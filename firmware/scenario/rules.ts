// What can be said to a new hub: the rules of the intents that its own scenarios have. The owner's come on top.
import type { RuleSet } from '../intent/schema.ts';

export const houseRules: RuleSet = {
  lists: {
    ring: [
      { out: 'timer', says: { en: ['timer'], ru: ['таймер'] } },
      { out: 'alarm', says: { en: ['alarm'], ru: ['будильник'] } },
    ],
    rings: [
      { out: 'timer', says: { en: ['timers'], ru: ['таймеры'] } },
      { out: 'alarm', says: { en: ['alarms'], ru: ['будильники'] } },
    ],
    stations: [
      { out: 'jazz', says: { en: ['jazz', 'jazz radio'], ru: ['джаз', 'радио джаз'] } },
      { out: 'news', says: { en: ['news', 'the news'], ru: ['новости'] } },
      {
        out: 'classic',
        says: { en: ['classical music', 'classic'], ru: ['классика', 'классику', 'классическую музыку'] },
      },
    ],
  },
  rules: [
    {
      intent: 'set_timer',
      patterns: {
        en: [
          '[please] (set|start) [(a|the)] timer (for|of) {length:duration}',
          '[please] [set] [a] {length:duration} timer',
          // As long as what a time of day is said with, and a word more: a length is no time on the wall.
          '[please] wake me [up] in {length:duration}',
          '[please] (set|make) [(a|an|the|my)] alarm (in|for) {length:duration}',
          'alarm in {length:duration}',
        ],
        ru: [
          '[пожалуйста] (поставь|включи|заведи) таймер на {length:duration}',
          'таймер на {length:duration}',
          '[пожалуйста] (разбуди меня|разбуди) через {length:duration}',
          '[пожалуйста] (поставь|включи|заведи) будильник через {length:duration}',
          'будильник через {length:duration}',
        ],
      },
    },
    {
      intent: 'set_alarm',
      patterns: {
        en: [
          '[please] wake me [up] ([{day:date}] {time:time}|{time:time} {day:date})',
          '[please] (set|make) [(a|an|the|my)] alarm [for] ([{day:date}] {time:time}|{time:time} {day:date})',
          'alarm [for] ([{day:date}] {time:time}|{time:time} {day:date})',
        ],
        ru: [
          '[пожалуйста] (разбуди меня|разбуди) ([{day:date}] {time:time}|{time:time} {day:date})',
          '[пожалуйста] (поставь|включи|заведи) будильник ([{day:date}] {time:time}|{time:time} {day:date})',
          'будильник ([{day:date}] {time:time}|{time:time} {day:date})',
        ],
      },
    },
    {
      intent: 'cancel_alarm',
      patterns: {
        en: [
          '[please] (cancel|stop|turn off|switch off|delete|remove|dismiss) [(the|my)] {cancel:ring} [[for] ({day:date}|[{day:date}] {time:time}|{time:time} {day:date})]',
          '[please] turn [(the|my)] {cancel:ring} off',
        ],
        ru: [
          '[пожалуйста] (отмени|останови|выключи|отключи|убери|удали) [мой] {cancel:ring} [({day:date}|[{day:date}] {time:time}|{time:time} {day:date})]',
        ],
      },
    },
    {
      // Not only what rings.
      intent: 'cancel_alarm',
      slots: { all: { value: true } },
      patterns: {
        en: [
          '[please] (cancel|stop|turn off|switch off|delete|remove|dismiss) [all [of]] [(the|my)] {cancel:rings} [[for] ({day:date}|[{day:date}] {time:time}|{time:time} {day:date})]',
          '[please] turn [all [of]] [(the|my)] {cancel:rings} off',
        ],
        ru: [
          '[пожалуйста] (отмени|останови|выключи|отключи|убери|удали) [все] [мои] {cancel:rings} [({day:date}|[{day:date}] {time:time}|{time:time} {day:date})]',
        ],
      },
    },
    {
      intent: 'weather',
      patterns: {
        en: [
          "(what's|what is|how is) the weather [like] [(now|today)]",
          "[(what's|what is)] the forecast",
          'will it rain [today]',
        ],
        ru: ['какая [сейчас|сегодня] погода', 'что [там] с погодой', 'погода'],
      },
    },
    {
      intent: 'good_night',
      patterns: {
        en: ['good night', '(we are|I am|I’m) going to bed'],
        ru: ['спокойной ночи', 'доброй ночи'],
      },
    },
    {
      intent: 'morning_briefing',
      patterns: { en: ['good morning', '(what is|what’s) new [today]'], ru: ['доброе утро', 'что нового'] },
    },
    {
      intent: 'leaving_home',
      patterns: {
        en: ['(we are|I am|I’m) leaving [home] [now]', '(goodbye|bye) [home]'],
        ru: ['(я ухожу|мы уходим) [из дома]', 'пока'],
      },
    },
    {
      intent: 'medicine_reminder',
      patterns: {
        en: ['remind me of my medicine', 'my medicine'],
        ru: ['напомни [мне] о лекарстве', 'напомни [мне] про лекарство'],
      },
    },
    {
      intent: 'radio',
      patterns: {
        en: ['(play|turn on|start) [the] radio', '(play|turn on) {station:stations}'],
        ru: ['(включи|запусти) радио', '(включи|поставь) {station:stations}'],
      },
    },
    {
      intent: 'quiet_hours',
      patterns: { en: ['[please] be quiet', 'quiet hours'], ru: ['[пожалуйста] тише', 'тихий час'] },
    },
    {
      // STOP of voice.ts: the hub falls silent.
      intent: 'voice.stop',
      patterns: {
        en: ['stop', 'cancel', 'never mind', "that's enough"],
        ru: ['стоп', 'хватит', 'отмена', 'не надо'],
      },
    },
    {
      intent: 'shopping_add',
      patterns: {
        en: [
          '(add|put) {thing} (to|on) [the] (shopping list|list)',
          'we need [more] {thing}',
          '[open] [the] shopping list',
        ],
        ru: [
          '(добавь|запиши) {thing} в [список] (покупки|покупок)',
          '(нужно|надо) купить {thing}',
          '[открой] список покупок',
        ],
      },
    },
  ],
};
