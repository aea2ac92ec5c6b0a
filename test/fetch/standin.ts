// A host of the internet that is here: https with a certificate of its own, behind a public address.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Way } from '../../firmware/fetch/exchange.ts';

/** A certificate for these names, which vouches for itself. */
function certificate(names: readonly string[]): { key: string; cert: string } {
  const dir = mkdtempSync(join(tmpdir(), 'ingle-cert-'));
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  try {
    execFileSync('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30'],
      ...['-keyout', key, '-out', cert, '-subj', '/CN=stand-in'],
      ...['-addext', `subjectAltName=${names.map((n) => `DNS:${n}`).join(',')}`],
    ]);
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** Names resolve to what `names` says; every address that was judged public is found at the stand-in. */
export async function standIn(
  names: Record<string, string[]>,
  answer: (q: IncomingMessage, r: ServerResponse) => void,
) {
  const known = Object.keys(names).filter((n) => !n.startsWith('uncertain'));
  const { key, cert } = certificate(known);
  const server = createServer({ key, cert }, answer);
  let connections = 0;
  server.on('connection', () => connections++);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const way: Way = {
    async resolve(host) {
      if (!names[host]) throw new Error('ENOTFOUND');
      return names[host].map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    },
    reach: () => ({ addresses: [{ address: '127.0.0.1', family: 4 }], port }),
    ca: cert,
  };
  return {
    way,
    connections: () => connections,
    async stop() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
