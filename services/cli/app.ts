// `npm run app`: the built application as a static site of its own, for a host that is another party than root.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { inlineScripts } from '../../firmware/protocol/inline.ts';
import {
  contentPolicy,
  FRAME_PATH,
  frameHeaders,
  pageHeaders,
  secureOrigin,
} from '../../firmware/protocol/page.ts';

const usage = `npm run app -- --api <origin> --out <folder>
  --api   public origin of root's API, like https://root.example (root's own --api)
  --out   folder of the site; an earlier export there is replaced`;

/** Assets carry a hash of what is in them in their names. */
const FOREVER = 'public, max-age=31536000, immutable';
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');

/** What build.json of an export says. */
export interface Site {
  /** Over all files below. */
  hash: string;
  /** The hash of the build it was made from, as that is published. */
  build: string;
  api: string;
  /** Files that differ from that build or are not in it. */
  own: string[];
  files: Record<string, { sha256: string; bytes: number }>;
}

/**
 * Writes the application built in `from` to the folder `out`, its API at the origin `api`: whole, or not at all. The same
 * build and `api` give the same bytes.
 * @throws Error with a sentence for the operator
 */
export function exportApp(from: string, api: string, out: string): Site {
  if (!replaceable(out))
    throw new Error(
      `${out} has other things in it than an earlier export. Name another folder: --out <folder>`,
    );
  const published = JSON.parse(readFileSync(join(from, 'build.json'), 'utf8')) as {
    hash: string;
    files: Record<string, { sha256: string }>;
  };
  const files = new Map<string, string | Buffer>();
  for (const name of Object.keys(published.files)) files.set(name, readFileSync(join(from, name)));

  const page = String(files.get('index.html'));
  const inline = inlineScripts(page);
  const index = addressed(page, api, inline);
  files.set('index.html', index);
  // A browser takes a new page only with a new worker, and the worker's text says nothing of the page by itself.
  files.set('sw.js', `${files.get('sw.js')}//${sha256(index)}\n`);
  const headers = pageHeaders(api, false, inline);
  files.set('_headers', headersFile(headers));
  // Scenario apps have addresses of their own.
  files.set('_redirects', '/s/* /index.html 200\n');
  files.set('nginx.conf', nginx(headers));

  const listed = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
  const site: Site = {
    hash: sha256(listed.map(([name, data]) => `${name} ${sha256(data)}\n`).join('')),
    build: published.hash,
    api,
    own: listed.filter(([n, d]) => published.files[n]?.sha256 !== sha256(d)).map(([n]) => n),
    files: Object.fromEntries(
      listed.map(([n, d]) => [n, { sha256: sha256(d), bytes: Buffer.byteLength(d) }]),
    ),
  };
  files.set('build.json', `${JSON.stringify(site, null, 1)}\n`);

  mkdirSync(dirname(out), { recursive: true });
  const fresh = mkdtempSync(`${out}.`);
  try {
    for (const [name, data] of files) {
      mkdirSync(dirname(join(fresh, name)), { recursive: true, mode: 0o755 });
      writeFileSync(join(fresh, name), data);
    }
    // What is made for this program only would be closed to a web server.
    chmodSync(fresh, 0o755);
    rmSync(out, { recursive: true, force: true });
    renameSync(fresh, out);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return site;
}

/** Whether a folder is not there, is empty, or holds an earlier export and nothing beside it. */
function replaceable(out: string): boolean {
  const there = existsSync(out) ? readdirSync(out) : [];
  if (!there.includes('build.json')) return there.length === 0;
  const { files } = JSON.parse(readFileSync(join(out, 'build.json'), 'utf8')) as Partial<Site>;
  const ours = new Set(['build.json', ...Object.keys(files ?? {}).map((f) => f.split('/')[0])]);
  return there.every((name) => ours.has(name));
}

/** The page with root's address and, for hosts that send no headers, the policy that lets it go there. */
function addressed(html: string, api: string, inline: string[]): string {
  const put = (text: string, at: string, by: string) => {
    if (text.split(at).length !== 2) throw new Error(`index.html has no single ${at}`);
    return text.replace(at, () => by);
  };
  const policy = `<meta http-equiv="content-security-policy" content="${contentPolicy(api, false, inline).join('; ')}">`;
  const charset = '<meta charset="utf-8">';
  const named = (origin: string) => `<meta name="ingle-root" content="${origin}">`;
  return put(put(html, named(''), named(api)), charset, `${charset}\n${policy}`);
}

/** Netlify and Cloudflare Pages read this; both ask again for what is not told to be kept. */
function headersFile(headers: Record<string, string>): string {
  const at = (path: string, of: Record<string, string>) =>
    [path, ...Object.entries(of).map(([k, v]) => `  ${k}: ${v}`), ''].join('\n');
  // Rules for all paths would add up with those for one, and two policies allow only what both do.
  return [
    ...['/', '/index.html', '/s/*', '/sw.js'].map((path) => at(path, headers)),
    at('/assets/*', { ...headers, 'cache-control': FOREVER }),
    at(FRAME_PATH, { ...headers, ...frameHeaders }),
  ].join('');
}

/** To be included in a `server` block whose `root` is the site. A location of nginx inherits no header once it adds one. */
function nginx(headers: Record<string, string>): string {
  const location = (path: string, cache: string, more: string[] = []) => {
    const own = path.endsWith(FRAME_PATH) ? frameHeaders : {};
    const all = Object.entries({ ...headers, ...own, 'cache-control': cache });
    const lines = [...more, ...all.map(([k, v]) => `add_header ${k} "${v}" always;`)];
    return `location ${path} {\n${lines.map((l) => `  ${l}\n`).join('')}}\n`;
  };
  return [
    location('/', 'no-cache', ['index index.html;']),
    location('/s/', 'no-cache', ['try_files /index.html =404;']),
    location('/assets/', FOREVER),
    location(`= ${FRAME_PATH}`, 'no-cache'),
    location('= /manifest.webmanifest', 'no-cache', ['default_type application/manifest+json;']),
  ].join('');
}

async function main(argv: string[]): Promise<number> {
  try {
    const { values } = parseArgs({
      args: argv,
      options: { api: { type: 'string' }, out: { type: 'string' }, help: { type: 'boolean' } },
    });
    if (values.help || !values.api || !values.out) {
      (values.help ? console.log : console.error)(usage);
      return values.help ? 0 : 64;
    }
    const api = secureOrigin(values.api);
    if (!api || api !== values.api.replace(/\/$/, ''))
      throw new Error(
        '--api takes an origin like https://root.example, without a path; http only for localhost.',
      );
    const { build, top } = await import('./build.mjs' as string);
    await build((what: string) => console.log(`built ${what}`));
    const site = exportApp(join(top, 'dist/spa'), api, resolve(values.out));
    console.log(`${values.out}: the application of build ${site.build}, root's API at ${api}`);
    console.log(`Hash of this export: ${site.hash}. Of the build's files it changes index.html and sw.js.`);
    return 0;
  } catch (e) {
    console.error((e as Error).message);
    return 64;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await main(process.argv.slice(2));
