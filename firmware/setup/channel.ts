// One way into setup as a machine: the access point, BLE, the bot. Its port does the work; the ladder says when.
import type { Table } from '../system/machine.ts';

export type ChannelState =
  | 'closed'
  /** A process that ended without closing it may have left it open. */
  | 'left'
  | 'opening'
  | 'open'
  /** The hub has a network; the channel it was given through hands over the pairing link before it closes. */
  | 'handing_over'
  | 'closing';

export type ChannelEvent =
  | 'found'
  | 'open'
  | 'opened'
  | 'refused'
  | 'hand_over'
  /** It has closed by itself, or fell. */
  | 'ended'
  | 'close'
  | 'closed';

export const channelTable: Table<ChannelState, ChannelEvent> = {
  closed: { open: 'opening', found: 'left' },
  left: { open: 'opening', close: 'closing' },
  opening: { opened: 'open', refused: 'closed', close: 'closing' },
  open: { hand_over: 'handing_over', ended: 'closed', close: 'closing' },
  handing_over: { open: 'open', ended: 'closed', close: 'closing' },
  closing: { open: 'opening', closed: 'closed' },
};

export interface ChannelMemory {
  /** The device it was tried on last; empty: there was none. */
  device: string;
  /** Looks at which it is tried again: firmware of an adapter may take half a minute. */
  tries: number;
  ssid: string;
  started_at: string;
}

export const newChannel: ChannelMemory = { device: '', tries: 0, ssid: '', started_at: '' };

export const isOpen = (state: ChannelState): boolean => state === 'open' || state === 'handing_over';
