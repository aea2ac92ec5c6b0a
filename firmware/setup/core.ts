// What the pieces of setup share.
import type { Durable, Here } from '../system/durable.ts';
import type { Log } from '../system/log.ts';
import type { Channels } from './channels.ts';
import type { LadderEvent, LadderState, times } from './ladder.ts';
import type { Pins } from './pins.ts';
import type { Ports } from './ports.ts';
import type { LadderMemory } from './state.ts';
import type { Progress } from './telling.ts';
import type { Voice } from './voice.ts';

/** A state of the ladder, while it lasts. */
export type At = Here<LadderState, LadderEvent, LadderMemory>;

export interface Core {
  readonly ports: Ports;
  readonly log: Log;
  readonly time: Record<keyof typeof times, number>;
  readonly onProgress: Progress;
  readonly ladder: Durable<LadderState, LadderEvent, LadderMemory>;
  readonly channels: Channels;
  readonly pins: Pins;
  readonly voice: Voice;
}

/** Whether the hub has an owner; one not known yet is one. */
export const isOwned = ({ ladder }: Pick<Core, 'ladder'>): boolean => ladder.memory.owned !== false;

/** Asks whether a browser has been paired while nobody was there to hear of it. @returns whether that is news */
export async function askOwner({ ladder, ports }: Pick<Core, 'ladder' | 'ports'>): Promise<boolean> {
  const news = !isOwned({ ladder }) && (await ports.owned().catch(() => false));
  if (news) await ladder.remember({ owned: true });
  return news;
}
