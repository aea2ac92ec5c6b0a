// A browser and its hub with two ways between them: root's, which a test cuts, and a real data channel.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { random } from '../../firmware/protocol/bytes.ts';
import { must } from '../../firmware/system/exec.ts';
import type { Log } from '../../firmware/system/log.ts';
import { openDirect } from '../../firmware/uplink/direct.ts';
import { until } from '../lab/wait.ts';
import { localApi } from './kit.ts';
import { endAll, pair as pairOf } from './pair.ts';

const test = suite('direct');
const MIB = 1024 * 1024;
const big = random(64 * 1024);

const api = await localApi();
api.use(async (q, s, body) => {
  if (q.url === '/big') {
    for (let i = 0; i < 160; i++) if (!s.write(big)) await new Promise((r) => s.once('drain', r));
    s.end();
  } else s.end(`${q.method} ${body.length}`);
});
test.after(async () => {
  endAll();
  await api.stop();
});
const pair = (o?: Parameters<typeof pairOf>[1]) => pairOf(api, o);
/** Every byte is the one that was sent. */
function same(bytes: number, piece: Uint8Array): void {
  const from = bytes - piece.length;
  for (let i = 0; i < piece.length; i++)
    if (piece[i] !== big[(from + i) % big.length]) assert.unreachable(`byte ${from + i}`);
}

test('with root gone, requests go on by the data channel; root sees none of them', async () => {
  const p = await pair();
  assert.is((await p.get()).status, 200);
  assert.ok(await p.connect());
  const before = { ...p.root };
  p.root.up = false;
  assert.is((await p.get()).status, 200);
  assert.is(await p.post(3 * MIB), `POST ${3 * MIB}`);
  assert.equal([p.root.toHub, p.root.toBrowser], [before.toHub, before.toBrowser]);
  assert.equal(p.lost, []);
  p.close();
});

test('10 MiB survive the change to the data channel, its death, and the change to another', async () => {
  const p = await pair();
  const done: string[] = [];
  let connecting: Promise<boolean> | undefined;
  const got = await p.download(async (bytes, piece) => {
    same(bytes, piece);
    if (bytes > MIB && !done.length) {
      done.push('connect');
      connecting = p.connect();
    }
    if (bytes > 3 * MIB && done.length === 1) {
      assert.ok(await connecting);
      done.push('kill');
      p.line!.close();
    }
    if (bytes > 6 * MIB && done.length === 2) {
      done.push('again');
      connecting = p.connect();
    }
  });
  assert.ok(await connecting);
  assert.is(got, 10 * MIB);
  assert.equal(done, ['connect', 'kill', 'again']);
  assert.equal(p.lost, []);
  assert.is(p.browser.way, 'direct');
  p.close();
});

test('a data channel on which everything is lost without a word costs nothing but a moment', async () => {
  const p = await pair();
  await p.connect();
  let muted = false;
  const got = await p.download((bytes, piece) => {
    same(bytes, piece);
    if (bytes < 2 * MIB || muted) return;
    muted = p.mute = true;
  });
  assert.is(got, 10 * MIB);
  assert.equal(p.lost, []);
  assert.ok(
    p.ways.some((w) => /silent|other/.test(w)),
    p.ways.join(),
  );
  assert.is(p.browser.way, 'relay');
  p.close();
});

for (const [name, message] of Object.entries({
  garbage: random(50),
  nothing: new Uint8Array(0),
  'a frame from long ago': Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, 1, 3, 3, 3, 3),
  'a frame from the future': Uint8Array.of(1, 0, 0, 0, 9, 0, 0, 0, 1, 3, 3, 3, 3),
  'an acknowledgement of the future': Uint8Array.of(2, 0, 0, 0, 9, 0, 0, 0, 1),
}))
  test(`${name} on the data channel ends it, and no request is lost`, async () => {
    const p = await pair();
    await p.connect();
    const going = p.post(MIB);
    p.line!.send(message);
    assert.is(await going, `POST ${MIB}`);
    await until(() => p.browser.way === 'relay', 'the direct way to end');
    assert.ok(
      p.ways.some((w) => w === 'hub relay broken'),
      p.ways.join(),
    );
    assert.equal(p.lost, []);
    p.close();
  });

test('an offer that is none, or one too many, gets an answer without an end', async () => {
  const p = await pair();
  const answers = () => p.heard.filter((c) => c.t === 'answer');
  for (let id = 1; id <= 6; id++) await p.say({ t: 'offer', id, end: { ufrag: 'x' } });
  await until(() => answers().length === 6, 'the answers');
  assert.ok(answers().every((c) => c.t === 'answer' && c.end === undefined));
  const fingerprint = Array(32).fill('AA').join(':');
  const good = { ufrag: 'abcd', pwd: 'x'.repeat(22), fingerprint, candidates: [] };
  for (let id = 7; id <= 16; id++) await p.say({ t: 'offer', id, end: good });
  await until(() => answers().length === 16, 'the other answers');
  const taken = answers().filter((c) => c.t === 'answer' && c.end !== undefined).length;
  assert.ok(taken >= 1 && taken <= 6, `${taken} of ten are taken`);
  assert.is((await p.get()).status, 200);
  p.close();
});

test('a hub without a direct way says nothing of one, and refuses what asks for it', async () => {
  const p = await pair({ on: false });
  assert.not.ok(p.heard.some((c) => c.t === 'direct'));
  const end = { ufrag: 'abcd', pwd: 'x'.repeat(22), candidates: [] };
  const fingerprint = Array(32).fill('AA').join(':');
  await p.say({ t: 'offer', id: 1, end: { ...end, fingerprint } });
  await until(() => p.heard.some((c) => c.t === 'answer'), 'an answer');
  assert.equal(
    p.heard.find((c) => c.t === 'answer'),
    { t: 'answer', id: 1 },
  );
  p.close();
});

test('a new handshake while frames go directly changes keys and nothing else', async () => {
  const p = await pair();
  await p.connect();
  p.root.up = false;
  const epoch = p.channel.current!.epoch;
  p.channel.rekey();
  await until(() => p.channel.current!.epoch !== epoch, 'new keys');
  assert.is((await p.get()).status, 200);
  assert.equal(p.lost, []);
  assert.is(p.browser.way, 'direct');
  p.close();
});

test('a channel that begins anew does so through root, and may go directly again', async () => {
  const p = await pair();
  await p.connect();
  const openings = p.heard.filter((c) => c.t === 'direct').length;
  p.channel.restart();
  assert.is(p.browser.way, 'relay');
  await until(() => p.heard.filter((c) => c.t === 'direct').length > openings, 'the next channel');
  assert.is((await p.get()).status, 200);
  assert.ok(await p.connect());
  assert.is((await p.get()).status, 200);
  p.close();
});

const silent = Object.fromEntries(
  ['debug', 'info', 'notice', 'warn', 'error'].map((k) => [k, () => {}]),
) as unknown as Log;
const events = { open() {}, message() {}, closed() {} };
const offerOf = (candidates: string[]) => ({
  ...{ ufrag: 'abcd', pwd: 'x'.repeat(22), fingerprint: Array(32).fill('AA').join(':'), candidates },
});

/** A UDP port, and what comes to it; as a STUN server (RFC 8489) it says who asks from where: 203.0.113.9. */
async function udp() {
  const socket = createSocket('udp4');
  const heard: Buffer[] = [];
  socket.on('message', (m, from) => {
    heard.push(m);
    if (m.readUInt16BE(0) !== 1) return;
    const head = Buffer.from([1, 1, 0, 12]);
    // XOR-MAPPED-ADDRESS: port and address, each by the magic cookie.
    const mapped = Buffer.from([0, 0x20, 0, 8, 0, 1, 0, 0, 203 ^ 0x21, 0 ^ 0x12, 113 ^ 0xa4, 9 ^ 0x42]);
    mapped.writeUInt16BE(from.port ^ 0x2112, 6);
    socket.send(Buffer.concat([head, m.subarray(4, 20), mapped]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { port: socket.address().port, heard, close: () => socket.close() };
}

test('the hub asks STUN servers of its configuration and no other, and without one calls nobody who has not called', async () => {
  const [stun, far, near] = [await udp(), await udp(), await udp()];
  const placed = (port: number) =>
    offerOf([`candidate:1 1 UDP 1 127.0.0.1 ${port} typ srflx raddr 0.0.0.0 rport 0`]);
  const opened = (servers: string[]) =>
    openDirect({ direct: { on: true, stun: servers, ports: [50_400, 50_431] } }, silent);
  const [without, by] = [opened([]), opened([`stun:127.0.0.1:${stun.port}`])];
  assert.equal([without.stun, by.stun], [[], [`stun:127.0.0.1:${stun.port}`]], 'as browsers are told');
  try {
    const quiet = await without.answer(placed(near.port), events);
    assert.not(quiet.candidates.some((c) => / typ srflx/.test(c)));
    const answer = await by.answer(placed(far.port), events);
    assert.ok(stun.heard.length > 0, 'it was asked');
    assert.ok(
      answer.candidates.some((c) => / 203\.0\.113\.9 \d+ typ srflx/.test(c)),
      answer.candidates.join(),
    );
    // With one it calls, as both sides behind routers have to.
    await until(() => far.heard.length > 2, 'the hub to call');
    assert.equal(near.heard, []);
  } finally {
    for (const d of [without, by]) d.close();
    for (const u of [stun, far, near]) u.close();
  }
});

test('the library comes with the first offer', async () => {
  const script = `
    import { readFileSync } from 'node:fs';
    const { openDirect } = await import('./firmware/uplink/direct.ts');
    const isThere = () => /node_datachannel/.test(readFileSync('/proc/self/maps', 'utf8'));
    const log = { warn() {} };
    const d = openDirect({ direct: { on: true, stun: [], ports: [50400, 50431] } }, log);
    const before = isThere();
    await d.answer(${JSON.stringify(offerOf([]))}, { open() {}, message() {}, closed() {} });
    console.log(JSON.stringify([before, isThere()]));
    process.exit();`;
  const words = ['--import', 'tsx', '--input-type=module', '--eval', script];
  const said = await must(process.execPath, words, { timeoutMs: 60_000 });
  assert.equal(JSON.parse(said.toString()), [false, true]);
});

test.run();
