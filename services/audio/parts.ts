// What the parts of io.ingle.Audio1 share.
import type { audio1 } from '../../firmware/audio/contract.ts';
import type { Profiles } from '../../firmware/audio/profile.ts';
import type { Served } from '../../firmware/system/bus.ts';
import type { Implementation } from '../../firmware/system/contract.ts';
import type { Log } from '../../firmware/system/log.ts';
import type { Choice } from './choice.ts';
import type { Grammars } from './grammars.ts';
import type { Job } from './job.ts';
import type { Models } from './model.ts';

export type Audio1 = typeof audio1;

/** Some of the contract's methods. */
export type Methods<M extends keyof Audio1['methods']> = Pick<Implementation<Audio1>, M>;

export interface AudioParts {
  profiles: Profiles;
  /** Folder of this boot that only the service reads. */
  runtime: string;
  log: Log;
  job: Job;
  models: Models;
  grammars: Grammars;
  choice: Choice;
  /** Where signals are raised, once the service is on the bus. */
  served(): Served<Audio1> | undefined;
  /** Raises Level for a source that is listened to. */
  level(source: string): (rms_db: number, peak_db: number) => void;
}
