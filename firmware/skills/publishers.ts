// Who may publish which skill or scenario (`<namespace>/<name>`, which no skill is called): the keys that the hub's maker and its owner trust, those they trust no more, and who
// published an installed skill first. Pure.
import { createHash } from 'node:crypto';
import * as T from 'typebox';
import { skillIdForm } from '../documents/key.ts';
import { fromBase64url, toBase64url } from '../protocol/bytes.ts';
import { type Fault, faultsOf, refusal, SAYS } from '../protocol/endpoint/check.ts';
import { IngleError } from '../protocol/errors.ts';
import { parseObject } from '../protocol/json.ts';
import { compareVersions } from '../update/version.ts';

const closed = { additionalProperties: false };
const keyForm = '^[A-Za-z0-9_-]{43}$';
const keySays = 'must be a public key: 43 characters of base64url, as "ingle skill key show" prints it';

const scenarioId = '^[a-z][a-z0-9_-]{0,31}/[a-z][a-z0-9_-]{0,47}$';
const idsForm =
  '^(?:[a-z][a-z0-9_]{0,47}|[a-z][a-z0-9_]{0,46}\\*|[a-z][a-z0-9_-]{0,31}/(?:[a-z][a-z0-9_-]{0,47}|[a-z0-9_-]{0,47}\\*))$';

/** A publisher as the maker's and the owner's files have it. */
const publisherSchema = T.Object(
  {
    key: T.String({ pattern: keyForm, [SAYS]: keySays }),
    name: T.String({ pattern: '^[^\\p{C}]{1,80}$', [SAYS]: 'must be a name of 1 to 80 characters' }),
    /** Skills it may publish, an id or the beginning of ids with "*"; without it, any. */
    ids: T.Optional(
      T.Array(
        T.String({
          pattern: idsForm,
          [SAYS]: 'must be the id of a skill or a scenario, or its beginning and "*"',
        }),
        { minItems: 1, maxItems: 64, uniqueItems: true },
      ),
    ),
    /** Nothing of this key is taken any more, whoever else trusts it. */
    revoked: T.Optional(T.Boolean()),
  },
  closed,
);
const fileSchema = T.Object(
  {
    publishers: T.Array(publisherSchema, { maxItems: 256 }),
    /** Skill -> key of who published it first here. */
    first: T.Unsafe<Record<string, string>>({
      type: 'object',
      propertyNames: { pattern: `${skillIdForm}|${scenarioId}`, [SAYS]: 'is no id of a skill or a scenario' },
      additionalProperties: { type: 'string', pattern: keyForm, [SAYS]: keySays },
      maxProperties: 256,
      [SAYS]: { maxProperties: 'may name at most 256 skills' },
    }),
  },
  closed,
);

export type Publisher = T.Static<typeof publisherSchema>;

/** What the owner's file holds. */
export interface Owned {
  publishers: readonly Publisher[];
  first: ReadonlyMap<string, string>;
}
export interface Publishers extends Owned {
  /** Those of the verified root. */
  maker: readonly Publisher[];
}

export const nobody: Publishers = { maker: [], publishers: [], first: new Map() };

/** A file of the owner's; those of a hub that is full of skills are far smaller. */
export const MAX_PUBLISHERS = 256 * 1024;

/** A key's short name: base64url of the first 16 bytes of its SHA-256. */
export function keyIdOf(key: Uint8Array): string {
  return toBase64url(createHash('sha256').update(key).digest().subarray(0, 16));
}
const idOf = (key: string) => keyIdOf(fromBase64url(key));

/** A key that is spelled in two ways would be two keys, and only one of them revoked. */
function keyFaults(key: string, pointer: string): Fault[] {
  try {
    return fromBase64url(key).length === 32 ? [] : [{ pointer, says: keySays }];
  } catch {
    return [{ pointer, says: keySays }];
  }
}

function parsed<S extends T.TObject>(
  schema: S,
  text: string,
  beyond: (value: T.Static<S>) => Fault[],
): T.Static<S> {
  const value = parseObject(text, MAX_PUBLISHERS);
  const faults = faultsOf(schema, value);
  const all = faults.length > 0 ? faults : beyond(value as T.Static<S>);
  if (all.length > 0) throw refusal(all, 'The list of publishers has a fault:');
  return value as T.Static<S>;
}

/** One publisher, a file of the maker's. @throws IngleError `invalid_request`, `too_large` */
export function parsePublisher(text: string): Publisher {
  return parsed(publisherSchema, text, ({ key }) => keyFaults(key, '/key'));
}

/** The owner's file. @throws IngleError `invalid_request`, `too_large` */
export function parseOwned(text: string): Owned {
  const { publishers, first } = parsed(fileSchema, text, (v) => [
    ...v.publishers.flatMap(({ key }, i) =>
      v.publishers.findIndex((p) => p.key === key) < i
        ? [{ pointer: `/publishers/${i}/key`, says: 'is there twice' }]
        : keyFaults(key, `/publishers/${i}/key`),
    ),
    ...Object.entries(v.first).flatMap(([id, key]) => keyFaults(key, `/first/${id}`)),
  ]);
  return { publishers, first: new Map(Object.entries(first)) };
}

export function printOwned({ publishers, first }: Owned): string {
  return `${JSON.stringify({ publishers, first: Object.fromEntries(first) }, null, 2)}\n`;
}

export type Trust = 'trusted' | 'unknown' | 'unsigned';

const covers = (ids: readonly string[] | undefined, id: string) =>
  !ids || ids.some((p) => (p.endsWith('*') ? id.startsWith(p.slice(0, -1)) : p === id));

const kindOf = (id: string) => (id.includes('/') ? 'scenario' : 'skill');

/** What a publisher is called here, if it is known. */
export function nameOf(p: Publishers, key: string): string | undefined {
  return [...p.maker, ...p.publishers].find((known) => known.key === key)?.name;
}
const called = (p: Publishers, key: string) =>
  nameOf(p, key) ? `"${nameOf(p, key)}" (${idOf(key)})` : idOf(key);

/** Whether the hub's maker answers for this key and this skill, and nobody has revoked it. */
export function isMakers(p: Publishers, id: string, key: string | null | undefined): boolean {
  if (!key || [...p.maker, ...p.publishers].some((e) => e.key === key && e.revoked)) return false;
  return p.maker.some((e) => e.key === key && covers(e.ids, id));
}

/**
 * How far a skill of this publisher may be trusted.
 * @param key of a signature that was verified; undefined: nobody signed
 * @throws IngleError `forbidden` for a revoked key, a skill that is not its own, or one that came from another before
 */
export function trustIn(p: Publishers, id: string, key: string | undefined): Trust {
  const no = (says: string) => new IngleError('forbidden', says, key ? { publisher: idOf(key) } : undefined);
  const known = [...p.maker, ...p.publishers].filter((e) => e.key === key);
  if (key && known.some((e) => e.revoked))
    throw no(`The key of ${called(p, key)} is revoked. Take nothing that is signed with it.`);
  const before = p.first.get(id);
  if (before && before !== key)
    throw no(
      `The ${kindOf(id)} "${id}" has come from ${called(p, before)}, and this package is ${key ? `from ${called(p, key)}` : 'not signed'}.`,
    );
  if (!key) return 'unsigned';
  if (known.length === 0) return 'unknown';
  if (!known.some((e) => covers(e.ids, id)))
    throw no(`${called(p, key)} is not trusted with a ${kindOf(id)} called "${id}".`);
  return 'trusted';
}

/** A skill that is installed, or offers itself. `digest` names the whole content (package.ts). */
export interface Release {
  version: string;
  digest: string;
}

/**
 * Whether one release may follow another.
 * @throws IngleError `conflict` for an older one, and for the same version with other content
 */
export function mayFollow(before: Release | undefined, next: Release): void {
  if (!before) return;
  const order = compareVersions(next.version, before.version);
  if (order < 0)
    throw new IngleError(
      'conflict',
      `Version ${next.version} is older than ${before.version}, which is installed. Remove the skill first.`,
    );
  if (order === 0 && next.digest !== before.digest)
    throw new IngleError(
      'conflict',
      `Version ${before.version} is installed with other content. A new release needs a new version.`,
    );
}

/** Trusts a key, or changes what is known of it. @throws IngleError `conflict` for one that the owner revoked */
export function withPublisher<P extends Owned>(p: P, publisher: Publisher): P {
  const before = p.publishers.find((e) => e.key === publisher.key);
  if (before?.revoked && !publisher.revoked)
    throw new IngleError('conflict', `The key ${idOf(publisher.key)} is revoked and stays so.`);
  return { ...p, publishers: [...p.publishers.filter((e) => e !== before), publisher] };
}

/** Revokes a key, the maker's too. */
export function withRevoked(p: Publishers, key: string): Publishers {
  return withPublisher(p, { key, name: nameOf(p, key) ?? idOf(key), revoked: true });
}

/** Remembers who published a skill; undefined forgets it, so that the next one is the first. */
export function withFirst<P extends Owned>(p: P, id: string, key: string | undefined): P {
  const first = new Map(p.first);
  if (key) first.set(id, key);
  else first.delete(id);
  return { ...p, first };
}
