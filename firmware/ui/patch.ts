// JSON Patch (RFC 6902) of state documents, as `ui.patch` sends it: all of it or nothing, own properties only. Pure.
import { applyPatch, type Operation } from 'rfc6902';
import { IngleError } from '../protocol/errors.ts';

/** Operations of one patch; characters of a document after it, as JSON. */
export const MAX_OPERATIONS = 500;
export const MAX_PATCHED = 256 * 1024;
const MAX_STEPS = 64;
const MAX_VALUES = 50_000;

const fault = (at: string, says: string) =>
  new IngleError('invalid_request', `${at === '' ? 'The patch' : at} ${says}`, { pointer: at });

/** The steps of a JSON pointer (RFC 6901); null where it is none, or would leave what a document owns. */
function stepsOf(pointer: unknown): string[] | null {
  if (typeof pointer !== 'string' || pointer.length > 1000 || !/^(?:\/(?:[^~]|~[01])*)?$/s.test(pointer))
    return null;
  const steps = pointer
    .split('/')
    .slice(1)
    .map((s) => s.replace(/~1/g, '/').replace(/~0/g, '~'));
  return steps.length <= MAX_STEPS && !steps.includes('__proto__') ? steps : null;
}

/** Whether an array takes the step as RFC 6901 writes an index. */
const isIndex = (step: string) => /^(?:0|[1-9]\d{0,8})$/.test(step);

/** Whether what a pointer names is there by own properties alone. @param upTo steps from the end that may be missing */
function isOwn(document: unknown, steps: readonly string[], upTo: 0 | 1): boolean {
  let at = document;
  for (const [i, step] of steps.entries()) {
    if (at === null || typeof at !== 'object') return false;
    if (i === steps.length - 1 && upTo === 1) return !Array.isArray(at) || step === '-' || isIndex(step);
    if (Array.isArray(at) ? !isIndex(step) || Number(step) >= at.length : !Object.hasOwn(at, step))
      return false;
    at = (at as Record<string, unknown>)[step];
  }
  return true;
}

/** How many values a JSON value holds; more than `most` is Infinity. */
function sizeOf(value: unknown, most: number): number {
  let count = 0;
  const list = [value];
  while (list.length > 0) {
    if (++count > most) return Infinity;
    const one = list.pop();
    if (one !== null && typeof one === 'object') for (const v of Object.values(one)) list.push(v);
  }
  return count;
}

const operations = ['add', 'remove', 'replace', 'move', 'copy', 'test'];

/**
 * A document after a patch. The one that is given stays as it is, so a patch that fails half way changes nothing.
 * @param document JSON
 * @param patch an array of operations, at most 500
 * @throws IngleError `invalid_request` with the pointer of the faulty operation within the patch; `conflict` where a
 *   `test` fails; `too_large`
 */
export function patched(document: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch)) throw fault('', 'is an array of operations (RFC 6902).');
  if (patch.length > MAX_OPERATIONS)
    throw new IngleError('too_large', `A patch has at most ${MAX_OPERATIONS} operations.`);
  // The library works in place, and on the document below a key of its own: a pointer may then name all of it.
  const box = { it: structuredClone(document) };
  let grown = 0;
  for (const [i, op] of (patch as unknown[]).entries()) {
    const at = `/${i}`;
    if (op === null || typeof op !== 'object' || Array.isArray(op)) throw fault(at, 'is an operation.');
    const given = op as Record<string, unknown>;
    const kind = given['op'];
    if (typeof kind !== 'string' || !operations.includes(kind))
      throw fault(`${at}/op`, `is one of ${operations.join(', ')}.`);
    const path = stepsOf(given['path']);
    if (!path) throw fault(`${at}/path`, 'is a JSON pointer (RFC 6901) into the document.');
    const needsValue = kind === 'add' || kind === 'replace' || kind === 'test';
    if (needsValue && (!Object.hasOwn(given, 'value') || given['value'] === undefined))
      throw fault(`${at}/value`, `is missing, ${kind} needs it.`);
    if (!isOwn(box.it, path, kind === 'add' || kind === 'move' || kind === 'copy' ? 1 : 0))
      throw fault(`${at}/path`, 'is not there.');
    let from: string[] | null = null;
    if (kind === 'move' || kind === 'copy') {
      from = stepsOf(given['from']);
      if (!from) throw fault(`${at}/from`, 'is a JSON pointer (RFC 6901) into the document.');
      if (!isOwn(box.it, from, 0)) throw fault(`${at}/from`, 'is not there.');
      if (kind === 'move' && path.length > from.length && from.every((s, n) => s === path[n]))
        throw fault(`${at}/path`, 'lies within what would be moved.');
    }
    const pointer = (p: unknown) => `/it${p as string}`;
    // Copies of copies double a document with each operation.
    if (needsValue || kind === 'copy') {
      const value = needsValue
        ? given['value']
        : from!.reduce<unknown>((v, s) => (v as Record<string, unknown>)[s], box.it);
      grown += sizeOf(value, MAX_VALUES);
      if (grown > MAX_VALUES)
        throw new IngleError('too_large', `A patch brings at most ${MAX_VALUES} values.`);
    }
    const [error] = applyPatch(box, [
      {
        op: kind,
        path: pointer(given['path']),
        ...(from ? { from: pointer(given['from']) } : {}),
        ...(needsValue ? { value: structuredClone(given['value']) } : {}),
      } as Operation,
    ]);
    if (error?.name === 'TestError')
      throw new IngleError('conflict', `${at} does not hold.`, { pointer: at });
    if (error) throw fault(at, 'cannot be applied.');
  }
  if ((JSON.stringify(box.it ?? null) ?? '').length > MAX_PATCHED)
    throw new IngleError('too_large', `A document has at most ${MAX_PATCHED} characters.`);
  return box.it;
}
