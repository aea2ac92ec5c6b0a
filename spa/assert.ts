// The passkey's word to the hub itself.
import { IngleError } from '../firmware/protocol/errors.ts';
import { currentLink } from './current.ts';
import { loaded } from './entrance.ts';

/** An assertion over the handshake hash, checked by the hub. @throws IngleError, Trouble */
export async function assertToHub(label?: string): Promise<void> {
  const l = currentLink();
  if (!l) throw new IngleError('hub_offline', 'The hub is not reached.');
  const { signForHub } = await loaded(import('./passkey.ts'));
  await l.assert(await signForHub(l.hubId, l.handshake()), label);
}
