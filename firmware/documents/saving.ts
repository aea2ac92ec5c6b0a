// What a document leaves on the disk: a row an update, folded together now and then, and what the index says of it.
import * as Y from 'yjs';
import { isAclEntry, isPersonal, skillAcl } from './acl.ts';
import { FOLD_ROWS, type IndexRow, indexRowOf, type Loaded } from './archive.ts';
import type { Commits } from './commits.ts';
import { type JsonObject, readMeta, treeKey } from './content.ts';
import { parseDuration } from './duration.ts';
import { commandsSkill, type DocumentKey, parseKey } from './key.ts';
import type { Commit } from './line.ts';
import type { Signer } from './sign.ts';

/** How long commands and other device branches are kept without a change, seconds. */
const DEVICE_TTL = 90 * 86_400;

/** Whether a skill writes the document; else a browser does, or the hub. */
export function isSkillDocument(key: DocumentKey): boolean {
  return key.skill_id !== commandsSkill && !isPersonal(key);
}

/**
 * Whether what the index says of a document may wait. Of a skill's document it counts at once, as its access list is in it.
 * A view is signed with the update that changes it: signed later, it might hold what somebody else wrote into the store.
 */
export const mayWait = (key: DocumentKey): boolean => !isSkillDocument(key) && key.doc_type !== 'view';

/** What a document is written in: a view's front end, which its tree names; of a state, what its skill says beside it. */
function schemaOf(key: DocumentKey, doc: Y.Doc, meta: JsonObject): string {
  const tree = () => Object(doc.getMap('content').get(treeKey))['from'] as unknown;
  const given = key.doc_type === 'view' ? tree() : meta['schema'];
  return typeof given === 'string' && /^[a-z0-9./_-]{1,40}$/.test(given) ? given : 'ui/v0';
}

/** Access list of a document: what its index says, else what one of its kind begins with. */
export function aclOf(key: DocumentKey, index: Pick<IndexRow, 'acl'> | undefined): string[] {
  if (index) return JSON.parse(index.acl) as string[];
  return isSkillDocument(key) ? skillAcl(key.skill_id) : ['OWNER:read'];
}

/** What the index says of a document as it will be. @param now Unix seconds */
function indexed(key: DocumentKey, next: Y.Doc, now: number) {
  const skill = isSkillDocument(key);
  const meta: JsonObject = skill ? readMeta(next) : {};
  const extra = Array.isArray(meta['acl'])
    ? meta['acl'].filter(isAclEntry).filter((a) => a.startsWith('ROLE:'))
    : [];
  const until = meta['until'];
  // Seconds until a time, where there is one: a document that is written again ends no later.
  const left = typeof until === 'number' ? Math.max(1, Math.floor(until) - now) : undefined;
  return {
    acl: [...aclOf(key, undefined), ...extra.slice(0, 8)],
    schema: schemaOf(key, next, meta),
    ttl_sec: skill ? (left ?? parseDuration(meta['ttl']) ?? 0) : DEVICE_TTL,
    now,
  };
}

const done = Promise.resolve();

/**
 * Stores the updates of a document, one at a time. Without one, and without anything else to store, it stores what the
 * index is to say.
 * @param o.indexed told what the index says from now on
 * @param o.written told of each update that is stored
 */
export function openSaving(
  text: string,
  at: Loaded,
  o: {
    commits: Commits;
    signer: Signer;
    now: () => number;
    indexed: (said: ReturnType<typeof indexed>) => void;
    written: () => void;
  },
): Commit {
  const key = parseKey(text);
  let { rows, next: n } = at;
  let isIndexed = at.index !== undefined;
  /** When the newest update was written, Unix seconds. */
  let written = o.now();

  return (update, next, also) => {
    if (!update && also) return o.commits.with(null, also);
    // Nothing that is stored.
    if (!update && n === 1) return done;
    if (update) written = o.now();
    const isWhole = update !== null && rows >= FOLD_ROWS;
    const waits = update !== null && isIndexed && !isWhole && mayWait(key);
    const said = waits ? null : indexed(key, next.doc, written);
    const newest = update ? n : n - 1;
    const index = said && indexRowOf(text, newest, next.doc, said, o.signer);
    const data = isWhole ? Y.encodeStateAsUpdate(next.doc) : update;
    const row = { key: text, n: newest, data, isWhole, index };
    return (also ? o.commits.with(row, also) : o.commits.append(row)).then(() => {
      isIndexed = true;
      if (said) o.indexed(said);
      if (!update) return;
      n++;
      rows = isWhole ? 1 : rows + 1;
      o.written();
    });
  };
}
