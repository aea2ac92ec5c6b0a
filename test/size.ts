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

/** Loaded on demand alone: the curves of the typed code. */
const curves = /node_modules\/@noble\//;
/** Loaded on demand alone: the pages of installed skills and of people. */
const managing = /^(spa\/(manage|people)|firmware\/text\/(spa-skills|spa-people)|node_modules\/uqr\/)/;
/** Loaded on demand alone: nodes of a skill's screen beyond the basic ones, and what fits a tree to them. */
const nodes = /^(spa\/(chart|form|tabs)\.ts|firmware\/(ui\/(fit|chart)|text\/tree)\.ts)$/;
/** Loaded by browsers whose WebCrypto has no X25519, and counted for them. */
export const portable = /node_modules\/tweetnacl\//;

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

/**
 * The chunk graph's figures: what the entry page loads; everything but the curves until a skill is live, in a browser
 * that has X25519 and in one that loads it; the chunks with the curves.
 */
export function sizes(d: Description): { code: number; live: number; liveWithout: number; lazy: string[] } {
  const chunks = Object.keys(d.chunks);
  const having = (what: RegExp) => chunks.filter((f) => d.chunks[f]!.modules.some((m) => what.test(m)));
  const entry = chunks.filter((f) => d.chunks[f]!.entry);
  const [lazy, nacl] = [having(curves), having(portable)];
  const weight = (parts: string[]) =>
    gzipOf(d, [...closure(d, parts).filter((f) => !lazy.includes(f)), ...styles(d)]);
  const rest = chunks.filter((f) => !lazy.includes(f) && !having(managing).includes(f) && !having(nodes).includes(f));
  return {
    code: weight(entry),
    live: weight(rest.filter((f) => !nacl.includes(f))),
    liveWithout: weight(rest),
    lazy,
  };
}
