// What a browser loads of the application, in gzip bytes, counted from the chunk graph that the build wrote down.
import { readFileSync } from 'node:fs';

interface Description {
  hash: string;
  /** What the script in the page weighs, gzip bytes. */
  inline: number;
  files: Record<string, { sha256: string; bytes: number; gzip: number }>;
  chunks: Record<
    string,
    {
      name: string;
      entry: boolean;
      imports: string[];
      dynamicImports: string[];
      modules: string[];
      styles: string[];
    }
  >;
}

/** Budgets in gzip bytes: scripts and styles of the code-entry page, and all until a skill is live. */
export const budget = { code: 45 * 1024, live: 95 * 1024 };

/** Loaded on demand alone: the curves of the typed code. */
const curves = /node_modules\/@noble\//;
/**
 * Loaded on demand alone, and by no visit that comes to a skill straight away: the owner's pages, what changes the
 * desktop, the pages beside the way. A browser holds it against what is really loaded (test/browser/groups.test.ts).
 */
const later =
  /^(spa\/(manage|people|hubs|account|owner|scenario|scenarios|routed|asked|invitation|gate|groups|regroup|rearrange|pages-aside|settings|switch|push|notices|palette|rank|question|dialog|qr|elevate-question|skill-shut|kept|drag|prove|direct)\b|spa\/vega\.ts|firmware\/protocol\/direct\/|firmware\/protocol\/(pairing\/(cpace|puzzle)|noise\/seal)\.|firmware\/text\/spa-(skills|people|hubs|account|groups|aside|settings|programs|shut|scenario|scenarios|versions|prove)\.|firmware\/text\/channel\.|firmware\/ui\/(app|route|patch)\.ts|node_modules\/rfc6902\/|node_modules\/uqr\/)/;
/** Loaded on demand alone: rare nodes of a screen, what fits a tree to them, what a tap does, and what a skill tells. */
const nodes =
  /^(spa\/((form|tabs|beyond|rows|paged|doing|topic|commands|said|framed[\w-]*|vega-height|chart-read)\.ts|(nodes|chart-read)\.css)|firmware\/(ui\/(chart-read|fit|frame|needs|query|iregexp|own|page\/\w+)|protocol\/(bucket|page|skill-page)|text\/(tree|spa-chart-read|spa-rows|spa-frame|spa-(doing|form|said)))\.ts)$|node_modules\/json-p3\//;
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

/** The style sheets a browser loads with `chunks`: those of the page, and what the chunks bring. */
export function styles(d: Description, chunks: readonly string[]): string[] {
  const brought = (some: readonly string[]) => some.flatMap((f) => d.chunks[f]?.styles ?? []);
  const ofPage = Object.keys(d.files).filter(
    (f) => f.endsWith('.css') && !brought(Object.keys(d.chunks)).includes(f),
  );
  return [...ofPage, ...brought(chunks)];
}

/**
 * The chunk graph's figures: what the entry page loads; everything but the curves until a skill is live, in a browser
 * that has X25519 and in one that loads it; the chunks with the curves; the chunks that are counted.
 */
export function sizes(d: Description): {
  code: number;
  live: number;
  liveWithout: number;
  lazy: string[];
  counted: string[];
} {
  const chunks = Object.keys(d.chunks);
  const having = (what: RegExp) => chunks.filter((f) => d.chunks[f]!.modules.some((m) => what.test(m)));
  // A small node may be put into a chunk that is loaded anyway, and then counts with it.
  const onlyNodes = chunks.filter((f) => d.chunks[f]!.modules.every((m) => nodes.test(m)));
  const entry = chunks.filter((f) => d.chunks[f]!.entry);
  const [lazy, nacl] = [having(curves), having(portable)];
  // What asks for all the rest stands in the page.
  const weight = (files: string[]) => d.inline + gzipOf(d, [...files, ...styles(d, files)]);
  const counted = (parts: string[]) => closure(d, parts).filter((f) => !lazy.includes(f));
  const rest = chunks.filter(
    (f) => !lazy.includes(f) && !having(later).includes(f) && !onlyNodes.includes(f),
  );
  return {
    code: weight(counted(entry)),
    live: weight(counted(rest.filter((f) => !nacl.includes(f)))),
    liveWithout: weight(counted(rest)),
    lazy,
    counted: counted(rest),
  };
}
