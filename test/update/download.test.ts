// Downloads against a server that cuts, lies, changes and floods.
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { must, run } from '../../firmware/system/exec.ts';
import { logger } from '../../firmware/system/log.ts';
import { downloads, fetchIndex } from '../../firmware/update/download.ts';
import type { Wanted } from '../../firmware/update/pull.ts';
import { serveFile } from './hub.ts';

interface Context {
  server: Server;
  url: string;
  dir: string;
  /** What answers; a test sets it. */
  answer: (req: IncomingMessage, res: ServerResponse) => void;
  ranges: string[];
}
const test = suite<Context>('downloads');
const body = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 7919) % 251));
const sha = (b: Uint8Array) => createHash('sha256').update(b).digest('hex');
const log = logger('test');

test.before.each(async (c) => {
  c.dir = mkdtempSync(join(tmpdir(), 'ingle-download-'));
  c.ranges = [];
  c.answer = (req, res) => serveFile(req, res, body);
  c.server = createServer((req, res) => {
    c.ranges.push(String(req.headers.range ?? ''));
    c.answer(req, res);
  });
  await new Promise<void>((ok) => c.server.listen(0, '127.0.0.1', ok));
  c.url = `http://127.0.0.1:${(c.server.address() as AddressInfo).port}/x.raucb`;
});
test.after.each(async (c) => {
  c.server.closeAllConnections();
  await new Promise((ok) => c.server.close(ok));
  rmSync(c.dir, { recursive: true, force: true });
});

const wanted = (c: Context): Wanted => ({ url: c.url, size: body.length, sha256: sha(body) });
const fetcher = (c: Context, o: Partial<Parameters<typeof downloads>[1]> = {}) =>
  downloads(c.dir, { log, pauseMs: 1, reserve: 0, ...o });
const never = new AbortController().signal;
/** The test runner takes `details` of an error for its own. */
const bare = (e: IngleError & { reason?: string }) => {
  throw Object.assign(new Error(e.message), { reason: e.reason ?? e.details?.['reason'] });
};
const get = (c: Context, w = wanted(c), o = {}) =>
  fetcher(c, o)
    .fetch(w, () => {}, never)
    .catch(bare);
const reason = async (work: Promise<unknown>) =>
  ((await work.catch(bare).catch((e) => e)) as { reason?: string }).reason;
/** Sends `n` bytes from where it was asked, then drops the line. */
const cutAfter = (n: number) => (req: IncomingMessage, res: ServerResponse) => {
  const from = Number(/^bytes=(\d+)-/.exec(String(req.headers.range ?? ''))?.[1] ?? 0);
  const head = { etag: '"one"', 'content-length': body.length - from };
  if (from > 0)
    res.writeHead(206, { ...head, 'content-range': `bytes ${from}-${body.length - 1}/${body.length}` });
  else res.writeHead(200, head);
  res.write(body.subarray(from, from + n), () => setTimeout(() => res.destroy(), 20));
};

test('a bundle is fetched, and asked for again it is there', async (c) => {
  const file = await get(c);
  assert.ok(readFileSync(file).equals(body));
  assert.equal(readdirSync(c.dir), [`${sha(body)}.raucb`]);
  await get(c);
  assert.is(c.ranges.length, 1);
});

test('a line cut again and again is taken up where it was, as long as bytes come', async (c) => {
  c.answer = cutAfter(40_000);
  await get(c);
  assert.ok(c.ranges.length >= 8, String(c.ranges.length));
  const from = c.ranges.map((r) => Number(/\d+/.exec(r)?.[0] ?? 0));
  assert.equal(
    from,
    [...from].sort((a, b) => a - b),
    'it never went back',
  );
});

test('a server that brings nothing is given up, and what is there stays', async (c) => {
  c.answer = cutAfter(40_000);
  const stop = new AbortController();
  const w = wanted(c);
  let seen = 0;
  const watch = (n: number) => {
    seen = n;
    if (n > 50_000) stop.abort();
  };
  const work = fetcher(c).fetch(w, watch, stop.signal);
  assert.is(await reason(work), 'canceled');
  c.answer = (_, res) => void res.writeHead(503).end();
  assert.is(await reason(get(c)), 'cut');
  assert.ok(seen > 50_000 && fetcher(c).partial(w) > 0);
  c.answer = (req, res) => serveFile(req, res, body, '"one"');
  await get(c);
  assert.match(c.ranges.at(-1)!, /^bytes=[1-9]/);
});

test('a silent server is left', async (c) => {
  let asked = 0;
  c.answer = (req, res) => {
    if (++asked === 1) res.writeHead(200, { 'content-length': body.length }).write(body.subarray(0, 100));
    else serveFile(req, res, body);
  };
  await get(c, wanted(c), { stallMs: 200 });
  assert.is(asked, 2);
});

test('a file that changed on the server is fetched from its beginning', async (c) => {
  const other = Buffer.from(body).reverse();
  let first = true;
  c.answer = (req, res) => {
    if (!first) return serveFile(req, res, body, '"two"');
    first = false;
    res.writeHead(200, { etag: '"one"', 'content-length': other.length });
    res.write(other.subarray(0, 100_000), () => setTimeout(() => res.destroy(), 20));
  };
  assert.ok(readFileSync(await get(c)).equals(body));
});

test('a server that passes off another file under the same tag is found out by the hash, and asked once more', async (c) => {
  const other = Buffer.from(body).reverse();
  let asked = 0;
  c.answer = (req, res) => {
    if (++asked > 1) return serveFile(req, res, body, '"same"');
    res.writeHead(200, { etag: '"same"', 'content-length': other.length });
    res.write(other.subarray(0, 100_000), () => setTimeout(() => res.destroy(), 20));
  };
  assert.ok(readFileSync(await get(c)).equals(body));
  assert.is(c.ranges.at(-1), '');
});

test('a wrong hash leaves nothing behind', async (c) => {
  c.answer = (req, res) => serveFile(req, res, Buffer.from(body).reverse());
  assert.is(await reason(get(c)), 'wrong_hash');
  assert.equal(readdirSync(c.dir), []);
});

test('a part spoilt by a power cut is fetched anew', async (c) => {
  writeFileSync(join(c.dir, `${sha(body)}.part`), Buffer.alloc(body.length));
  assert.ok(readFileSync(await get(c)).equals(body));
});

test('no byte too many is stored, whatever the server says or does not say', async (c) => {
  c.answer = (_, res) =>
    void res.writeHead(200, { 'content-length': body.length + 1 }).end(Buffer.alloc(body.length + 1));
  assert.is(await reason(get(c)), 'wrong_size');
  let sent = 0;
  c.answer = (_, res) => {
    // Chunked, without end.
    const more = () => {
      while (!res.destroyed && sent < 50_000_000 && res.write(Buffer.alloc(65_536))) sent += 65_536;
    };
    res.writeHead(200);
    res.on('drain', more);
    more();
  };
  assert.is(await reason(get(c)), 'wrong_size');
  assert.equal(readdirSync(c.dir), []);
  c.answer = (_, res) => void res.writeHead(200).end(body.subarray(0, 1000));
  assert.is(await reason(get(c, { ...wanted(c), size: 999 })), 'wrong_size');
});

test('an end that comes too early is no end', async (c) => {
  c.answer = (_, res) => void res.writeHead(200).end(body.subarray(0, 1000));
  assert.is(await reason(get(c)), 'wrong_size');
});

test('a part of another place than was asked for is not taken', async (c) => {
  writeFileSync(join(c.dir, `${sha(body)}.part`), body.subarray(0, 1000));
  c.answer = (req, res) => {
    if (!req.headers.range) return serveFile(req, res, body);
    res.writeHead(206, { 'content-range': `bytes 0-${body.length - 1}/${body.length}` }).end(body);
  };
  assert.ok(readFileSync(await get(c)).equals(body));
});

test('a bundle that is gone is told as gone, at once', async (c) => {
  c.answer = (_, res) => void res.writeHead(404).end();
  assert.is(await reason(get(c)), 'not_found');
  assert.is(c.ranges.length, 1);
});

test('without room nothing is begun', async (c) => {
  const d = fetcher(c, { free: async () => body.length - 1 });
  assert.not(await d.room(wanted(c)));
  assert.is(await reason(d.fetch(wanted(c), () => {}, never)), 'disk_full');
  assert.equal(c.ranges, []);
});

const small = mkdtempSync(join(tmpdir(), 'ingle-small-'));
const mounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=128k', 'tmpfs', small]).then(
  (r) => r.code === 0,
  () => false,
);
if (!mounted) console.log('SKIP a full disk: tmpfs cannot be mounted here');
(mounted ? test : test.skip)('a disk that fills up meanwhile is told as full', async (c) => {
  const d = downloads(small, { log, pauseMs: 1, free: async () => 1e9 });
  assert.is(await reason(d.fetch(wanted(c), () => {}, never)), 'disk_full');
});
test.after(async () => {
  if (mounted) await must('umount', [small]);
  rmSync(small, { recursive: true, force: true });
});

test('old bundles are swept, the wanted one stays', async (c) => {
  for (const f of ['a.raucb', 'b.part', 'c.etag', 'keep.txt']) writeFileSync(join(c.dir, f), '');
  await get(c);
  await fetcher(c).sweep(wanted(c));
  assert.equal(readdirSync(c.dir).sort(), [`${sha(body)}.raucb`, 'keep.txt'].sort());
  await fetcher(c).sweep();
  assert.not(existsSync(join(c.dir, `${sha(body)}.raucb`)));
});

test('whatever the cuts, what arrives is the file', async (c) => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 150_000 }), { maxLength: 6 }), async (cuts) => {
      rmSync(join(c.dir, `${sha(body)}.raucb`), { force: true });
      const left = [...cuts];
      c.answer = (req, res) => {
        const n = left.shift();
        if (n === undefined) serveFile(req, res, body, '"one"');
        else cutAfter(n)(req, res);
      };
      const file = await get(c);
      assert.is(statSync(file).size, body.length);
      assert.ok(readFileSync(file).equals(body));
    }),
    { numRuns: 20 },
  );
});

test('an index too large, missing or silent is no index', async (c) => {
  c.answer = (_, res) => void res.writeHead(200).end(Buffer.alloc(100_000, 0x20));
  assert.is(await reason(fetchIndex(c.url)), 'bad_index');
  c.answer = (_, res) => void res.writeHead(500).end();
  assert.is(await reason(fetchIndex(c.url)), 'no_index');
  c.answer = () => {};
  assert.is(await reason(fetchIndex(c.url, 200)), 'no_index');
});

test.run();
