// settings: networks, sound, language, browsers and this hub, as far as its slot may ask the services.
import { audio1 } from '../../../firmware/audio/contract.ts';
import { IngleError } from '../../../firmware/protocol/errors.ts';
import type {
  Json,
  JsonObject,
  Skill,
  SkillReply,
  SkillRequest,
} from '../../../firmware/skills/sdk/skill.ts';
import type { HubContext, HubSkill } from '../../../firmware/skills/skill.ts';
import { readConfig } from '../../../firmware/system/config.ts';
import { type Localized, localizer, pickLanguage, translator } from '../../../firmware/text/i18n.ts';
import { uplink1 } from '../../../firmware/uplink/contract.ts';
import { wifi1 } from '../../../firmware/wifi/contract.ts';
import * as describe from './describe.ts';
import { settingsText } from './texts.ts';
import { type Shown, settingsView } from './view.ts';

/** Between looks while somebody watches, milliseconds. */
const LOOK_MS = 5000;
/** Services that have to be started first take longer on a slow hub, milliseconds. */
const ASK_MS = 15_000;
const JOIN_MS = 130_000;
const MAX_NETWORKS = 40;

const t = localizer(settingsText);
const bad = (says: string, pointer: string) => new IngleError('invalid_request', says, { pointer });

function textIn(body: JsonObject, key: string, most: number): string {
  const value = body[key];
  if (typeof value !== 'string' || value.length > most)
    throw bad(`Give "${key}", at most ${most} characters.`, `/${key}`);
  return value;
}

function start(ctx: HubContext): Skill {
  const [wifi, audio, uplink] = [ctx.client(wifi1), ctx.client(audio1), ctx.client(uplink1)];
  let networks: describe.Networks = [];
  let devices: describe.Asked<describe.Devices> | undefined;
  let pair = { sink: '', source: '' };
  let joined = '';
  let browsers: describe.Browsers = [];
  let notes: { wifi: Localized | ''; sound: Localized | '' } = { wifi: '', sound: '' };
  let busy: 'join' | 'test' | undefined;
  /** What each owner has chosen on the screen. */
  const chosen = new Map<string, { network: string; asking: Shown['asking'] }>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const choiceOf = (owner: string) => chosen.get(owner) ?? { network: '', asking: undefined };

  /** The sound service is woken for a look of its own, not every few seconds. */
  async function hear(): Promise<void> {
    devices = await describe.asked(audio.Enumerate({}, ASK_MS));
    const used = await audio.LoadProfile({}, ASK_MS).catch(() => undefined);
    const first = 'said' in devices ? devices.said : { sinks: [], sources: [] };
    pair = {
      sink: used?.profile.sink_id ?? first.sinks[0]?.id ?? '',
      source: used?.profile.source_id ?? first.sources[0]?.id ?? '',
    };
  }

  async function look(): Promise<void> {
    const [w, b, l] = await Promise.all([
      describe.asked(wifi.Status({}, ASK_MS)),
      describe.asked(uplink.ListBrowsers({}, ASK_MS)),
      describe.asked(uplink.Status({}, ASK_MS)),
    ]);
    joined = 'said' in w ? describe.joinedIn(w.said) : '';
    browsers = 'said' in b ? b.said.browsers : [];
    const sound = devices && 'said' in devices ? devices.said : { sinks: [], sources: [] };
    const trouble = (a: describe.Asked<unknown> | undefined) =>
      (!a || 'said' in a ? '' : a.trouble) as unknown as Json;
    const config = readConfig();
    const of = (list: readonly { id: string; name: string }[]) => list.map(({ id, name }) => ({ id, name }));
    const state: JsonObject = {
      name: config.name,
      language: pickLanguage([config.language]),
      trouble: { wifi: trouble(w), browsers: trouble(b), hub: trouble(l), sound: trouble(devices) },
      wifi: 'said' in w ? describe.wifiState(w.said, notes.wifi) : {},
      networks: describe.networksState(networks),
      sinks: of(sound.sinks),
      sources: of(sound.sources),
      sound: describe.soundState(sound, pair, notes.sound),
      browsers: describe.browsersState(browsers),
      hub: 'said' in l ? describe.hubState(l.said, Date.now() / 1000) : {},
    };
    for (const owner of ctx.owners()) {
      const { network, asking } = choiceOf(owner);
      const name =
        asking?.what === 'browser' ? (browsers.find((x) => x.id === asking.id)?.label ?? '') : joined;
      ctx.setView(
        owner,
        settingsView({
          trouble: {
            wifi: !('said' in w),
            browsers: !('said' in b),
            hub: !('said' in l),
            sound: devices !== undefined && !('said' in devices),
          },
          networks: networks.length,
          joined: joined !== '',
          radio: 'said' in w && w.said.radios > 0,
          sinks: sound.sinks.map((s) => s.id),
          sources: sound.sources.map((s) => s.id),
          volumes: describe.volumesOf(describe.volumeOf(sound, pair.sink)),
          browsers: browsers.map((x) => x.id),
          asking: name ? asking : undefined,
        }),
      );
      ctx.setState(owner, {
        ...state,
        chosen: network,
        ssid: networks[Number(network || -1)]?.ssid ?? '',
        asking: asking && name ? (t('ask', { name }) as unknown as Json) : '',
      });
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

  /** What takes its time goes on after the answer; its end is told on the screen. */
  function begin(what: 'join' | 'test', note: Localized, work: () => Promise<Localized>): void {
    if (busy) throw new IngleError('conflict', 'Something else is going on here. Wait for its end.');
    busy = what;
    const of = what === 'join' ? 'wifi' : 'sound';
    notes = { ...notes, [of]: note };
    work()
      .catch((cause) => {
        ctx.log.warn('a setting was not changed', { what, cause });
        return t('away');
      })
      .then((end) => {
        notes = { ...notes, [of]: end };
        busy = undefined;
        if (!stopped) run();
      });
  }

  function join(body: JsonObject): void {
    const ssid = textIn(body, 'ssid', 32);
    const psk = textIn({ psk: '', ...body }, 'psk', 64);
    if (ssid === '' || Buffer.byteLength(ssid) > 32) throw bad('A network name has 1 to 32 bytes.', '/ssid');
    if (psk !== '' && !/^[\x20-\x7e]{8,63}$/.test(psk) && !/^[0-9a-f]{64}$/i.test(psk))
      throw bad('A Wi-Fi password has 8 to 63 characters.', '/psk');
    const seen = networks.some((n) => n.ssid === ssid);
    begin('join', t('joining', { ssid }), async () => {
      const end = await wifi.Connect({ ssid, psk, hidden: !seen, security: '' }, JOIN_MS);
      return describe.outcomeOf(ssid, end.ok, end.reason);
    });
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
    refresh: hear,
    async 'wifi/scan'({ owner_id }) {
      networks = (await wifi.Scan({ fresh: true }, 30_000)).networks.slice(0, MAX_NETWORKS);
      notes = { ...notes, wifi: t('found', { n: networks.length }) };
      chosen.set(owner_id, { ...choiceOf(owner_id), network: '' });
    },
    'wifi/choose'({ owner_id, body }) {
      const network = textIn(body, 'value', 3);
      if (network !== '' && !networks[Number(network)]) throw bad('There is no such network.', '/value');
      chosen.set(owner_id, { ...choiceOf(owner_id), network });
    },
    'wifi/join': ({ body }) => join(body),
    async 'wifi/forget'({ owner_id }) {
      chosen.set(owner_id, { ...choiceOf(owner_id), asking: undefined });
      if (joined) await wifi.Forget({ ssid: joined }, ASK_MS);
    },
    async 'sound/pair'({ body }) {
      const next = { ...pair, [body['of'] === 'source' ? 'source' : 'sink']: textIn(body, 'value', 300) };
      await audio.SaveProfile({ sink_id: next.sink, source_id: next.source }, ASK_MS);
      notes = { ...notes, sound: t('pairKept') };
      await hear();
    },
    async 'sound/volume'({ body }) {
      const volume = Number(textIn(body, 'value', 3));
      if (!Number.isInteger(volume) || volume < 0 || volume > 100)
        throw bad('A volume is 0 to 100.', '/value');
      await audio.SetVolume({ sink_id: pair.sink, volume: volume / 100 }, ASK_MS);
      await hear();
    },
    'sound/test'() {
      begin('test', t('testing'), async () => {
        const end = await audio.Probe({ lang: ctx.language, quick: true }, JOIN_MS);
        await hear();
        return describe.verdictOf(end);
      });
    },
    async 'browsers/rename'({ body }) {
      await uplink.RenameBrowser({ id: textIn(body, 'id', 64), label: textIn(body, 'label', 64) }, ASK_MS);
    },
    async 'browsers/forget'({ owner_id, body }) {
      await uplink.ForgetBrowser({ id: textIn(body, 'id', 64) }, ASK_MS);
      chosen.set(owner_id, { ...choiceOf(owner_id), asking: undefined });
    },
    ask({ owner_id, body: { what, id } }) {
      const asking =
        what === 'network'
          ? ({ what, id: '' } as const)
          : what === 'browser' && typeof id === 'string'
            ? ({ what, id } as const)
            : undefined;
      chosen.set(owner_id, { ...choiceOf(owner_id), asking });
    },
  };

  return {
    attached: () => void run(),
    watched(_owner, viewers) {
      if (viewers > 0) void hear().then(run);
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

export const skill: HubSkill = {
  title: (language) => translator(settingsText, language)('title'),
  start,
};
