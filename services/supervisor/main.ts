// ingle-supervisor: io.ingle.Supervisor1 over systemd. Activated by D-Bus, gone when idle.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { granting } from '../../firmware/skills/grants.ts';
import { boundsIn } from '../../firmware/supervisor/bounds.ts';
import { ownServices } from '../../firmware/supervisor/own.ts';
import { serveSupervisor } from '../../firmware/supervisor/serve.ts';
import { systemd } from '../../firmware/supervisor/systemd.ts';
import { readConfig } from '../../firmware/system/config.ts';
import { startService } from '../../firmware/system/service.ts';

/** The verified root's units; nothing that a service can write counts. */
const folder = process.env['INGLE_UNITS'] ?? '/usr/lib/systemd/system';
const IDLE_MS = 30_000;

const life = await startService('supervisor');
const files = readdirSync(folder).filter((f) => /^ingle-.*\.service$/.test(f));
const own = ownServices(new Map(files.map((f) => [f, readFileSync(join(folder, f), 'utf8')])));
const config = readConfig();
const { label } = config;
const { busy } = await serveSupervisor(life.bus, systemd(life.bus, own), {
  log: life.log,
  mayRead: granting(life.bus, config, 'journal'),
  bounds: () => boundsIn(config),
  known: label ? [label.psk, label.pin] : [],
  onCall: life.touch,
});
life.ready();
life.leaveWhenIdle(IDLE_MS, busy);
