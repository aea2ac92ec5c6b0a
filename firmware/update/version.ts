// Versions of images: how they are written and which is newer. Pure.

/** Semantic versions (semver.org 2.0.0), with one to four numbers and dates (2026.11.05) allowed too. */
const form = /^(\d{1,9}(?:\.\d{1,9}){0,3})(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?$/;
const MAX_LENGTH = 64;

export function isVersion(text: unknown): text is string {
  return typeof text === 'string' && text.length <= MAX_LENGTH && form.test(text);
}

function parts(version: string): { numbers: number[]; pre: string[] } {
  const m = form.exec(version);
  if (!m) throw new RangeError(`not a version: ${version.slice(0, MAX_LENGTH)}`);
  return { numbers: m[1]!.split('.').map(Number), pre: m[2]?.split('.') ?? [] };
}

/**
 * Orders two versions: below 0 when `a` is older, 0 when they are equal, above 0 when it is newer. What stands after
 * a `+` does not count, and a pre-release is older than its release.
 * @throws RangeError for what `isVersion` refuses
 */
export function compareVersions(a: string, b: string): number {
  const [x, y] = [parts(a), parts(b)];
  for (let i = 0; i < 4; i++) {
    const d = (x.numbers[i] ?? 0) - (y.numbers[i] ?? 0);
    if (d !== 0) return d;
  }
  if (x.pre.length === 0 || y.pre.length === 0) return y.pre.length - x.pre.length;
  for (let i = 0; i < Math.max(x.pre.length, y.pre.length); i++) {
    const d = compareIdentifiers(x.pre[i], y.pre[i]);
    if (d !== 0) return d;
  }
  return 0;
}

/** Of a pre-release: numbers before words, fewer before more (semver.org 11.4). */
function compareIdentifiers(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? -1 : 1;
  const [na, nb] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (na && nb) {
    const d = BigInt(a) - BigInt(b);
    return d < 0n ? -1 : d > 0n ? 1 : 0;
  }
  if (na !== nb) return na ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
