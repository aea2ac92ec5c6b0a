// The built application: scanned once, so that no path a client invents ever reaches the disk.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { IngleError } from '../firmware/protocol/errors.ts';
import { inlineScripts } from '../firmware/protocol/inline.ts';
import { FRAME_PATH, frameHeaders } from '../firmware/protocol/page.ts';
import type { RootConfig } from './config.ts';
import { failure, type Reply, type Request } from './http.ts';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.webmanifest': 'application/manifest+json',
  '.json': 'application/json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};

interface File {
  type: string;
  cache: string;
  etag: string;
  body: Buffer;
  br: Buffer | undefined;
  gzip: Buffer | undefined;
}

interface Static {
  answer(req: Request): Reply;
  /** Sources of the scripts that stand in the application's page, for its policy. */
  inline: string[];
}

function read(dir: string): Map<string, File> {
  const files = new Map<string, File>();
  if (!existsSync(dir)) return files;
  for (const e of readdirSync(dir, { withFileTypes: true, recursive: true })) {
    if (!e.isFile() || /\.(br|gz)$/.test(e.name)) continue;
    const type = types[extname(e.name)];
    if (type === undefined) continue;
    const file = join(e.parentPath, e.name);
    const beside = (suffix: string) => (existsSync(file + suffix) ? readFileSync(file + suffix) : undefined);
    const body = readFileSync(file);
    const path = '/' + relative(dir, file).split(sep).join('/');
    files.set(path, {
      type,
      // Names under /assets/ carry a hash of their content.
      cache: path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
      etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
      body,
      br: beside('.br'),
      gzip: beside('.gz'),
    });
  }
  return files;
}

/** The files of `spa`; with '' there are none, and who comes is told where the application is. */
export function openStatic({ spa, origin }: Pick<RootConfig, 'spa' | 'origin'>): Static {
  const files = spa === '' ? new Map<string, File>() : read(spa);
  function answer(req: Request): Reply {
    if (req.method !== 'GET' && req.method !== 'HEAD')
      return failure(new IngleError('method_not_allowed', 'Use GET here.', { allow: 'GET, HEAD' }));
    const navigation = req.header('accept').includes('text/html') && !req.path.startsWith('/assets/');
    const file =
      files.get(req.path) ?? (req.path === '/' || navigation ? files.get('/index.html') : undefined);
    if (!file)
      return failure(
        files.has('/index.html') || spa === ''
          ? new IngleError('not_found', `There is nothing at this address. The application is at ${origin}.`)
          : new IngleError('unavailable', 'The application is not built on this server: npm run build.'),
      );
    const headers: Record<string, string> = {
      'content-type': file.type,
      'cache-control': file.cache,
      etag: file.etag,
      vary: 'accept-encoding',
      ...(req.path === FRAME_PATH && file === files.get(FRAME_PATH) ? frameHeaders : {}),
    };
    if (req.header('if-none-match') === file.etag) return { status: 304, headers, body: '' };
    const accepts = req.header('accept-encoding');
    for (const [name, body] of [
      ['br', file.br],
      ['gzip', file.gzip],
    ] as const)
      if (body && new RegExp(`\\b${name}\\b(?!\\s*;\\s*q=0(\\.0*)?\\s*(,|$))`).test(accepts))
        return { status: 200, headers: { ...headers, 'content-encoding': name }, body };
    return { status: 200, headers, body: file.body };
  }
  return { answer, inline: inlineScripts(String(files.get('/index.html')?.body ?? '')) };
}
