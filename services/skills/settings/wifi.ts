// The screen's part of Wi-Fi: the networks that were found, the one that is joined, and the orders.
import type { JsonObject } from '../../../firmware/skills/sdk/skill.ts';
import type { Caller } from '../../../firmware/system/contract.ts';
import { type Localized, localizer } from '../../../firmware/text/i18n.ts';
import type { wifi1 } from '../../../firmware/wifi/contract.ts';
import { bad, textIn } from './body.ts';
import { type Asked, asked, joinedIn, type Networks, outcomeOf, type Wifi } from './describe.ts';
import type { Tasks } from './task.ts';
import { settingsText } from './texts.ts';
import { ASK_MS, WORK_MS } from './times.ts';

const SCAN_MS = 30_000;
const MAX_NETWORKS = 40;

const t = localizer(settingsText);

export function openWifi(wifi: Caller<typeof wifi1>, tasks: Tasks) {
  let networks: Networks = [];
  let joined = '';
  let note: Localized | '' = '';
  const tell = (text: Localized): void => {
    note = text;
  };
  return {
    /** What the last scan found. */
    networks: (): Networks => networks,
    /** What came of the last order. */
    note: () => note,
    async status(): Promise<Asked<Wifi>> {
      const status = await asked(wifi.Status({}, ASK_MS));
      joined = 'said' in status ? joinedIn(status.said) : '';
      return status;
    },
    async scan(): Promise<void> {
      networks = (await wifi.Scan({ fresh: true }, SCAN_MS)).networks.slice(0, MAX_NETWORKS);
      tell(t('found', { n: networks.length }));
    },
    /** Joins the network that `ssid` and `psk` of the body name; an open one has no password. */
    join(body: JsonObject): void {
      const ssid = textIn(body, 'ssid', 32);
      const psk = textIn({ psk: '', ...body }, 'psk', 64);
      if (ssid === '' || Buffer.byteLength(ssid) > 32)
        throw bad('A network name has 1 to 32 bytes.', '/ssid');
      if (psk !== '' && !/^[\x20-\x7e]{8,63}$/.test(psk) && !/^[0-9a-f]{64}$/i.test(psk))
        throw bad('A Wi-Fi password has 8 to 63 characters.', '/psk');
      const seen = networks.some((n) => n.ssid === ssid);
      tasks.begin('join', tell, t('joining', { ssid }), async () => {
        const end = await wifi.Connect({ ssid, psk, hidden: !seen, security: '' }, WORK_MS);
        return outcomeOf(ssid, end.ok, end.reason);
      });
    },
    /** Forgets the network that is joined. */
    async forget(): Promise<void> {
      if (joined) await wifi.Forget({ ssid: joined }, ASK_MS);
    },
  };
}
