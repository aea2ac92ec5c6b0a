// A household's rules, and what is said in it: 40 phrases in English and 20 in Russian, with what they mean.
import type { SlotValue } from '../../firmware/intent/kinds.ts';
import type { RuleSet } from '../../firmware/intent/schema.ts';

/** Wednesday. */
export const now = '2026-11-25T20:04';

export const household: RuleSet = {
  lists: {
    rooms: [
      {
        out: 'kitchen',
        says: { en: ['kitchen'], ru: ['кухня', 'кухне', 'кухню', 'кухни'] },
      },
      { out: 'bedroom', says: { en: ['bedroom'], ru: ['спальня', 'спальне', 'спальню', 'спальни'] } },
      {
        out: 'hall',
        says: { en: ['hall', 'corridor'], ru: ['коридор', 'коридоре', 'прихожая', 'прихожей'] },
      },
      {
        out: 'living_room',
        says: { en: ['living room', 'lounge'], ru: ['гостиная', 'гостиной', 'гостиную'] },
      },
    ],
    stations: [
      { out: 'jazz', says: { en: ['jazz', 'jazz radio'], ru: ['джаз', 'радио джаз'] } },
      { out: 'news', says: { en: ['the news', 'news'], ru: ['новости'] } },
      { out: 'classic', says: { en: ['classical music', 'classic'], ru: ['классика', 'классику'] } },
    ],
  },
  rules: [
    {
      intent: 'timer.start',
      patterns: {
        en: [
          '[please] (set|start) [(a|the)] timer (for|of) {length:duration}',
          '[please] [set] [a] {length:duration} timer',
          'wake me [up] in {length:duration}',
        ],
        ru: [
          '[пожалуйста] (поставь|включи|заведи) таймер на {length:duration}',
          'таймер на {length:duration}',
        ],
      },
    },
    {
      intent: 'timer.stop',
      patterns: { en: ['(stop|cancel) [the] timer'], ru: ['(останови|отмени|выключи) таймер'] },
    },
    {
      intent: 'timer.left',
      patterns: { en: ['how (long|much time) is left [on the timer]'], ru: ['сколько [времени] осталось'] },
    },
    {
      intent: 'alarm.set',
      patterns: {
        en: [
          'wake me [up] {when:time} [{day:date}]',
          '(set|start) (an|the) alarm (for|at) {when:time} [{day:date}]',
        ],
        ru: ['разбуди меня [{day:date}] {when:time}', 'поставь будильник [на] {when:time} [{day:date}]'],
      },
    },
    {
      intent: 'weather.today',
      patterns: {
        en: ["(what's|what is|how is) the weather [like]", 'will it (rain|snow)', "[what's] the forecast"],
        ru: ['какая [сейчас|сегодня] погода', 'что [там] с погодой'],
      },
    },
    {
      intent: 'weather.day',
      patterns: {
        en: ["(what's|what is|how is) the weather [like] {day:date}", 'will it (rain|snow) {day:date}'],
        ru: ['какая [будет] погода {day:date}', '(будет|пойдет) [ли] (дождь|снег) {day:date}'],
      },
    },
    {
      intent: 'lights.on',
      patterns: {
        en: [
          '(turn|switch) on [the] (light|lights) [in the {room:rooms}]',
          '(turn|switch) [the] {room:rooms} (light|lights) on',
          'lights on',
        ],
        ru: ['(включи|зажги) свет [(в|на) {room:rooms}]'],
      },
    },
    {
      intent: 'lights.off',
      patterns: {
        en: ['(turn|switch) off [(all|the)] (light|lights) [in the {room:rooms}]', 'lights (out|off)'],
        ru: ['(выключи|погаси) [весь] свет [(в|на) {room:rooms}]'],
      },
    },
    {
      intent: 'lights.level',
      patterns: {
        en: ['(set|dim) [the] [{room:rooms}] (light|lights) to {level:number} [(percent|%)]'],
        ru: [
          '(сделай|поставь) свет [(в|на) {room:rooms}] на {level:number} [(процент|процента|процентов|%)]',
        ],
      },
    },
    {
      intent: 'heating.set',
      patterns: {
        en: ['set [the] (heating|temperature) [in the {room:rooms}] to {degrees:number} [(degrees|°)]'],
        ru: [
          '(поставь|установи|сделай) [температуру] [(в|на) {room:rooms}] {degrees:number} (градус|градуса|градусов|°)',
        ],
      },
    },
    {
      intent: 'shopping.add',
      patterns: {
        en: ['(add|put) {item} (to|on) [the] (shopping list|list)', 'we need [more] {item}'],
        ru: ['(добавь|запиши) {item} в [список] (покупки|покупок)', '(нужно|надо) купить {item}'],
      },
    },
    {
      intent: 'shopping.add_some',
      patterns: {
        en: ['(add|put) {count:number} {item} (to|on) [the] (shopping list|list)'],
        ru: ['(нужно|надо) купить {count:number} {item}'],
      },
    },
    {
      intent: 'shopping.read',
      patterns: {
        en: ["(what's|what is) on [the] (shopping list|list)"],
        ru: ['что [у нас] в списке [покупок]'],
      },
    },
    {
      intent: 'radio.play',
      patterns: { en: ['(play|turn on) {station:stations}'], ru: ['(включи|поставь) {station:stations}'] },
    },
    { intent: 'music.play', patterns: { en: ['play {title}'], ru: ['поставь песню {title}'] } },
    {
      intent: 'radio.stop',
      patterns: { en: ['(stop|turn off) [the] (radio|music)'], ru: ['выключи (радио|музыку)'] },
    },
    {
      intent: 'volume.set',
      patterns: { en: ['[set] [the] volume [to] {level:number}'], ru: ['громкость [на] {level:number}'] },
    },
    {
      intent: 'volume.up',
      patterns: { en: ['louder', '(turn it|volume) up'], ru: ['громче', 'сделай [по] громче'] },
      slots: { step: { value: 10 } },
    },
    {
      intent: 'reminder.add',
      patterns: {
        en: [
          'remind me {when:time} to {what}',
          'remind me {day:date} to {what}',
          'remind me to {what} {when:time}',
        ],
        ru: ['напомни [мне] {when:time} {what}', 'напомни [мне] {day:date} {what}'],
      },
    },
    {
      intent: 'time.tell',
      patterns: { en: ['what time is it', "what's the time"], ru: ['который час', 'сколько времени'] },
    },
    {
      intent: 'goodnight',
      patterns: { en: ['good night'], ru: ['(спокойной|доброй) ночи'] },
      slots: { scene: { value: 'night' } },
    },
  ],
};

export type Said = readonly [text: string, intent: string, slots: Record<string, SlotValue>];

export const english: readonly Said[] = [
  ['Set a timer for ten minutes', 'timer.start', { length: 600 }],
  ['please start the timer for half an hour', 'timer.start', { length: 1800 }],
  ['Set a 25 minute timer.', 'timer.start', { length: 1500 }],
  ['wake me up in an hour and a half', 'timer.start', { length: 5400 }],
  ['stop the timer', 'timer.stop', {}],
  ['Cancel timer!', 'timer.stop', {}],
  ['how much time is left', 'timer.left', {}],
  ['wake me at quarter past seven', 'alarm.set', { when: '07:15' }],
  ['wake me up at 6:30 am tomorrow', 'alarm.set', { when: '06:30', day: '2026-11-26' }],
  ['Set an alarm for seven thirty in the morning', 'alarm.set', { when: '07:30' }],
  ['set the alarm for 7pm on friday', 'alarm.set', { when: '19:00', day: '2026-11-27' }],
  ['What’s the weather like?', 'weather.today', {}],
  ['what is the weather', 'weather.today', {}],
  ['will it rain', 'weather.today', {}],
  ["what's the weather tomorrow", 'weather.day', { day: '2026-11-26' }],
  ['will it snow on next friday', 'weather.day', { day: '2026-12-04' }],
  ['Turn on the lights', 'lights.on', {}],
  ['switch on the light in the kitchen', 'lights.on', { room: 'kitchen' }],
  ['turn the living room lights on', 'lights.on', { room: 'living_room' }],
  ['lights out', 'lights.off', {}],
  ['turn off all lights in the corridor', 'lights.off', { room: 'hall' }],
  ['dim the bedroom lights to forty percent', 'lights.level', { room: 'bedroom', level: 40 }],
  ['set the lights to 75%', 'lights.level', { level: 75 }],
  ['set the heating to twenty one and a half degrees', 'heating.set', { degrees: 21.5 }],
  ['Set the temperature in the bedroom to 18°', 'heating.set', { room: 'bedroom', degrees: 18 }],
  ['add oat milk to the shopping list', 'shopping.add', { item: 'oat milk' }],
  ['put toilet paper on the list', 'shopping.add', { item: 'toilet paper' }],
  ['we need more coffee', 'shopping.add', { item: 'coffee' }],
  ['add six eggs to the shopping list', 'shopping.add_some', { count: 6, item: 'eggs' }],
  ["what's on the shopping list", 'shopping.read', {}],
  ['play jazz radio', 'radio.play', { station: 'jazz' }],
  ['turn on the news', 'radio.play', { station: 'news' }],
  ['Play something by the Beatles', 'music.play', { title: 'something by the Beatles' }],
  ['turn off the radio', 'radio.stop', {}],
  ['set the volume to thirty five', 'volume.set', { level: 35 }],
  ['louder', 'volume.up', { step: 10 }],
  ['remind me at five pm to call the dentist', 'reminder.add', { when: '17:00', what: 'call the dentist' }],
  [
    'remind me to take out the bins in half an hour',
    'reminder.add',
    { when: '20:34', what: 'take out the bins' },
  ],
  ['what time is it', 'time.tell', {}],
  ['good night', 'goodnight', { scene: 'night' }],
];

export const russian: readonly Said[] = [
  ['Поставь таймер на двадцать пять минут', 'timer.start', { length: 1500 }],
  ['таймер на полтора часа', 'timer.start', { length: 5400 }],
  ['пожалуйста, заведи таймер на полчаса', 'timer.start', { length: 1800 }],
  ['останови таймер', 'timer.stop', {}],
  ['Сколько осталось?', 'timer.left', {}],
  ['разбуди меня в семь утра', 'alarm.set', { when: '07:00' }],
  ['разбуди меня завтра без пятнадцати восемь', 'alarm.set', { day: '2026-11-26', when: '07:45' }],
  ['поставь будильник на половину восьмого', 'alarm.set', { when: '07:30' }],
  ['какая сейчас погода', 'weather.today', {}],
  ['Какая будет погода послезавтра?', 'weather.day', { day: '2026-11-27' }],
  ['пойдет ли дождь в пятницу', 'weather.day', { day: '2026-11-27' }],
  ['включи свет на кухне', 'lights.on', { room: 'kitchen' }],
  ['Погаси весь свет', 'lights.off', {}],
  ['сделай свет в спальне на сорок процентов', 'lights.level', { room: 'bedroom', level: 40 }],
  [
    'установи температуру в гостиной двадцать два градуса',
    'heating.set',
    { room: 'living_room', degrees: 22 },
  ],
  ['добавь чёрный хлеб в список покупок', 'shopping.add', { item: 'чёрный хлеб' }],
  ['надо купить десять яиц', 'shopping.add_some', { count: 10, item: 'яиц' }],
  ['включи радио джаз', 'radio.play', { station: 'jazz' }],
  ['напомни мне через два часа позвонить маме', 'reminder.add', { when: '22:04', what: 'позвонить маме' }],
  ['который час', 'time.tell', {}],
];
