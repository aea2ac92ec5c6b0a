// The one link to the hub of this session, for those who use it; connection.ts opens and ends it.
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
