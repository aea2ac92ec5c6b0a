// ingle-uplink: io.ingle.Uplink1 on the bus, the socket to root behind it. Wires, decides nothing.

import type { Served } from '../../firmware/system/bus.ts';
import { readConfig } from '../../firmware/system/config.ts';
import { startService } from '../../firmware/system/service.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import type { Identity } from '../../firmware/uplink/store.ts';
import { openUplink } from '../../firmware/uplink/uplink.ts';

process.umask(0o077);
// Root may be away, and a socket to it is then not closed in order.
const life = await startService('uplink', { stopMs: 3000 });
const { bus, log } = life;
const config = readConfig();
let served: Served<typeof uplink1> | undefined;

const uplink = await openUplink({
  config,
  log,
  on: {
    connected(connected) {
      served?.emit('Connected', { connected });
      life.status(connected ? `connected to ${config.root_url}` : 'root is away');
    },
    paired: (m) => served?.emit('Paired', m),
    pairingFailed: (m) => served?.emit('PairingFailed', m),
  },
});

const placeOf = ({ owner_id, subnet_id, hub_id, expires_at }: Identity) => {
  return { owner_id, subnet_id, hub_id, keys: uplink.keyFile, expires_at: BigInt(expires_at) };
};
served = await bus.serve(uplink1, {
  Enrol: async () => placeOf(await uplink.enrol()),
  async Offered() {
    const { place, changes } = await uplink.offered();
    const { owner_id, subnet_id, hub_id, app_url } = place;
    return { owner_id, subnet_id, hub_id, app_url, changes: [...changes] };
  },
  Adopt: async (confirmed) => placeOf(await uplink.adopt(confirmed)),
  async IssueCode({ new_passkey }) {
    const w = await uplink.issueCode(new_passkey);
    return {
      device_code: w.code,
      secret: w.secret,
      link: w.link,
      verify_uri: w.verify_uri,
      expires_at: BigInt(w.expires_at),
      taken: w.taken,
    };
  },
  Status() {
    const { connected, identity, browsers, channels, pending, insecure, last_error } = uplink.status();
    return {
      connected,
      root: config.root_url,
      owner_id: identity?.owner_id ?? '',
      subnet_id: identity?.subnet_id ?? '',
      hub_id: identity?.hub_id ?? '',
      keys: uplink.keyFile,
      expires_at: BigInt(identity?.expires_at ?? 0),
      browsers,
      channels,
      pending,
      insecure,
      last_error,
    };
  },
  ListBrowsers: () => ({
    browsers: uplink
      .browsers()
      .map((b) => ({ ...b, paired_at: BigInt(b.paired_at), seen_at: BigInt(b.seen_at) })),
  }),
  async ForgetBrowser({ id }) {
    await uplink.forget(id);
    return {};
  },
  async RenameBrowser({ id, label }) {
    await uplink.rename(id, label);
    return {};
  },
  async RotateKey() {
    await uplink.rotateKey();
    return {};
  },
});
uplink.start();
life.onStop(uplink.close);
life.ready();
