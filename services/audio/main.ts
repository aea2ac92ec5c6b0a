// ingle-audio: io.ingle.Audio1, activated by D-Bus, gone when idle.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { audio1 } from '../../firmware/audio/contract.ts';
import { openProfiles } from '../../firmware/audio/profile.ts';
import { dataOf, readConfig } from '../../firmware/system/config.ts';
import { startService } from '../../firmware/system/service.ts';
import { openModels } from './model.ts';
import { sweepRecordings } from './pair.ts';
import { audioService } from './service.ts';
import { watchDevices } from './sound.ts';

/** The service ends after this time without a call, milliseconds. */
const IDLE_MS = 60_000;

const life = await startService('audio');
const { bus, log } = life;
const config = readConfig();
const runtime = join(config.runtime, 'audio');
mkdirSync(runtime, { recursive: true, mode: 0o700 });
sweepRecordings(runtime);
const data = dataOf(config, 'audio');
const profiles = await openProfiles(join(data, 'audio.db'));
life.onStop(profiles.close);
const service = audioService({ profiles, runtime, data, log, models: openModels(config.speech.models) });
service.attach(
  await bus.serve(audio1, service.impl, {
    properties: { State: 'START' },
    onCall: life.touch,
  }),
);
const watcher = await watchDevices(log, (c) => service.devicesChanged(c));
life.onStop(watcher.stop);
life.onStop(() => service.impl.Cancel({}, { sender: '' }));
life.leaveWhenIdle(IDLE_MS, () => !service.idle());
life.ready();
