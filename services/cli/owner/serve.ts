// `ingle hub serve`: the link to root in this terminal, on the bus that is there or on a private one.
import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { IngleError } from '../../../firmware/protocol/errors.ts';
import { type Bus, connect } from '../../../firmware/system/bus.ts';
import { readConfig } from '../../../firmware/system/config.ts';
import { start, stop } from '../../../firmware/system/exec.ts';
import { uplink1 } from '../../../firmware/uplink/contract.ts';
import { findHouse } from '../find.ts';
import { startHouse } from '../house/house.ts';
import type { Say } from '../say.ts';
import { plain } from '../show.ts';

/** Runs until SIGINT or SIGTERM. @throws IngleError `conflict` when the hub already runs here. */
export async function serve(
  say: Say,
  o: {
    root?: string | undefined;
    data?: string | undefined;
    host?: string | undefined;
    port?: string | undefined;
  },
): Promise<void> {
  const apiAt = { host: o.host, port: portOf(o.port, say) };
  if (apiAt.host !== undefined && isIP(apiAt.host) === 0)
    throw new IngleError('invalid_request', say.text('serveHost'));
  let wake: (e?: IngleError) => void = () => {};
  const asked = new Promise<void>((resolve, reject) => {
    wake = (e) => (e ? reject(e) : resolve());
  });
  asked.catch(() => {});
  for (const s of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(s, () => wake());
  const root = o.root ?? readConfig().root_url;
  const address = process.env['INGLE_BUS_ADDRESS'];

  if (!address && (findHouse() || !existsSync('/run/dbus/system_bus_socket') || o.data || o.host || o.port)) {
    const house = await startHouse({ root, data: o.data, apiAt, say: { ...say, line: () => {} } });
    try {
      const bus = await house.connection();
      say.event({ event: 'serving_api', api: house.api });
      say.line(say.text('hubApi', { api: house.api }));
      await tell(bus, say, root);
      bus.closed.then(() => wake(new IngleError('unavailable', say.text('noHouse'))));
      // Enrolment is part of serving: without it there is no socket to open.
      house
        .uplink()
        .then((u) => u.Enrol({}))
        .catch((e: IngleError) => say.line(e.message));
      await Promise.race([asked, house.poweredOff]);
    } finally {
      await house.stop();
    }
    return;
  }
  const bus = await connect(address);
  if ((await bus.listNames()).includes(uplink1.bus)) throw new IngleError('conflict', say.text('hubAlready'));
  await tell(bus, say, root);
  const main = join(dirname(fileURLToPath(import.meta.url)), '../uplink/main.js');
  const env = Object.fromEntries(Object.entries(process.env).filter(([k]) => k.startsWith('INGLE_')));
  const child = start(process.execPath, [main], {
    env: { ...env, INGLE_ROOT: root } as NodeJS.ProcessEnv,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  child.on('exit', (code, signal) =>
    wake(new IngleError('unavailable', say.text('hubEnded', { how: signal ?? `status ${code}` }))),
  );
  try {
    await asked;
  } finally {
    await stop(child);
    bus.close();
  }
}

function portOf(given: string | undefined, say: Say): number | undefined {
  if (given === undefined) return undefined;
  const port = /^\d{1,5}$/.test(given) ? Number(given) : 0;
  if (port < 1 || port > 65_535) throw new IngleError('invalid_request', say.text('badPort'));
  return port;
}

/** Says what happens on the link from now on. */
async function tell(bus: Bus, say: Say, root: string): Promise<void> {
  say.event({ event: 'serving', root });
  say.line(say.text('hubServing', { root }));
  let last: boolean | undefined;
  const told = (connected: boolean) => {
    if (connected === last || (last === undefined && !connected)) return;
    last = connected;
    say.event({ event: connected ? 'connected' : 'disconnected', root });
    say.line(say.text(connected ? 'hubConnected' : 'hubDisconnected', { root }));
  };
  await bus.onSignal(uplink1, 'Connected', ({ connected }) => told(connected));
  await bus.onSignal(uplink1, 'Paired', ({ browser, label }) => {
    say.event({ event: 'paired', browser, label });
    say.line(say.text('paired', { label: plain(label) || browser.slice(0, 8) }));
  });
  await bus.onSignal(uplink1, 'PairingFailed', ({ reason, left }) => {
    say.event({ event: 'pairing_failed', reason, left });
    say.line(say.text('pairFailed', { reason: plain(reason), left }));
  });
  // It may have connected before we listened.
  if ((await bus.listNames()).includes(uplink1.bus)) told((await bus.client(uplink1).Status({})).connected);
}
