// Where root listens (uWebSockets.js): plain, or with TLS whose certificate is read again when its files change.
import {
  App,
  type us_listen_socket as ListenSocket,
  SSLApp,
  type TemplatedApp,
  us_listen_socket_close,
} from 'uWebSockets.js';
import { X509Certificate } from 'node:crypto';
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { RootConfig } from './config.ts';
import { log } from './log.ts';

type Where = Pick<RootConfig, 'host' | 'port' | 'tlsCert' | 'tlsKey'>;

export interface Listener {
  /** Reads the certificate again. One that cannot be used leaves the present one in place, and the log says so. */
  reload(): Promise<void>;
  /** Takes no new connections; those that are there stay, and what has reached it by then is taken. */
  stop(): Promise<void>;
  /** Ends all connections. */
  close(): void;
}

/** How often the files of the certificate are looked at, milliseconds. A look costs two calls of stat. */
const LOOK_MS = 5000;

/**
 * Listens as the configuration says.
 * @param attach gives an application its routes; called anew for each certificate
 * @throws Error with a sentence for the operator when the port is taken or the certificate cannot be used
 */
export async function listen(config: Where, attach: (app: TemplatedApp) => void): Promise<Listener> {
  const { host, port, tlsCert, tlsKey } = config;
  const files = tlsCert === '' ? [] : [tlsCert, tlsKey];
  const apps: TemplatedApp[] = [];

  /** A further listener on the port (SO_REUSEPORT) with what is in the files now. */
  async function begin(): Promise<ListenSocket> {
    const app = files.length > 0 ? secure(tlsCert, tlsKey) : App();
    attach(app);
    const socket = await new Promise<ListenSocket | false>((resolve) => app.listen(host, port, resolve));
    if (!socket)
      throw new Error(
        `Port ${port} on ${host} is taken or not allowed. Choose another: --port 8081 (or INGLE_ROOT_PORT).`,
      );
    apps.push(app);
    return socket;
  }
  let socket: ListenSocket | undefined = await begin();
  let turn = Promise.resolve();

  async function renew(): Promise<void> {
    if (!socket || files.length === 0) return;
    try {
      const next = await begin();
      const old = socket;
      socket = next;
      // What has reached the old one is taken from it first: closing it would reset them.
      await settled();
      us_listen_socket_close(old);
      const { validTo } = new X509Certificate(readFileSync(tlsCert));
      log('notice', 'the certificate was read again', { until: validTo });
    } catch (e) {
      log('error', 'the certificate cannot be used; the one before stays', { why: (e as Error).message });
    }
  }
  const reload = () => {
    turn = turn.then(renew);
    return turn;
  };
  for (const file of files) watchFile(file, { interval: LOOK_MS, persistent: false }, () => void reload());
  return {
    reload,
    async stop() {
      for (const file of files) unwatchFile(file);
      const old = socket;
      socket = undefined;
      if (!old) return;
      await settled();
      us_listen_socket_close(old);
    },
    close() {
      for (const app of apps) app.close();
    },
  };
}

/** An application with TLS. @throws Error with a sentence for the operator */
function secure(cert: string, key: string): TemplatedApp {
  try {
    // uWebSockets.js only says that it failed; Node says why.
    createSecureContext({ cert: readFileSync(cert), key: readFileSync(key) });
  } catch (e) {
    throw new Error(`The certificate ${cert} with the key ${key} cannot be used: ${(e as Error).message}`);
  }
  return SSLApp({ cert_file_name: cert, key_file_name: key });
}

/** The event loop has been round, so whatever waited at a socket has been taken. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 20));
  await new Promise((resolve) => setImmediate(resolve));
}
