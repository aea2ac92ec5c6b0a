// Which branch of a document a client shows (device over owner over ab over main, for each doc_type). Pure.

/** Priority of a branch, 0 = highest; -1 for a branch that is not shown unless asked for. */
export function branchRank(branch: string): number {
  if (branch.startsWith('device/')) return 0;
  if (branch.startsWith('owner/')) return 1;
  if (branch.startsWith('ab/')) return 2;
  return branch === 'main' ? 3 : -1;
}

/** Which of two versions that are tried side by side a device shows: always the same one. */
export function sideOf(device: string): 'ab/A' | 'ab/B' {
  let odd = 0;
  for (let i = 0; i < device.length; i++) odd ^= device.charCodeAt(i) & 1;
  return odd ? 'ab/B' : 'ab/A';
}

/**
 * The branch that wins, independently for each doc_type; of two of the same kind the first in code point order.
 * A `preview/{token}` is shown only where the caller asks for it by `preview`.
 * @param device of two sides of a trial, both there, its own is shown
 */
export function pickBranch(branches: readonly string[], preview?: string, device?: string): string | null {
  if (preview !== undefined && branches.includes(`preview/${preview}`)) return `preview/${preview}`;
  const trial = device !== undefined && branches.includes('ab/A') && branches.includes('ab/B');
  const isOther = (b: string) => trial && b.startsWith('ab/') && b !== sideOf(device);
  const shown = branches.filter((b) => branchRank(b) >= 0 && !isOther(b));
  shown.sort((a, b) => branchRank(a) - branchRank(b) || (a < b ? -1 : 1));
  return shown[0] ?? null;
}

/** Lays one state over another: objects merge, everything else is replaced. */
export function overlayState(base: unknown, over: unknown): unknown {
  if (over === undefined) return base;
  if (!isPlain(base) || !isPlain(over)) return over;
  const out: Record<string, unknown> = { ...base };
  for (const [k, v] of Object.entries(over))
    if (k !== '__proto__') out[k] = overlayState(Object.hasOwn(base, k) ? base[k] : undefined, v);
  return out;
}

function isPlain(v: unknown): v is Record<string, unknown> {
  return v !== null && typeof v === 'object' && !Array.isArray(v);
}
