// Steering: a hub and its browsers are best at one process. Who comes to another is refused once, with a hint that a
// balancer may send it by. A hint only saves ways between processes: who brings one is served wherever it lands, if it can
// be served there at all, and where nothing reads hints nothing else changes.
import type { Socket } from 'socket.io';
import { IngleError } from '../firmware/protocol/errors.ts';
import { seconds } from './clock.ts';
import { sameText } from './digest.ts';
import type { Root } from './root.ts';

/** A hint counts for so long, seconds: a client is back at once, and the clocks of processes differ. */
const COUNTS = 120;

type Mac = Root['tokens']['mac'];

/** The hint that leads to a process: its name, until when it counts, and root's signature over both and the hub. */
export function hintOf(mac: Mac, hubId: string, name: string, until: number): string {
  return `${name}.${until}.${mac('steer', `${name}.${until}.${hubId}`).slice(0, 22)}`;
}

/** Whether root gave this hint to an end of this hub, just now: whoever made it up would choose where to be. */
export function isHint(mac: Mac, hubId: string, hint: unknown, now = seconds()): boolean {
  const [, name, until] = /^([\w-]{1,32})\.(\d{1,12})\.[\w-]{22}$/.exec(String(hint)) ?? [];
  return Number(until) > now && sameText(String(hint), hintOf(mac, hubId, name!, Number(until)));
}

/**
 * Refuses a client that heeds hints, has none that counts, and is to be at another process; and one whose hint leads it
 * where its hub cannot be reached.
 * @param end of the hub: its own, or one that leads to it
 * @throws IngleError `unavailable` with `details.steer`
 */
export async function steer(
  { tokens, ways }: Pick<Root, 'tokens' | 'ways'>,
  socket: Pick<Socket, 'handshake'>,
  hubId: string,
  end: 'hub' | 'browser',
): Promise<void> {
  const { at } = socket.handshake.query;
  if (at === undefined) return;
  const name = await ways.elsewhere(hubId, end, isHint(tokens.mac, hubId, at));
  if (name === null) return;
  const hint = hintOf(tokens.mac, hubId, name, seconds() + COUNTS);
  throw new IngleError('unavailable', 'Connect again, with this hint as "at".', { steer: hint });
}
