// ingle-audio: io.ingle.Audio1, activated by D-Bus, gone when idle.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { audio1 } from '../../firmware/audio/contract.ts';
import { openProfiles } from '../../firmware/audio/profile.ts';
import { connect } from '../../firmware/system/bus.ts';
import { dataOf, readConfig } from '../../firmware/system/config.ts';
import { logger } from '../../firmware/system/log.ts';
import { ready, stopping } from '../../firmware/system/notify.ts';
import { sweepRecordings } from './pair.ts';
import { audioService } from './service.ts';
import { watchDevices } from './sound.ts';

/** The service ends after this time without a call, milliseconds. */
const IDLE_MS = Number(process.env['INGLE_IDLE_MS'] ?? 60_000);

const log = logger('audio');
const config = readConfig();
const runtime = join(config.runtime, 'audio');
mkdirSync(runtime, { recursive: true, mode: 0o700 });
sweepRecordings(runtime);
const profiles = await openProfiles(join(dataOf(config, 'audio'), 'audio.db'));
const service = audioService({ profiles, runtime, log });

let last = Date.now();
const bus = await connect();
service.attach(
  await bus.serve(audio1, service.impl, {
    properties: { State: 'START' },
    onCall: () => (last = Date.now()),
  }),
);
const watcher = await watchDevices(log, (c) => service.devicesChanged(c));
ready();

async function end(code: number): Promise<never> {
  stopping();
  await service.impl.Cancel({}, { sender: '' });
  await watcher.stop();
  await profiles.close();
  process.exit(code);
}
setInterval(
  () => {
    if (!service.idle()) last = Date.now();
    if (Date.now() - last > IDLE_MS) void end(0);
  },
  Math.min(5000, IDLE_MS / 4),
);
process.once('SIGTERM', () => void end(0));
process.once('SIGINT', () => void end(0));
// Without the bus nobody can call; systemd starts the service again at the next call.
await bus.closed;
await end(0);
