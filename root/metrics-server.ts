// The metrics on an address of their own, so that the public one never shows them.
import { createServer } from 'node:http';
import type { Metrics } from './metrics.ts';

/** Where the metrics are served. */
export interface Address {
  host: string;
  port: number;
}

/**
 * Serves `GET /metrics`. @returns what ends it
 * @throws Error with a sentence for the operator when the port is taken
 */
export async function serveMetrics({ host, port }: Address, metrics: Metrics): Promise<() => void> {
  const server = createServer((req, res) => {
    if (req.url !== '/metrics' || req.method !== 'GET') {
      res.writeHead(404).end();
      return;
    }
    metrics.text().then(
      (text) => res.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      () => res.writeHead(500).end(),
    );
  });
  // A scraper is one connection, or a few; whoever is silent is let go.
  server.maxConnections = 16;
  server.headersTimeout = 5000;
  server.requestTimeout = 5000;
  server.timeout = 30_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', () =>
      reject(
        new Error(
          `Port ${port} on ${host} is taken or not allowed. Choose another: --metrics 127.0.0.1:9465`,
        ),
      ),
    );
    server.listen(port, host, resolve);
  });
  return () => {
    server.close();
    server.closeAllConnections();
  };
}
