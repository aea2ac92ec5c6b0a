// Previews: a view, and a state where it needs one, that its maker alone opens by a link, until its time is over.
import { randomBytes } from 'node:crypto';
import { toBase64url } from '../protocol/bytes.ts';
import { IngleError } from '../protocol/errors.ts';
import type { Problem } from '../ui/tree.ts';
import type { IndexRow } from './archive.ts';
import { type JsonObject, mergeContent, mergeMeta } from './content.ts';
import { formatKey, parseKey } from './key.ts';
import type { Library } from './library.ts';

/** Previews an owner may have of one skill at a time. */
export const MAX_PREVIEWS = 16;

export interface Preview {
  /** `<skill_id>.<128 random bits, base64url>`: whoever opens the link knows by it which skill it is of. */
  token: string;
  /** Unix seconds. */
  expires_at: number;
  problems: readonly Problem[];
}

/**
 * Stores a preview.
 * @param o.there keys of the owner's documents of this skill
 * @throws IngleError `rate_limited` when there are as many as may be
 */
export async function makePreview(
  library: Library,
  o: {
    owner_id: string;
    skill_id: string;
    view: JsonObject;
    state?: JsonObject | undefined;
    seconds: number;
    there: readonly string[];
  },
): Promise<Preview> {
  const others = o.there.map(parseKey).filter((k) => k.doc_type === 'view' && isPreview(k.branch));
  if (others.length >= MAX_PREVIEWS)
    throw new IngleError('rate_limited', `A skill has at most ${MAX_PREVIEWS} previews at a time.`);
  const token = `${o.skill_id}.${toBase64url(randomBytes(16))}`;
  const expires_at = Math.floor(Date.now() / 1000) + o.seconds;
  let problems: readonly Problem[] = [];
  const write = async (doc_type: 'view' | 'state', content: JsonObject) => {
    const key = { owner_id: o.owner_id, skill_id: o.skill_id, doc_type, branch: `preview/${token}` };
    const room = await library.open(formatKey(key));
    await room.write(
      (doc) => {
        mergeContent(doc, content);
        mergeMeta(doc, { until: expires_at });
      },
      {
        told: (of) => {
          problems = of;
        },
      },
    );
  };
  if (o.state) await write('state', o.state);
  await write('view', o.view);
  return { token, expires_at, problems };
}

export const isPreview = (branch: string): boolean => branch.startsWith('preview/');

/** Whether a document's time is over at `now`, Unix seconds, though nobody has swept it away yet. */
export function isOver(row: Pick<IndexRow, 'ttl_sec' | 'updated_at'>, now: number): boolean {
  return row.ttl_sec > 0 && row.updated_at + row.ttl_sec <= now;
}
