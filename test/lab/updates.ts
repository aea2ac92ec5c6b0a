// Updates of Yjs that no client makes: put together of parts near the edges of what a document has.
import fc from 'fast-check';
import {
  createEncoder,
  toUint8Array,
  writeAny,
  writeUint8,
  writeVarString,
  writeVarUint,
} from 'lib0/encoding';
import * as Y from 'yjs';

/** Items and deletions by the clients of a document, and by 5 and 6. */
export function partsNear(doc: Y.Doc) {
  const client = fc.constantFrom(...doc.store.clients.keys(), 5, 6);
  const edge = fc.nat(1 + Math.max(...[...doc.store.clients.keys()].map((c) => Y.getState(doc.store, c))));
  const item = fc.record({
    origin: fc.option(fc.tuple(client, edge)),
    rightOrigin: fc.option(fc.tuple(client, edge), { freq: 1 }),
    // An item stands in a root type of that name, or in a type that is an item itself.
    parent: fc.oneof(fc.constantFrom('content', 'content', 'meta', 'other'), fc.tuple(client, edge)),
    key: fc.constantFrom('a', 'b', 'nested', null),
    // JSON three times in ten; deleted, garbage, older JSON, a text, a type, an embedded thing, a gap.
    kind: fc.constantFrom(8, 8, 8, 1, 0, 2, 4, 7, 5, 10),
    values: fc.array(fc.constantFrom<unknown>(1, 'x', { y: [null] }, undefined), { maxLength: 3 }),
  });
  const items = fc.record({ client, clock: fc.option(edge), all: fc.array(item, { maxLength: 3 }) });
  const gone = fc.record({ client, ranges: fc.array(fc.tuple(edge, edge), { maxLength: 2 }) });
  return fc.record({ items: fc.array(items, { maxLength: 2 }), gone: fc.array(gone, { maxLength: 2 }) });
}
type Parts = ReturnType<typeof partsNear> extends fc.Arbitrary<infer T> ? T : never;

/**
 * An update made of them, by update format 1.
 * @param clockOf how many changes there are of a client
 */
export function encodedParts({ items, gone }: Parts, clockOf: (client: number) => number): Uint8Array {
  const e = createEncoder();
  const put = (...numbers: number[]) => numbers.forEach((n) => void writeVarUint(e, n));
  put(items.length);
  for (const { client, clock, all } of items) {
    put(all.length, client, clock ?? clockOf(client));
    for (const { origin, rightOrigin, parent, key, kind, values } of all) {
      writeUint8(e, (origin ? 0x80 : 0) | (rightOrigin ? 0x40 : 0) | (key === null ? 0 : 0x20) | kind);
      put(...(origin ?? []), ...(rightOrigin ?? []));
      if (!origin && !rightOrigin) {
        put(typeof parent === 'string' ? 1 : 0);
        if (typeof parent === 'string') writeVarString(e, parent);
        else put(...parent);
        if (key !== null) writeVarString(e, key);
      }
      if (kind === 4 || kind === 5) writeVarString(e, kind === 4 ? 'text'.repeat(values.length) : '{}');
      else put(values.length);
      if (kind === 8) for (const value of values) writeAny(e, value as undefined);
    }
  }
  put(gone.length);
  for (const { client, ranges } of gone) put(client, ranges.length, ...ranges.flat());
  return toUint8Array(e);
}
