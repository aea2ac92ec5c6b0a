// An update server on this computer, which a machine with a cable reaches at 10.0.2.2: files with ranges, by HTTP and
// by HTTPS with a certificate of its own, and the index of a channel.
import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTls } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { must } from '../../../firmware/system/exec.ts';
import { sha256File } from '../../../image/bundle.ts';

export interface Shelf {
  /** Addresses as the machine sees them, no slash at the end. */
  http: string;
  https: string;
  /** PEM of the CA behind `https`. */
  ca: string;
  /** What the index of the stable channel offers from now on. */
  offer(model: string, file: string, version: string): void;
  close(): void;
}

/** Serves the files of `dir`. */
export async function shelf(dir: string): Promise<Shelf> {
  const own = mkdtempSync(join(tmpdir(), 'ingle-shelf-'));
  const [keyFile, certFile] = [join(own, 'key'), join(own, 'pem')];
  await must('openssl', [
    ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '30', '-subj', '/CN=shelf'],
    ...['-addext', 'subjectAltName=IP:10.0.2.2', '-keyout', keyFile, '-out', certFile],
  ]);
  const [key, cert] = [readFileSync(keyFile), readFileSync(certFile)];
  rmSync(own, { recursive: true });
  const indexes = new Map<string, string>();
  const serve = (q: IncomingMessage, a: ServerResponse) => {
    const index = indexes.get(q.url ?? '');
    if (index !== undefined) return a.writeHead(200, { 'content-type': 'application/json' }).end(index);
    const file = join(dir, (q.url ?? '').replace(/[^\w.-]/g, ''));
    if (!existsSync(file) || !statSync(file).isFile()) return a.writeHead(404).end();
    const { size } = statSync(file);
    const range = /^bytes=(\d+)-(\d*)$/.exec(q.headers.range ?? '');
    const start = Number(range?.[1] ?? 0);
    const end = Math.min(Number(range?.[2] || size - 1), size - 1);
    a.writeHead(range ? 206 : 200, {
      'content-length': end - start + 1,
      'accept-ranges': 'bytes',
      ...(range ? { 'content-range': `bytes ${start}-${end}/${size}` } : {}),
    });
    if (q.method === 'HEAD') return a.end();
    return createReadStream(file, { start, end }).pipe(a);
  };
  const plain = createServer(serve);
  const tls = createTls({ key, cert }, serve);
  for (const s of [plain, tls]) await new Promise<void>((done) => s.listen(0, '127.0.0.1', () => done()));
  const port = (s: typeof plain) => (s.address() as AddressInfo).port;
  const http = `http://10.0.2.2:${port(plain)}`;
  return {
    http,
    https: `https://10.0.2.2:${port(tls)}`,
    ca: cert.toString(),
    offer(model, file, version) {
      const at = join(dir, file);
      const index = { version, url: `${http}/${file}`, size: statSync(at).size, sha256: sha256File(at) };
      indexes.set(`/stable/${model}.json`, JSON.stringify(index));
    },
    close() {
      for (const s of [plain, tls]) {
        s.close();
        s.closeAllConnections();
      }
    },
  };
}
