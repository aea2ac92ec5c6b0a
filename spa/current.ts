// The one link to the hub of this session, for those who use it; connection.ts opens and ends it.
import { IngleError } from '../firmware/protocol/errors.ts';
import type { Link } from './link.ts';

let link: Link | null = null;

export function currentLink(): Link | null {
  return link;
}

/** Takes another link, or none; the one before is closed. */
export function setLink(next: Link | null): void {
  link?.close();
  link = next;
}

/** The link while the hub is reached. @throws IngleError `unavailable` */
export function reached(): Link {
  const l = currentLink();
  if (!l?.up) throw new IngleError('unavailable', 'The hub is not reached.');
  return l;
}
