// `ingle ui preview`: a document as the application draws it, on a phone and a desk, in light and dark, with what is to
// be put right beside it; anew at each save. The page is served to this computer alone.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { IngleError } from '../../../firmware/protocol/errors.ts';
import type { Language } from '../../../firmware/text/i18n.ts';
import type { Previewed } from '../../../firmware/ui/previewed.ts';
import type { Say } from '../say.ts';
import { plain } from '../show.ts';
import { bundled, checkout } from './bundle.ts';
import { lookAt, stateFileOf } from './document.ts';
import type { PreviewText } from './text.ts';

const LOOK_MS = 300;

/** The application's style sheet as a browser with this theme reads it. */
const themed = (style: string, theme: 'light' | 'dark') =>
  `${style.replaceAll('(prefers-color-scheme: dark)', theme === 'dark' ? 'all' : 'not all')}\n:root { color-scheme: ${theme}; }\n.preview-screen { padding: 1.25rem; }`;

/** As strict as the application's own; the frames are pages of the preview itself. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src blob:; frame-src 'self'; frame-ancestors 'self'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types ingle-vega";

const html = (style: string, language: Language) =>
  `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Ingle</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/${style}.css"></head><body><div id="app"></div><script src="/page.js"></script></body></html>`;

const stampOf = (files: readonly string[]): string =>
  files
    .map((f) => {
      const s = statSync(f, { throwIfNoEntry: false });
      return s ? `${s.size} ${s.mtimeMs}` : '';
    })
    .join();

async function pagesOf(t: PreviewText, language: Language): Promise<Record<string, [string, string]>> {
  const top = checkout(t);
  const { script, style } = await bundled(top, "import './spa/preview.ts';", t);
  const shell = readFileSync(join(top, 'spa/preview.css'), 'utf8');
  return {
    '/': ['text/html; charset=utf-8', html('shell', language)],
    '/light': ['text/html; charset=utf-8', html('light', language)],
    '/dark': ['text/html; charset=utf-8', html('dark', language)],
    '/page.js': ['text/javascript; charset=utf-8', script],
    '/shell.css': ['text/css; charset=utf-8', `${style}\n${shell}`],
    '/light.css': ['text/css; charset=utf-8', themed(style, 'light')],
    '/dark.css': ['text/css; charset=utf-8', themed(style, 'dark')],
  };
}

/** @returns the port. @throws IngleError `conflict` for one that is taken */
async function listen(
  server: ReturnType<typeof createServer>,
  port: number,
  t: PreviewText,
): Promise<number> {
  await new Promise<void>((done, no) => {
    server.once('error', (e: NodeJS.ErrnoException) =>
      no(e.code === 'EADDRINUSE' ? new IngleError('conflict', t('taken', { port })) : e),
    );
    server.listen(port, '127.0.0.1', done);
  });
  return (server.address() as AddressInfo).port;
}

/**
 * Runs until it is interrupted.
 * @throws IngleError `not_found` for a file that is not there, `not_supported` outside of a checkout, `conflict`
 */
export async function preview(
  what: string,
  o: { port?: string | undefined; language: Language },
  say: Say,
  t: PreviewText,
): Promise<void> {
  const file = resolve(what);
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new IngleError('not_found', t('missing', { file: plain(what, 300) }));
  if (o.port !== undefined && !/^[1-9]\d{0,4}$/.test(o.port))
    throw new IngleError('invalid_request', t('badPort'));
  const pages = await pagesOf(t, o.language);
  let now: Previewed = await lookAt(file, o.language, t);
  const followers = new Set<ServerResponse>();
  let names: readonly string[] = [];
  const server = createServer((req, res) => {
    // A page of the web that has this name lead here is not let in.
    if (!names.includes(req.headers.host ?? '')) return void res.writeHead(403).end();
    if (req.url === '/document')
      return void res
        .writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' })
        .end(JSON.stringify(now));
    if (req.url === '/changes') {
      res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      res.write('data: \n\n');
      followers.add(res);
      res.on('close', () => followers.delete(res));
      return;
    }
    const page = pages[req.url ?? ''];
    if (!page) return void res.writeHead(404).end();
    res
      .writeHead(200, {
        ...{ 'content-type': page[0], 'content-security-policy': policy, 'cache-control': 'no-store' },
        'x-content-type-options': 'nosniff',
      })
      .end(page[1]);
  });
  const port = await listen(server, Number(o.port ?? 0), t);
  names = ['127.0.0.1', 'localhost'].map((h) => `${h}:${port}`);
  const url = `http://127.0.0.1:${port}/`;
  const tell = () => {
    say.event({ file, url, kind: now.kind, fault: now.fault, problems: now.problems });
    const count = now.problems.length;
    say.line(now.fault || t('looked', { file: now.file, kind: now.kind, count }));
    for (const p of now.problems) say.line(plain(`  ${p.pointer || '/'}  ${p.code}  ${p.hint}`, 500));
  };
  say.line(t('serving', { file: plain(what, 300), url }));
  tell();
  const files = [file, stateFileOf(file)];
  for (let before = stampOf(files); ; await new Promise((done) => setTimeout(done, LOOK_MS))) {
    const stamp = stampOf(files);
    // Some editors put a new file in the place of the old one, and there is none for a moment.
    if (stamp === before || !existsSync(file)) continue;
    before = stamp;
    now = await lookAt(file, o.language, t, now);
    tell();
    for (const res of followers) res.write('data: \n\n');
  }
}
