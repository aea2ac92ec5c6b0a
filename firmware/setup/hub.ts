// The ladder's ports over the hub's own services. What they answer is turned into what the ladder asks here.
import type { audio1 } from '../audio/contract.ts';
import { toIngleError } from '../protocol/errors.ts';
import { MAX_BODY } from '../protocol/limits.ts';
import type { Caller } from '../system/contract.ts';
import { exchange } from '../system/http.ts';
import type { Log } from '../system/log.ts';
import type { Language } from '../text/i18n.ts';
import { CODE_MS, type uplink1 } from '../uplink/contract.ts';
import type { wifi1 } from '../wifi/contract.ts';
import type { bot1 } from './bot-contract.ts';
import { times } from './ladder.ts';
import type { AudioPort, ChannelPort, Ports, WifiPort } from './ports.ts';
import type { Signs } from './signs.ts';

/** A pairing code is asked for again for so long while the link to root comes up, milliseconds. */
const LINK_MS = 20_000;

/** @param o.silent the hub has no sound card */
export function audioPort(
  audio: Caller<typeof audio1>,
  o: { language: Language; silent: () => boolean },
): AudioPort {
  let probed = false;

  async function probe(quick: boolean, signal: AbortSignal) {
    // At boot, a hub without a card has its access point the sooner; the sound server says the same half a minute later.
    const first = !probed && !quick;
    probed = true;
    if (first && o.silent()) return { ok: false, reason: 'no_devices' };
    const cancel = () => void audio.Cancel({}).catch(() => {});
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const r = await audio.Probe({ lang: o.language, quick }, 130_000);
      return { ok: r.state === 'READY', reason: r.reason, sink_id: r.sink_id, source_id: r.source_id };
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  return {
    probe: (signal) => probe(false, signal),
    retest: (signal) => probe(true, signal),
    devices: () => audio.Enumerate({}),
    test: (sink_id, source_id) => audio.Test({ sink_id, source_id }, 40_000),
    select: async (sink_id, source_id) => void (await audio.SaveProfile({ sink_id, source_id })),
    async say(texts) {
      for (const { text, language } of texts)
        await audio.Say({ text, lang: language, slow: true, sink_id: '*' }, 180_000);
    },
  };
}

/** How many networks are known. */
async function known(wifi: Caller<typeof wifi1>): Promise<number> {
  return (await wifi.Status({})).detail.known;
}

const wifiPort = (wifi: Caller<typeof wifi1>): WifiPort => ({
  radios: async () => (await wifi.Status({})).radios,
  scan: (fresh) => wifi.Scan({ fresh }, 40_000),
  connect: (n) => wifi.Connect({ ...n, security: '' }, 130_000),
});

/**
 * The access point as a channel. The only radio that is in a network, or about to join one it knows, is not taken out
 * of it unasked.
 * @param now milliseconds since the process began
 */
export function accessPoint(
  wifi: Caller<typeof wifi1>,
  signs: Pick<Signs, 'accessPoint' | 'noAccessPoint'>,
  now: () => number = () => performance.now(),
): ChannelPort {
  return {
    name: 'softap',
    async device(take) {
      const { radios, softap, station, detail } = await wifi.Status({});
      const { known } = detail;
      const joining = known > 0 && now() < times.settle;
      const held = radios === 1 && softap === 'off' && (joining || !['off', 'lost'].includes(station));
      return radios === 0 || (held && !take) ? '' : `radios ${radios}`;
    },
    serving: async () => (await wifi.Status({})).softap !== 'off',
    async start({ ssid, psk, idle_s }) {
      const ap = await wifi.SoftapStart({ ssid, psk, cidr: '', idle_timeout: idle_s }, 60_000);
      signs.accessPoint(ap.address);
    },
    async stop() {
      signs.noAccessPoint();
      await wifi.SoftapStop({});
    },
  };
}

/** The messaging bot as a channel. */
export function botChannel(bot: Caller<typeof bot1>): ChannelPort {
  return {
    name: 'bot',
    // It needs a network; without one it waits for it.
    device: async () => 'network',
    start: async () => void (await bot.Start({}, 30_000)),
    stop: async () => void (await bot.Stop({})),
  };
}

/** @param o.rootUrl public address of root, whose health tells whether the hub is online */
export function hubPorts(o: {
  audio: AudioPort;
  wifi: Caller<typeof wifi1>;
  uplink: Caller<typeof uplink1>;
  signs: Signs;
  channels: ChannelPort[];
  cable: () => boolean;
  rootUrl: string;
  log: Log;
}): Ports {
  const { wifi, uplink } = o;
  const online = () =>
    exchange(`${o.rootUrl}/health/live`, { timeoutMs: 4000, maxBytes: MAX_BODY }).then(
      (r) => r.status >= 200 && r.status < 300,
      () => false,
    );
  return {
    audio: o.audio,
    wifi: wifiPort(wifi),
    channels: [accessPoint(wifi, o.signs), ...o.channels],
    hasNetwork: async () => o.cable() || (await known(wifi)) > 0,
    online,
    owned: async () => (await uplink.Status({}, 5000)).browsers > 0,
    async pairing(new_passkey) {
      // Just after joining, the link to root is still coming up; who asks for the code waits those seconds.
      for (const end = performance.now() + LINK_MS; ; ) {
        try {
          return await uplink.IssueCode({ new_passkey }, CODE_MS);
        } catch (e) {
          const isPassing = !['conflict', 'rate_limited'].includes(toIngleError(e).code);
          if (!isPassing || performance.now() > end || !(await online())) throw e;
          await new Promise((resolve) => setTimeout(resolve, 1000));
        }
      }
    },
    offered: () => uplink.Offered({}, CODE_MS),
    async adopt(confirmed) {
      await uplink.Adopt({ ...confirmed }, CODE_MS);
    },
    async erase() {
      await wifi
        .Forget({ ssid: '' })
        .catch((e) => o.log.warn('networks are not forgotten yet', { error: e as Error }));
      o.signs.erase();
      o.log.notice('factory reset: everything kept is being erased');
    },
  };
}
