// timeout: 300 s
// Speech to text over HTTP: espeak-ng says it, pocketsphinx hears it, and faults end with their own request.
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { audio1 } from '../../firmware/audio/contract.ts';
import { parseWav } from '../../firmware/audio/pcm.ts';
import { connect } from '../../firmware/system/bus.ts';
import { must, start } from '../../firmware/system/exec.ts';
import { ended, tethered } from '../lab/child.ts';
import { tried, until } from '../lab/wait.ts';
import { startHub, type TestHub } from './hub.ts';

const needed = [
  '/usr/bin/espeak-ng',
  '/usr/bin/pocketsphinx_continuous',
  '/usr/share/pocketsphinx/model/en-us/en-us.lm.bin',
];
const missing = needed.filter((f) => !existsSync(f)).join(', ');
if (missing) console.log(`\nSKIP no speech here: ${missing}`);
const test = suite<{ hub: TestHub; audio: ChildProcess; folder: string; sound: Uint8Array }>('speech');
const it = missing ? test.skip : test;

/** What espeak-ng says, as a file whose sizes are true. */
async function spoken(text: string): Promise<Uint8Array> {
  const piped = await must('espeak-ng', ['-v', 'en-us', '-s', '110', '--stdout', text]);
  const file = Buffer.from(piped);
  const { data } = parseWav(file);
  const at = data.byteOffset - file.byteOffset;
  file.writeUInt32LE(data.length, at - 4);
  return new Uint8Array(file);
}
test.before(async (c) => {
  if (missing) return;
  c.hub = await startHub();
  c.folder = mkdtempSync(join(tmpdir(), 'ingle-recognizing-'));
  const [first, ...rest] = [
    ...tethered,
    process.execPath,
    '--import',
    'tsx',
    'test/services/recognizing.ts',
    c.folder,
  ];
  c.audio = start(first!, rest, { env: c.hub.env, stdio: ['ignore', 'inherit', 'inherit'] });
  const asker = await connect(c.hub.bus.address);
  await until(
    tried(async () => (await asker.listNames()).includes(audio1.bus)),
    'the recogniser',
  );
  asker.close();
  c.sound = await spoken('turn on the light');
});
test.after(async (c) => {
  if (missing) return;
  await ended(c.audio, 'SIGKILL', 'the recogniser');
  await c.hub.stop();
  rmSync(c.folder, { recursive: true, force: true });
});

const path = `/api/speech/recognize?phrases=${encodeURIComponent('turn on the light,turn off the light,good night')}`;

it('what was said is told, and nothing of it is left', async ({ hub, sound, folder }) => {
  assert.ok(sound.length > 65_536, 'larger than other bodies may be');
  const r = await hub.ask('POST', path, { as: {}, raw: sound });
  assert.is(r.body.text, 'turn on the light', JSON.stringify(r.body));
  assert.is(r.body.language, 'en');
  assert.ok(r.body.duration_ms > 800 && r.body.duration_ms < 3000);
  assert.equal(readdirSync(folder), []);
  const free = await hub.ask('POST', '/api/speech/recognize', { raw: sound });
  assert.is(free.status, 200);
  assert.type(free.body.text, 'string');
});

it('the same said in Opus, as phones record it, is understood as well', async ({ hub, folder }) => {
  const raw = new Uint8Array(readFileSync('test/audio/golden/turn-on-the-light.opus'));
  const r = await hub.ask('POST', path, { as: {}, raw });
  assert.is(r.body.text, 'turn on the light', JSON.stringify(r.body));
  assert.equal(readdirSync(folder), []);
  const broken = raw.slice();
  broken[2000]! ^= 1;
  assert.is((await hub.ask('POST', path, { raw: broken })).body.error, 'invalid_request');
  assert.is((await hub.ask('POST', path, { raw })).status, 200);
});

it('what is no recording, no known word or no known language is refused with the next step', async ({
  hub,
  sound,
}) => {
  const refused = async (at: string, raw: Uint8Array | string, error: string) => {
    const r = await hub.ask('POST', at, { raw });
    assert.is(r.body.error, error, JSON.stringify(r.body));
  };
  await refused(path, '', 'invalid_request');
  await refused(path, 'no sound', 'invalid_request');
  await refused(path, sound.subarray(0, 30_000), 'invalid_request');
  await refused(path, 'OggS', 'invalid_request');
  await refused(path, new Uint8Array(2 * 1024 * 1024 + 1), 'too_large');
  await refused('/api/speech/recognize?phrases=good%20xyzzyq', sound, 'invalid_request');
  await refused('/api/speech/recognize?phrases=%3Ca%3E', sound, 'invalid_request');
  await refused('/api/speech/recognize?phrases=,', sound, 'invalid_request');
  await refused(`${path}&lang=ru`, sound, 'not_supported');
  await refused(`${path}&lang=xx`, sound, 'invalid_request');
  assert.is((await hub.ask('POST', path, { as: { role: 'guest' }, raw: sound })).status, 403);
});

it('more at once than may wait are told to come again, and the others are answered', async ({
  hub,
  sound,
}) => {
  const all = await Promise.all(Array.from({ length: 8 }, () => hub.ask('POST', path, { raw: sound })));
  const texts = all.filter((r) => r.status === 200).map((r) => r.body.text);
  assert.ok(texts.length >= 1 && texts.every((t) => t === 'turn on the light'));
  assert.ok(all.some((r) => r.status === 429));
  assert.ok(all.every((r) => r.status === 200 || r.status === 429));
});

it('a frozen recogniser ends in a timeout, disturbs nobody else, and works on once it goes on', async ({
  hub,
  audio,
  sound,
  folder,
}) => {
  process.kill(audio.pid!, 'SIGSTOP');
  const asked = hub.ask('POST', path, { raw: sound });
  assert.is((await hub.ask('GET', '/api/status')).status, 200);
  assert.is((await asked).body.error, 'timeout');
  process.kill(audio.pid!, 'SIGCONT');
  await until(
    async () => (await hub.ask('POST', path, { raw: sound })).body.text === 'turn on the light',
    'the next',
  );
  await until(() => readdirSync(folder).length === 0, 'nothing left');
});

it('who goes away frees the place', async ({ hub, audio, sound }) => {
  process.kill(audio.pid!, 'SIGSTOP');
  const gone = new AbortController();
  const asked = Array.from({ length: 3 }, () =>
    fetch(hub.base + path, {
      method: 'POST',
      headers: { 'x-service-token': hub.token() },
      body: sound as never,
      signal: gone.signal,
    }).catch(() => {}),
  );
  await until(async () => (await hub.ask('GET', '/api/status')).status === 200, 'the API meanwhile');
  gone.abort();
  await Promise.all(asked);
  process.kill(audio.pid!, 'SIGCONT');
  await until(async () => (await hub.ask('POST', path, { raw: sound })).status === 200, 'a place');
});

test.run();
