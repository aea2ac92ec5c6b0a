// What a browser loads of the application, in gzip bytes, counted from the chunk graph that the build wrote down.
import { readFileSync } from 'node:fs';

interface Description {
  hash: string;
  files: Record<string, { sha256: string; bytes: number; gzip: number }>;
  chunks: Record<
    string,
    { name: string; entry: boolean; imports: string[]; dynamicImports: string[]; modules: string[] }
  >;
}

/** Budgets in gzip bytes: scripts and styles of the code-entry page, and all until a skill is live. */
export const budget = { code: 45 * 1024, live: 95 * 1024 };

/** Loaded on demand alone: the curves of the typed code, and X25519 for browsers whose WebCrypto has none. */
export const later = /node_modules\/(@noble|tweetnacl)\//;

export function readDescription(file = 'dist/spa/build.json'): Description {
  return JSON.parse(readFileSync(file, 'utf8')) as Description;
}

/** The files a browser loads for `chunks` and all they import without being asked. */
export function closure(d: Description, chunks: readonly string[]): string[] {
  const seen = new Set<string>();
  const visit = (f: string): void => {
    if (seen.has(f)) return;
    seen.add(f);
    for (const i of d.chunks[f]?.imports ?? []) visit(i);
  };
  for (const f of chunks) visit(f);
  return [...seen].sort();
}

export function gzipOf(d: Description, files: readonly string[]): number {
  return files.reduce((sum, f) => sum + (d.files[f]?.gzip ?? 0), 0);
}

/** Styles are loaded with the page. */
export function styles(d: Description): string[] {
  return Object.keys(d.files).filter((f) => f.endsWith('.css'));
}

/** The chunk graph's figures: what the entry page loads, and what everything but `later` weighs. */
export function sizes(d: Description, later: RegExp): { code: number; live: number; lazy: string[] } {
  const entry = Object.keys(d.chunks).filter((f) => d.chunks[f]!.entry);
  const code = closure(d, entry);
  const lazy = Object.keys(d.chunks).filter((f) => d.chunks[f]!.modules.some((m) => later.test(m)));
  const all = Object.keys(d.chunks).filter((f) => !lazy.includes(f));
  return {
    code: gzipOf(d, [...code, ...styles(d)]),
    live: gzipOf(d, [...closure(d, all).filter((f) => !lazy.includes(f)), ...styles(d)]),
    lazy,
  };
}
