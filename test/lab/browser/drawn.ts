// A page that draws trees: what a test writes for it, bundled with the application, under the application's own policy.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bundlePage } from '../../../services/cli/ui/bundle.ts';

export interface DrawnPage {
  url: string;
  /** What the policy had to report. */
  reports: string[];
  close(): void;
}

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; worker-src blob:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types ingle-vega; report-uri /report";

/**
 * @param contents TypeScript, as if it lay at the top of the tree; it finds `#app`
 * @param o.policy another than the application's own, for a page of somebody else's
 */
export async function drawnPage(contents: string, o: { policy?: string } = {}): Promise<DrawnPage> {
  const { script, style } = await bundlePage(process.cwd(), contents);
  const files: Record<string, [type: string, body: string]> = {
    '/page.js': ['text/javascript', script],
    '/styles.css': ['text/css', style],
  };
  const html =
    '<!doctype html><html lang="en"><title>x</title><link rel="stylesheet" href="/styles.css"><body><div id="app"></div><script src="/page.js"></script>';
  const reports: string[] = [];
  const server = createServer((req, res) => {
    if (req.url === '/report') {
      req.on('data', (d: Buffer) => reports.push(String(d)));
      req.on('end', () => res.writeHead(204).end());
      return;
    }
    const [type, body] = files[req.url ?? ''] ?? ['text/html', html];
    res.writeHead(200, { 'content-type': type, 'content-security-policy': o.policy ?? policy }).end(body);
  });
  await new Promise<void>((ok) => server.listen(0, '127.0.0.1', ok));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    reports,
    close: () => void server.close(),
  };
}
