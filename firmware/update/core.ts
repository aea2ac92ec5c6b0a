// What the pieces of an update share.
import type { Durable, Here } from '../system/durable.ts';
import type { UpdateText } from '../text/update.ts';
import type { UpdateEvent, UpdateState } from './machine.ts';
import type { UpdateParts } from './parts.ts';
import type { openTelling } from './progress.ts';
import type { Job, Memory } from './record.ts';
import type { slotsOf } from './slots.ts';

/** A state of an update, while it lasts. */
export type At = Here<UpdateState, UpdateEvent, Memory>;

export interface Core {
  readonly parts: UpdateParts;
  readonly row: Durable<UpdateState, UpdateEvent, Memory>;
  t(key: UpdateText): string;
  readonly slots: ReturnType<typeof slotsOf>;
  readonly telling: ReturnType<typeof openTelling>;
  /** Unix seconds. */
  seconds(): number;
  /** @throws IngleError `conflict` where the state does not take the event */
  move(event: UpdateEvent, patch?: Partial<Memory>): Promise<void>;
  /** What is to be installed, as RAUC takes it. @throws IngleError `not_found` */
  sourceOf(job: Pick<Job, 'source' | 'stream'> | null): string;
}
