// Whether a view is what the hub has signed: by the document key that this browser pinned inside its channel.
import type { documentsApi } from '../firmware/documents/api.ts';
import type { Answer } from '../firmware/protocol/endpoint/endpoint.ts';
import { etagIn, isSigned } from '../firmware/protocol/signed.ts';
import { read, write } from './database.ts';
import type { Link } from './link.ts';

type Index = Answer<typeof documentsApi.index>;

/** The pinned key, and the pairing it is of: another pairing may be with another hub. */
interface Kept {
  key: string;
  paired: number;
}

const ask = (link: Link, key: string): Promise<Index> =>
  link.request('GET', `/docs/index?prefix=${encodeURIComponent(key)}`);

/** Whether a key is the hub's. The first one a pairing shows is; it comes through the end-to-end channel, so `isNew`. */
async function isPinned(hubId: string, key: string, isNew = true): Promise<boolean> {
  const paired = (await read('hubs', hubId))?.paired ?? 0;
  const name = `documents ${hubId}`;
  const kept = (await read('prefs', name)) as Kept | undefined;
  if (kept?.paired === paired) return kept.key === key;
  if (!isNew) return false;
  await write('prefs', name, { key, paired } satisfies Kept);
  return true;
}

/**
 * Whether the hub has signed this content.
 * @param isNew it has just come from the hub, and is not what was kept of an earlier visit
 */
export async function isHubs(
  hubId: string,
  said: { key: string; etag: string; signature: string; public_key: string },
  content: Record<string, unknown>,
  isNew: boolean,
): Promise<boolean> {
  const { public_key, etag } = said;
  if ((await etagIn(content)) !== etag || !(await isSigned(public_key, said))) return false;
  return isPinned(hubId, public_key, isNew).catch(() => false);
}

/** Views of one key. The index is asked for at once, while the document is on its way. */
export function signatures(link: Link, key: string) {
  let index = ask(link, key);
  let moving = { etag: '', times: 0 };
  index.catch(() => {});
  /**
   * @returns whether the hub has signed this content; null when it has moved on meanwhile
   * @throws IngleError when the hub is not reached
   */
  return async (content: Record<string, unknown>): Promise<boolean | null> => {
    const etag = await etagIn(content);
    const rowOf = async () => (await index).documents.find((d) => d.key === key);
    let row = await rowOf().catch(() => undefined);
    if (row?.etag !== etag) {
      index = ask(link, key);
      row = await rowOf();
    }
    const { public_key } = await index;
    if (!row || !(await isPinned(link.hubId, public_key)) || !(await isSigned(public_key, row))) return false;
    if (row.etag === etag) return true;
    moving = { etag, times: moving.etag === etag ? moving.times + 1 : 1 };
    // What the index does not come to have is not the hub's.
    return moving.times < 5 ? null : false;
  };
}
