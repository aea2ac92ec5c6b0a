// What services told, as the screen: the state that all owners see, and what one of them sees by their own choice. Pure.
import type { Json, JsonObject } from '../../../firmware/skills/sdk/skill.ts';
import { type Localized, localizer } from '../../../firmware/text/i18n.ts';
import * as describe from './describe.ts';
import { settingsText } from './texts.ts';
import type { Shown } from './view.ts';

export interface Known {
  /** The hub's own. */
  name: string;
  language: string;
  /** What wakes it, and whether it does. */
  phrase: { text: string; on: boolean };
  wifi: describe.Asked<describe.Wifi>;
  networks: describe.Networks;
  /** Undefined until the service was first asked. */
  sound: describe.Asked<describe.Devices> | undefined;
  pair: describe.Pair;
  browsers: describe.Asked<{ browsers: describe.Browsers }>;
  hub: describe.Asked<describe.Link>;
  /** What came of the last orders. */
  notes: { wifi: Localized | ''; sound: Localized | '' };
}

/** What an owner has chosen on the screen. */
export interface Choice {
  /** Its place among the networks; empty for none. */
  network: string;
  asking: Shown['asking'];
}

const t = localizer(settingsText);
const silence: describe.Devices = { sinks: [], sources: [] };

const devicesIn = ({ sound }: Known) => (sound && 'said' in sound ? sound.said : silence);
const browsersIn = ({ browsers }: Known) => ('said' in browsers ? browsers.said.browsers : []);
const joinedIn = ({ wifi }: Known) => ('said' in wifi ? describe.joinedIn(wifi.said) : '');

/** @param now Unix seconds */
export function stateOf(k: Known, now: number): JsonObject {
  const devices = devicesIn(k);
  const trouble = (a: describe.Asked<unknown> | undefined) =>
    (!a || 'said' in a ? '' : a.trouble) as unknown as Json;
  const named = (list: readonly { id: string; name: string }[]) => list.map(({ id, name }) => ({ id, name }));
  const paired = 'said' in k.browsers ? t('paired', { n: browsersIn(k).length }) : '';
  const wifi = 'said' in k.wifi ? describe.wifiState(k.wifi.said, k.notes.wifi) : {};
  return {
    name: k.name,
    // What the tile tells: the network, or where there is no such service, who may come.
    brief: wifi['text'] ?? (paired as unknown as Json),
    language: k.language,
    phrase: {
      label: t('phrase', { phrase: k.phrase.text }) as unknown as Json,
      on: k.phrase.on ? 'on' : 'off',
    },
    trouble: {
      wifi: trouble(k.wifi),
      browsers: trouble(k.browsers),
      hub: trouble(k.hub),
      sound: trouble(k.sound),
    },
    wifi,
    networks: describe.networksState(k.networks),
    sinks: named(devices.sinks),
    sources: named(devices.sources),
    sound: describe.soundState(devices, k.pair, k.notes.sound),
    browsers: describe.browsersState(browsersIn(k)),
    hub: 'said' in k.hub ? describe.hubState(k.hub.said, now) : {},
  };
}

/** What one owner sees by their choice. What they are asked about has gone where it has no name any more. */
export function choiceShown(k: Known, { network, asking }: Choice): { shown: Shown; state: JsonObject } {
  const devices = devicesIn(k);
  const browsers = browsersIn(k);
  const joined = joinedIn(k);
  const name = asking?.what === 'browser' ? (browsers.find((x) => x.id === asking.id)?.label ?? '') : joined;
  return {
    shown: {
      trouble: {
        wifi: !('said' in k.wifi),
        browsers: !('said' in k.browsers),
        hub: !('said' in k.hub),
        sound: k.sound !== undefined && !('said' in k.sound),
      },
      networks: k.networks.length,
      joined: joined !== '',
      radio: 'said' in k.wifi && k.wifi.said.radios > 0,
      sinks: devices.sinks.map((s) => s.id),
      sources: devices.sources.map((s) => s.id),
      volumes: describe.volumesOf(describe.volumeOf(devices, k.pair.sink)),
      browsers: browsers.map((x) => x.id),
      asking: name ? asking : undefined,
    },
    state: {
      chosen: network,
      ssid: k.networks[Number(network || -1)]?.ssid ?? '',
      asking: asking && name ? (t('ask', { name }) as unknown as Json) : '',
    },
  };
}
