// ingle-uplink: io.ingle.Uplink1 on the bus, the socket to root behind it. Wires, decides nothing.

import { connect, type Served } from '../../firmware/system/bus.ts';
import { readConfig } from '../../firmware/system/config.ts';
import { logger } from '../../firmware/system/log.ts';
import { ready, status, stopping } from '../../firmware/system/notify.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import type { Identity } from '../../firmware/uplink/store.ts';
import { openUplink } from '../../firmware/uplink/uplink.ts';

process.umask(0o077);
const log = logger('uplink');
const config = readConfig();
const bus = await connect();
let served: Served<typeof uplink1> | undefined;

const uplink = await openUplink({
  config,
  log,
  on: {
    connected(connected) {
      served?.emit('Connected', { connected });
      status(connected ? `connected to ${config.root_url}` : 'root is away');
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
    const differ = changes.map((c): [string, string, string] => [c.field, c.was, c.now]);
    return { owner_id, subnet_id, hub_id, app_url, changes: differ };
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
      .map(
        (b) =>
          [b.id, b.label, BigInt(b.paired_at), BigInt(b.seen_at)] satisfies [string, string, bigint, bigint],
      ),
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
ready();

async function end(code: number): Promise<void> {
  stopping();
  setTimeout(() => process.exit(code), 3000).unref();
  await uplink.close().catch(() => {});
  process.exit(code);
}
process.once('SIGTERM', () => void end(0));
process.once('SIGINT', () => void end(0));
bus.closed.then(() => {
  log.error('the message bus is gone');
  return end(1);
});
