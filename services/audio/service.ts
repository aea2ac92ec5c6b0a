// io.ingle.Audio1: the contract over the sound server. One job with the microphone at a time.
import { join } from 'node:path';
import type { DeviceChanges } from '../../firmware/audio/device.ts';
import type { Profiles } from '../../firmware/audio/profile.ts';
import type { Served } from '../../firmware/system/bus.ts';
import type { Implementation } from '../../firmware/system/contract.ts';
import type { Log } from '../../firmware/system/log.ts';
import { attending } from './attending.ts';
import { openChoice } from './choice.ts';
import { conversing } from './conversing.ts';
import { openGrammars } from './grammars.ts';
import { openJob } from './job.ts';
import { measuring } from './measuring.ts';
import type { Models } from './model.ts';
import type { Audio1, AudioParts } from './parts.ts';
import { recognizer } from './recognizer.ts';
import { sounding } from './sounding.ts';
import { speaking } from './speaking.ts';

export interface AudioService {
  impl: Implementation<Audio1>;
  /** Raises DevicesChanged. */
  devicesChanged(c: DeviceChanges): void;
  /** No job runs. */
  idle(): boolean;
  attach(served: Served<Audio1>): void;
}

/** What goes wrong is told by name; the person's languages are `en` and `ru`. */
export function audioService(o: {
  profiles: Profiles;
  runtime: string;
  /** Folder of this service's state. */
  data: string;
  models: Models;
  log: Log;
}): AudioService {
  let served: Served<Audio1> | undefined;
  const job = openJob();
  const recording = recognizer(o.runtime, o.models);
  const parts: AudioParts = {
    ...{ ...o, job, choice: openChoice(o.profiles) },
    grammars: openGrammars(join(o.data, 'grammars'), o.models),
    served: () => served,
    level: (source_id) => (rms_db, peak_db) => served?.emit('Level', { source_id, rms_db, peak_db }),
  };
  return {
    impl: {
      ...{ ...sounding(parts), ...measuring(parts), ...speaking(parts, recording), ...conversing(parts) },
      ...attending(parts, openGrammars(join(o.data, 'wake'), o.models)),
      Cancel() {
        job.cancel();
        return {};
      },
    },
    devicesChanged: (c) => served?.emit('DevicesChanged', c),
    idle: () => job.idle() && !recording.isBusy(),
    attach: (s) => (served = s),
  };
}
