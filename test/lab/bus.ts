// A private D-Bus daemon for a test, with our own activation and policy where asked for.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { start, stop } from '../../firmware/system/exec.ts';
import { tethered } from './child.ts';
import { within } from './wait.ts';

/**
 * Starts a dbus-daemon only this user reaches; `INGLE_BUS_ADDRESS` is set to it unless `quiet`.
 * @param o.env what the services it starts find in their environment, beside its address
 */
export async function privateBus(
  o: { quiet?: boolean; servicedir?: string; env?: Readonly<Record<string, string>> } = {},
) {
  const dir = mkdtempSync(join(tmpdir(), 'ingle-bus-'));
  const config = join(dir, 'bus.conf');
  writeFileSync(
    config,
    `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=${dir}/bus</listen><auth>EXTERNAL</auth>
${o.servicedir ? `<servicedir>${o.servicedir}</servicedir>` : ''}
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>`,
  );
  const daemon = ['dbus-daemon', '--config-file', config, '--nofork', '--nopidfile', '--print-address'];
  const [first, ...rest] = [...tethered, ...daemon];
  const env = o.env && { PATH: process.env['PATH'], ...o.env, INGLE_BUS_ADDRESS: `unix:path=${dir}/bus` };
  const child = start(first!, rest, { stdio: ['ignore', 'pipe', 'inherit'], ...(env ? { env } : {}) });
  const address = await within(
    new Promise<string>((resolve, reject) => {
      child.on('error', reject);
      child.stdout!.once('data', (d: Buffer) => resolve(d.toString().trim()));
    }),
    'dbus-daemon to say its address',
  );
  if (!o.quiet) process.env['INGLE_BUS_ADDRESS'] = address;
  return {
    address,
    dir,
    async stop() {
      await stop(child);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
