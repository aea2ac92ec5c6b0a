// timeout: 240 s
// Root with TLS of its own: a certificate is renewed under connections that stay, and whose headers count.
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as dial } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import fc from 'fast-check';
import { io } from 'socket.io-client';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { must } from '../../firmware/system/exec.ts';
import { readConfig } from '../../root/config.ts';
import { networkOf, openProxies } from '../../root/proxies.ts';
import { freePort } from '../../services/cli/house/runtime.ts';
import { child, ended } from '../lab/child.ts';
import { programOf } from '../lab/program.ts';
import { tried, until, within } from '../lab/wait.ts';
import { ask, newHub } from './kit.ts';

// The certificates here are signed by nobody. What they show is looked at by name.
process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';

const test = suite<{ dir: string }>('TLS and proxies of root');
test.before((c) => {
  c.dir = mkdtempSync(join(tmpdir(), 'ingle-tls-'));
});
test.after((c) => rmSync(c.dir, { recursive: true, force: true }));

/** A certificate for localhost with this common name, and its key. */
async function certificate(dir: string, name: string) {
  const [key, cert] = [join(dir, `${name}.key`), join(dir, `${name}.crt`)];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const names = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost'];
  await must('openssl', ['req', '-x509', ...curve, '-keyout', key, '-out', cert, '-days', '30', ...names]);
  return { key, cert };
}

/** Whose certificate is shown to a new connection. */
function shown(port: number): Promise<string> {
  const asked = new Promise<string>((resolve, reject) => {
    const c = connect({ port, host: '127.0.0.1', servername: 'localhost', rejectUnauthorized: false }, () => {
      resolve(String(c.getPeerCertificate().subject.CN));
      c.destroy();
    });
    c.on('error', reject);
  });
  return within(asked, 'a handshake');
}

/** Root with TLS, and its files; `put` replaces their content. */
async function secureRoot(dir: string) {
  const made = { a: await certificate(dir, 'first'), b: await certificate(dir, 'second') };
  const at = { cert: join(dir, 'now.crt'), key: join(dir, 'now.key') };
  const put = ({ cert, key }: typeof at) => {
    copyFileSync(key, at.key);
    copyFileSync(cert, at.cert);
  };
  put(made.a);
  const port = await freePort('127.0.0.1');
  let log = '';
  const root = child(process.execPath, programOf('root/main.ts'), {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...process.env,
      INGLE_ROOT_PORT: String(port),
      INGLE_ROOT_DATA: join(dir, 'data'),
      INGLE_ROOT_TLS_CERT: at.cert,
      INGLE_ROOT_TLS_KEY: at.key,
    },
  });
  root.stderr!.on('data', (d: Buffer) => {
    log += d.toString();
  });
  await until(
    tried(async () => (await shown(port)) === 'first'),
    'root with TLS',
  );
  return { ...made, at, put, port, root, log: () => log, hup: () => root.kill('SIGHUP') };
}

test('a certificate is renewed without an end to what is connected, and a damaged one is refused', async ({
  dir,
}) => {
  const c = await secureRoot(dir);
  const url = `https://localhost:${c.port}`;
  const hub = await newHub({ url, origin: url });
  const line = io(`${url}/hub`, {
    ...{ transports: ['websocket'], reconnectionDelay: 200, rejectUnauthorized: false },
    auth: (cb) =>
      hub.proof('socket').then((proof) => cb({ hub_id: hub.hub_id, certificate: hub.certificate, proof })),
  });
  let losses = 0;
  line.on('disconnect', () => losses++);
  await until(() => line.connected, 'the hub to connect');
  const stays = async () => {
    assert.is((await ask(line, 'hub.online', hub.online())).ok, true);
    assert.is(losses, 0);
  };
  c.put(c.b);
  c.hup();
  await until(async () => (await shown(c.port)) === 'second', 'the second certificate');
  // Until then both listen.
  await until(() => c.log().includes('the certificate was read again'), 'the first listener to be closed');
  for (let i = 0; i < 5; i++) assert.is(await shown(c.port), 'second');
  await stays();

  for (const spoil of [
    () => writeFileSync(c.at.cert, 'damaged'),
    () => rmSync(c.at.cert),
    () => copyFileSync(c.a.cert, c.at.cert),
  ]) {
    const before = c.log().length;
    spoil();
    c.hup();
    await until(() => c.log().slice(before).includes('cannot be used'), 'the log to say so');
    assert.is(await shown(c.port), 'second');
  }
  assert.not.match(c.log(), /PRIVATE KEY/);
  // Without a signal as well: the files are looked at.
  c.put(c.a);
  await until(async () => (await shown(c.port)) === 'first', 'the first certificate');
  await stays();
  line.close();
  await ended(c.root, 'SIGTERM', 'root');
  assert.is(c.root.exitCode, 0);
});

test('who connects and does not finish a handshake is not waited for', async ({ dir }) => {
  const c = await secureRoot(dir);
  // A record of a ClientHello that ends in its midst.
  const begun = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]);
  const clients = await Promise.all(
    [Buffer.alloc(0), begun].map(async (bytes) => {
      const tcp = dial(c.port, '127.0.0.1');
      tcp.on('error', () => {}).resume();
      await once(tcp, 'connect');
      tcp.write(bytes);
      return tcp;
    }),
  );
  await until(() => clients.every((tcp) => tcp.destroyed), 'both to be closed');
  assert.is(await shown(c.port), 'first');
  await ended(c.root, 'SIGKILL', 'root');
});

test('nobody is turned away twice while certificates change', async ({ dir }) => {
  const c = await secureRoot(dir);
  let isOver = false;
  let count = 0;
  const failures: string[] = [];
  const clients = Array.from({ length: 6 }, async () => {
    let failedBefore = false;
    while (!isOver)
      try {
        await shown(c.port);
        count++;
        failedBefore = false;
      } catch (e) {
        // Who arrives in the very instant in which a listener closes is reset, and comes again.
        if (failedBefore) failures.push((e as Error).message);
        failedBefore = true;
      }
  });
  for (const [pair, name] of [
    [c.b, 'second'],
    [c.a, 'first'],
    [c.b, 'second'],
    [c.a, 'first'],
  ] as const) {
    c.put(pair);
    c.hup();
    await until(
      tried(async () => (await shown(c.port)) === name),
      name,
    );
  }
  isOver = true;
  await Promise.all(clients);
  console.log(`FIGURE connections while certificates changed ${count}`);
  assert.equal(failures, []);
  await ended(c.root, 'SIGKILL', 'root');
});

test('a certificate that cannot be used at the start is named', async ({ dir }) => {
  const { cert, key } = await certificate(dir, 'good');
  const bad = join(dir, 'bad.crt');
  writeFileSync(bad, 'x');
  for (const [c, k] of [
    [bad, key],
    [join(dir, 'none'), key],
    [cert, join(dir, 'now.key')],
  ]) {
    const port = String(await freePort('127.0.0.1'));
    const flags = ['--port', port, '--data', join(dir, 'x'), '--tls-cert', c!, '--tls-key', k!];
    let log = '';
    const root = child(process.execPath, [...programOf('root/main.ts'), ...flags], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    root.stderr!.on('data', (d: Buffer) => {
      log += d.toString();
    });
    await until(() => root.exitCode !== null, 'root to end');
    assert.is(root.exitCode, 1);
    assert.ok(log.includes(`The certificate ${c} with the key ${k} cannot be used`), log);
  }
  assert.throws(() => readConfig(['--tls-cert', 'x'], {}), /belong together/);
  assert.is(
    readConfig(['--tls-cert', 'x', '--tls-key', 'y', '--port', '1'], {}).origin,
    'https://localhost:1',
  );
});

test('X-Forwarded-For counts from trusted proxies only', () => {
  const { proxies, trustedProxies } = readConfig(
    ['--trusted-proxies', '10.1.0.0/16,2001:db8::/32,192.0.2.7'],
    {},
  );
  assert.is(proxies, 1, 'who names proxies has one');
  const { clientOf, trusts } = openProxies({ proxies, trustedProxies });
  const header = () => '6.6.6.6, 7.7.7.7';
  for (const peer of ['10.1.2.3', '192.0.2.7', '2001:0db8:0000:0000:0000:0000:0000:0001', '::ffff:10.1.2.3'])
    assert.is(clientOf(header, peer), '7.7.7.7', peer);
  for (const peer of ['10.2.0.1', '192.0.2.8', '2001:0db9::1', '::ffff:10.2.0.1', 'nonsense', ''])
    assert.equal([clientOf(header, peer), trusts(peer)], [peer, false], peer);
  assert.is(openProxies({ proxies: 2, trustedProxies: [] }).clientOf(header, 'x'), '6.6.6.6');
  assert.is(openProxies({ proxies: 0, trustedProxies }).clientOf(header, '10.1.2.3'), '10.1.2.3');
  assert.throws(
    () => readConfig(['--trusted-proxies', '10.0.0.0/33'], {}),
    /--trusted-proxies takes networks/,
  );
});

test('a network holds what shares its first bits, for every address', () => {
  const four = fc.integer({ min: 0, max: 0xffffffff });
  const text = (n: number) => [24, 16, 8, 0].map((s) => (n >>> s) & 255).join('.');
  fc.assert(
    fc.property(
      four,
      four,
      fc.integer({ min: 0, max: 32 }),
      fc.integer({ min: 0, max: 32 }),
      (a, r, bits, same) => {
        const b = same === 0 ? r : ((a & (-1 << (32 - same))) | (same === 32 ? 0 : r >>> same)) >>> 0;
        const { trusts } = openProxies({ proxies: 1, trustedProxies: [`${text(a)}/${bits}`] });
        const shares = bits === 0 || a >>> (32 - bits) === b >>> (32 - bits);
        assert.is(trusts(text(b)), shares);
      },
    ),
  );
  fc.assert(fc.property(fc.string(), (s) => networkOf(s) === null || /^[\d.:a-f]+(%\w+)?(\/\d+)?$/i.test(s)));
});

test.run();
