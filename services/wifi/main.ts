// ingle-wifi: owns the radios. Known networks are joined again at its start; the access point comes when asked for. It
// leaves when idle, and comes back for a call, a radio that is plugged in and an end of wpa_supplicant.
import { join } from 'node:path';
import { MAX_BODY } from '../../firmware/protocol/limits.ts';
import type { Served } from '../../firmware/system/bus.ts';
import { dataOf, readConfig } from '../../firmware/system/config.ts';
import { exchange } from '../../firmware/system/http.ts';
import { startService } from '../../firmware/system/service.ts';
import { openStore } from '../../firmware/system/store.ts';
import { wifi1 } from '../../firmware/wifi/contract.ts';
import { migrations, networks } from '../../firmware/wifi/networks.ts';
import { abilities, addresses, listRadios, scan, setCountry } from '../../firmware/wifi/radio.ts';
import { openSoftap, removeStray } from '../../firmware/wifi/softap.ts';
import { supplicant } from '../../firmware/wifi/supplicant.ts';
import { createWifi } from '../../firmware/wifi/wifi.ts';

/** The service ends after this time without a call, an access point and a network on its way, milliseconds. */
const IDLE_MS = 60_000;

// Its stop waits for what the radios are at.
const life = await startService('wifi', { stopMs: 12_000 });
const { bus, log } = life;
const config = readConfig();
const runtime = join(config.runtime, 'wifi');

async function online(): Promise<boolean> {
  // A portal in between answers with a page of its own or sends elsewhere.
  const answer = await exchange(`${config.root_url}/health/live`, {
    timeoutMs: 5000,
    maxBytes: MAX_BODY,
  }).catch(() => undefined);
  return answer?.status === 200 && !answer.headers['content-type']?.includes('text/html');
}

let served: Served<typeof wifi1> | undefined;
await removeStray(runtime);
const store = await openStore(join(dataOf(config, 'wifi'), 'wifi.db'), migrations);
life.onStop(store.close);
const wifi = createWifi({
  radios: { list: listRadios, abilities, scan, addresses, setCountry, openSoftap, online },
  supplicant: await supplicant(
    bus,
    (state) => void wifi.supplicantState(state),
    () => void wifi.supplicantGone(),
  ),
  networks: networks(store),
  runtime,
  log,
  country: config.wifi_country,
  events: {
    state: (part, state, old, reason) => served?.emit('StateChanged', { part, state, old, reason }),
    scanDone: (count) => served?.emit('ScanDone', { count }),
    client: (mac, here) => served?.emit(here ? 'ClientJoined' : 'ClientLeft', { mac }),
    result: (ssid, ok, reason) => served?.emit('Result', { ssid, ok, reason }),
    radios: (radios) => served?.emit('RadiosChanged', { radios }),
  },
});
life.onStop(wifi.stop);
const begun = wifi.begin();
served = await bus.serve(
  wifi1,
  {
    Scan: ({ fresh }) => wifi.scan(fresh),
    Connect: (n) => wifi.connect(n),
    async Forget({ ssid }) {
      await wifi.forget(ssid);
      return {};
    },
    Status: () => wifi.status(),
    SoftapStart: (a) => wifi.softapStart(a),
    async SoftapStop() {
      await wifi.softapStop();
      return {};
    },
    Country: async ({ code }) => ({ code: await wifi.country(code) }),
  },
  { onCall: life.touch },
);
await begun;
life.ready();
life.leaveWhenIdle(IDLE_MS, wifi.isNeeded);
