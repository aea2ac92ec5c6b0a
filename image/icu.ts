// ICU's data without the languages a hub does not speak. Debian has all of it in one library of 32 MB; what is taken
// out of its table of contents is not found any more, and ICU falls back to its root locale. Pure.
//   The format: https://github.com/unicode-org/icu, icu4c/source/common/ucmndata.h and tools/icupkg

/** Locales of people the hub does not talk to, dictionaries of scripts written without spaces, old character sets. */
function isUnused(name: string): boolean {
  const locale = /^(?:(?:coll|curr|lang|region|unit|zone|brkitr|rbnf)\/)?([a-z]{2,3})(?:_\w+)?\.res$/.exec(
    name,
  );
  // res_index.res, the list of all, only looks like a locale.
  if (locale) return !['en', 'ru', 'res'].includes(locale[1]!);
  if (name.endsWith('.cnv')) return !/^ibm-(5346|5347|878|866|912|813)_/.test(name);
  return /^brkitr\/(.*dict\.dict|.*lstm\.res|.*_(th|km|lo|my|ja|zh).*)$/.test(name);
}

/** Where ICU's package begins in a library: its header names the format "CmnD". */
function findPackage(library: Buffer): number {
  for (let at = library.indexOf('CmnD'); at >= 0; at = library.indexOf('CmnD', at + 1)) {
    const start = at - 12;
    if (start >= 0 && library[start + 2] === 0xda && library[start + 3] === 0x27) return start;
  }
  return -1;
}

/**
 * The library with less in it; of the same length, as all addresses stay: what is gone is zeros.
 * @param library libicudata of a little-endian machine
 * @throws Error when it holds no package of ICU
 */
export function lessIcu(library: Buffer): { library: Buffer; left: string[] } {
  const out = Buffer.from(library);
  const start = findPackage(out);
  if (start < 0) throw new Error('The library holds no data of ICU.');
  const table = start + out.readUInt16LE(start);
  const count = out.readUInt32LE(table);
  const entries = Array.from({ length: count }, (_, i) => {
    const at = table + 4 + 8 * i;
    const name = out.readUInt32LE(at);
    const end = out.indexOf(0, table + name);
    return { name, data: out.readUInt32LE(at + 4), path: out.toString('latin1', table + name, end) };
  });
  const nextData = (data: number) => {
    const later = entries.map((e) => e.data).filter((d) => d > data);
    return later.length > 0 ? Math.min(...later) : undefined;
  };
  const kept = entries.filter((e) => !isUnused(e.path.slice(e.path.indexOf('/') + 1)));
  const keptData = new Set(kept.map((e) => e.data));
  for (const e of entries) {
    const end = nextData(e.data);
    // The last one's end is not said in the table; it stays.
    if (end !== undefined && !keptData.has(e.data)) out.fill(0, table + e.data, table + end);
  }
  out.fill(0, table + 4, table + 4 + 8 * count);
  out.writeUInt32LE(kept.length, table);
  kept.forEach((e, i) => {
    out.writeUInt32LE(e.name, table + 4 + 8 * i);
    out.writeUInt32LE(e.data, table + 8 + 8 * i);
  });
  return { library: out, left: kept.map((e) => e.path) };
}
