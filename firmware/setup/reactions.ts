// What the ladder does about what others say: the link to root, a channel that ended, a press of the button.
import type { Bus } from '../system/bus.ts';
import type { Log } from '../system/log.ts';
import { uplink1 } from '../uplink/contract.ts';
import type { Press } from './button.ts';
import type { ChannelPort } from './ports.ts';
import type { Setup } from './setup.ts';

/** Follows the link to root and the channels. */
export async function followHub(
  bus: Pick<Bus, 'onSignal'>,
  channels: readonly ChannelPort[],
  setup: Pick<Setup, 'paired' | 'codeSpent' | 'ended'>,
): Promise<void> {
  await bus.onSignal(uplink1, 'Paired', () => void setup.paired());
  await bus.onSignal(uplink1, 'PairingFailed', ({ left }) => {
    if (left === 0) setup.codeSpent();
  });
  for (const c of channels) await c.onEnded?.((again) => void setup.ended(c.name, again));
}

/**
 * Does what a press asks for; what cannot be done now is only logged, as a button takes no answer.
 * @param talk has the hub listen
 */
export async function pressed(
  press: Press,
  setup: Pick<Setup, 'reset' | 'approve' | 'restart'>,
  talk: () => Promise<unknown>,
  log: Log,
): Promise<void> {
  if (press === 'none') return;
  log.notice('the button was pressed', { press });
  try {
    if (press === 'reset') await setup.reset('erase');
    else if (press === 'talk') await talk();
    else if (press === 'approve') await setup.approve('button');
    else await setup.restart('button');
  } catch (e) {
    log[press === 'reset' ? 'error' : 'info']('the press did nothing', { press, error: e as Error });
  }
}
