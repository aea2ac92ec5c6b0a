// settings: networks, sound, language, browsers and this hub, as far as its slot may ask the services.
import { audio1 } from '../../../firmware/audio/contract.ts';
import type { JsonObject, Skill, SkillReply, SkillRequest } from '../../../firmware/skills/sdk/skill.ts';
import type { HubContext, HubSkill } from '../../../firmware/skills/skill.ts';
import { readConfig } from '../../../firmware/system/config.ts';
import { pickLanguage, translator } from '../../../firmware/text/i18n.ts';
import { uplink1 } from '../../../firmware/uplink/contract.ts';
import { wifi1 } from '../../../firmware/wifi/contract.ts';
import { bad, textIn } from './body.ts';
import { asked } from './describe.ts';
import { type Choice, choiceShown, type Known, stateOf } from './shown.ts';
import { openSound } from './sound.ts';
import { openTasks } from './task.ts';
import { settingsText } from './texts.ts';
import { ASK_MS } from './times.ts';
import { settingsView } from './view.ts';
import { openWifi } from './wifi.ts';

/** Between looks while somebody watches, milliseconds. */
const LOOK_MS = 5000;

function start(ctx: HubContext): Skill {
  const uplink = ctx.client(uplink1);
  const tasks = openTasks(ctx.log, () => {
    if (!stopped) run();
  });
  const wifi = openWifi(ctx.client(wifi1), tasks);
  const sound = openSound(ctx.client(audio1), tasks, ctx.language);
  /** By owner. */
  const choices = new Map<string, Choice>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const choiceOf = (owner: string): Choice => choices.get(owner) ?? { network: '', asking: undefined };
  const choose = (owner: string, some: Partial<Choice>) =>
    void choices.set(owner, { ...choiceOf(owner), ...some });

  async function ask(): Promise<Known> {
    const [status, browsers, hub] = await Promise.all([
      wifi.status(),
      asked(uplink.ListBrowsers({}, ASK_MS)),
      asked(uplink.Status({}, ASK_MS)),
    ]);
    const { name, language: tag, wake_by_phrase, speech } = readConfig();
    const language = pickLanguage([tag]);
    return {
      name,
      language,
      phrase: { text: speech.wake[language], on: wake_by_phrase },
      wifi: status,
      networks: wifi.networks(),
      sound: sound.devices(),
      pair: sound.pair(),
      browsers,
      hub,
      notes: { wifi: wifi.note(), sound: sound.note() },
    };
  }
  async function look(): Promise<void> {
    const known = await ask();
    const state = stateOf(known, Date.now() / 1000);
    for (const owner of ctx.owners()) {
      const own = choiceShown(known, choiceOf(owner));
      ctx.setView(owner, settingsView(own.shown));
      ctx.setState(owner, { ...state, ...own.state });
    }
  }
  async function tick(): Promise<void> {
    clearTimeout(timer);
    await look();
    clearTimeout(timer);
    if (!stopped && ctx.viewers() > 0) timer = setTimeout(run, LOOK_MS);
  }
  function run(): void {
    tick().catch((cause) => ctx.log.error('the settings cannot be shown', { cause }));
  }

  /** An order whose effect is on the screen when it is answered. */
  const order =
    (work: (r: SkillRequest) => unknown) =>
    async (r: SkillRequest): Promise<SkillReply> => {
      await work(r);
      await look();
      return { body: { ok: true } };
    };
  const posts: Record<string, (r: SkillRequest) => unknown> = {
    refresh: sound.hear,
    async 'wifi/scan'({ owner_id }) {
      await wifi.scan();
      choose(owner_id, { network: '' });
    },
    'wifi/choose'({ owner_id, body }) {
      const network = textIn(body, 'value', 3);
      if (network !== '' && !wifi.networks()[Number(network)])
        throw bad('There is no such network.', '/value');
      choose(owner_id, { network });
    },
    'wifi/join': ({ body }) => wifi.join(body),
    'wifi/forget'({ owner_id }) {
      choose(owner_id, { asking: undefined });
      return wifi.forget();
    },
    'sound/pair': ({ body }) =>
      sound.choose(body['of'] === 'source' ? 'source' : 'sink', textIn(body, 'value', 300)),
    'sound/volume': ({ body }) => sound.setVolume(textIn(body, 'value', 3)),
    'sound/test': sound.test,
    'browsers/rename': ({ body }) =>
      uplink.RenameBrowser({ id: textIn(body, 'id', 64), label: textIn(body, 'label', 64) }, ASK_MS),
    async 'browsers/forget'({ owner_id, body }) {
      await uplink.ForgetBrowser({ id: textIn(body, 'id', 64) }, ASK_MS);
      choose(owner_id, { asking: undefined });
    },
    ask: ({ owner_id, body }) => choose(owner_id, { asking: askedIn(body) }),
  };

  return {
    attached: () => void run(),
    watched(_owner, viewers) {
      if (viewers > 0) void sound.hear().then(run);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
    endpoints: [
      {
        method: 'GET',
        path: '/v1/state',
        async answer({ owner_id }) {
          await look();
          return { body: { ...ctx.state(owner_id) } };
        },
      },
      ...Object.entries(posts).map(([path, work]) => ({
        method: 'POST' as const,
        path: `/v1/${path}`,
        answer: order(work),
      })),
    ],
  };
}

/** What a body wants to be asked about; nothing takes the question away. */
function askedIn({ what, id }: JsonObject): Choice['asking'] {
  if (what === 'network') return { what, id: '' };
  return what === 'browser' && typeof id === 'string' ? { what, id } : undefined;
}

export const skill: HubSkill = {
  title: (language) => translator(settingsText, language)('title'),
  start,
};
