// timeout: 400 s
// io.ingle.Audio1 as it runs on a hub, over a real PipeWire: rooms are convolvers of its filter chain.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { audio1 } from '../../firmware/audio/contract.ts';
import { fromS16, parseWav, toS16 } from '../../firmware/audio/pcm.ts';
import { type Bus, connect } from '../../firmware/system/bus.ts';
import type { Caller } from '../../firmware/system/contract.ts';
import { introspection } from '../../firmware/system/contract.ts';
import { must, start, stop } from '../../firmware/system/exec.ts';
import { tried, until } from '../lab/wait.ts';
import { type Lab, missing, soundLab } from './lab.ts';
import * as room from './room.ts';

const test = suite<{ lab: Lab; bus: Bus; audio: Caller<typeof audio1>; base: number }>('audio on PipeWire');
const speech = [
  '/usr/bin/espeak-ng',
  '/usr/bin/pocketsphinx_continuous',
  '/usr/share/pocketsphinx/model/en-us',
];
const mute = speech.filter((f) => !existsSync(f)).join(', ');
const it = missing ? test.skip : test;
const spoken = missing || mute ? test.skip : test;
if (missing) console.log(`\nSKIP no PipeWire here: ${missing}`);
else if (mute) console.log(`\nSKIP no speech here: ${mute}`);

/** An impulse response that begins `delay` samples late, at a level that does not clip. */
function late(response: Float64Array, delay: number): Float64Array {
  const power = Math.sqrt(response.reduce((a, v) => a + v * v, 0));
  const out = new Float64Array(delay + response.length);
  out.set(
    response.map((v) => (v * 0.12) / power),
    delay,
  );
  return out;
}
/** A machine under load may stutter; the service says so, and a person tries again. */
async function steady(audio: Caller<typeof audio1>, sink_id: string, source_id: string) {
  let m = await audio.Test({ sink_id, source_id });
  for (let i = 0; i < 4 && m.verdict === 'glitching'; i++) m = await audio.Test({ sink_id, source_id });
  return m;
}

const speakers = [1, 2, 3].map((n) => {
  const r = room.random([41, 42, 45][n - 1]!);
  const delay = Math.round(room.between(r, 0.01, n === 3 ? 0.6 : 0.15) * 48_000);
  return { id: `room${n}`, delay, response: room.impulseResponse(room.randomRoom(r), 48_000, r) };
});

test.before(async (c) => {
  if (missing) return;
  c.lab = await soundLab({ service: { INGLE_LOG: 'info', INGLE_IDLE_MS: '6000' } });
  await c.lab.sink('air');
  await c.lab.microphone('a-mic', 'air');
  await c.lab.room('dry', 'air', late(Float64Array.of(1), 4800));
  for (const s of speakers) await c.lab.room(s.id, 'air', late(s.response, s.delay));
  c.bus = await connect(c.lab.bus.address);
  const raw = c.bus.client(audio1);
  // Probes are slow, and so is this machine.
  c.audio = Object.fromEntries(
    Object.entries(raw).map(([k, f]) => [
      k,
      (a: never) => (f as (a: never, t: number) => unknown)(a, 180_000),
    ]),
  ) as unknown as Caller<typeof audio1>;
});
test.after(async (c) => {
  if (!c.lab) return;
  if (process.env['INGLE_LOG'] === 'debug') console.log(readFileSync(join(c.lab.dir, 'audio.log'), 'utf8'));
  c.bus.close();
  await c.lab.stop();
});

it('the bus starts the service, and what it shows is the contract, word for word', async ({ audio, bus }) => {
  const { sinks, sources } = await audio.Enumerate({});
  assert.ok(sinks.some((s) => s.id === 'air' && s.type === 'virtual' && s.usable));
  assert.ok(sources.some((s) => s.id === 'air.monitor' && s.type === 'loopback' && !s.usable));
  assert.ok(sources.some((s) => s.id === 'a-mic' && s.usable));
  const [xml] = await bus.call(audio1.bus, audio1.path, 'org.freedesktop.DBus.Introspectable', 'Introspect');
  assert.ok(String(xml).includes(introspection(audio1)));
});

it('a digital path is told as a loopback though it is 100 ms late and no monitor by its properties', async (c) => {
  const m = await steady(c.audio, 'dry', 'a-mic');
  assert.is(m.verdict, 'digital_loopback', JSON.stringify(m));
  // What the graph itself takes; the same for every room, since all are in the same graph.
  c.base = m.latency_ms - 100;
});

it('in each room the delay is right within half a millisecond, and the level is shown meanwhile', async (c) => {
  const levels: number[] = [];
  const off = await c.bus.onSignal(audio1, 'Level', (l) => levels.push(l.rms_db));
  for (const s of speakers) {
    const m = await steady(c.audio, s.id, 'a-mic');
    assert.is(m.verdict, 'ok', `${s.id} ${JSON.stringify(m)}`);
    const error = m.latency_ms - c.base - s.delay / 48;
    console.log(`\nFIGURE audio.pipewire.${s.id}.error_ms ${error.toFixed(3)}`);
    assert.ok(Math.abs(error) <= 0.5, `${s.id}: ${error} ms`);
    const kept = await c.audio.Metrics({ sink_id: s.id, source_id: 'a-mic' });
    assert.is(kept.latency_ms, m.latency_ms);
  }
  await off();
  assert.ok(levels.length > 10);
  assert.ok(Math.max(...levels) > -50 && Math.min(...levels) < -60);
});

it('a volume that is set is the one that is shown; nothing mutes, anything unmutes', async ({ audio }) => {
  const air = async () => (await audio.Enumerate({})).sinks.find((s) => s.id === 'air')!;
  const before = (await air()).volume;
  await audio.SetVolume({ sink_id: 'air', volume: 0.25 });
  assert.equal([(await air()).volume, (await air()).muted], [0.25, false]);
  await audio.SetVolume({ sink_id: 'air', volume: 0 });
  assert.is((await air()).muted, true);
  await audio.SetVolume({ sink_id: 'air', volume: before });
  assert.equal([(await air()).volume, (await air()).muted], [before, false]);
  for (const volume of [-0.1, 1.01, 1e9])
    await audio.SetVolume({ sink_id: 'air', volume }).then(
      () => assert.unreachable(`${volume}`),
      (e) => assert.is(e.code, 'invalid_request'),
    );
});

it('what plays is told while it plays, with its sink', async ({ audio }) => {
  // The rooms of the lab play all the time what is played in them.
  const streams = async () => (await audio.Playing({})).streams;
  const rooms = (await streams()).length;
  const more = async () => (await streams()).length > rooms;
  const before = (await streams()).filter((s) => s.sink_id === 'dry').length;
  const spec = { from_hz: 400, to_hz: 400, duration_ms: 5000, level_db: -40 };
  let isOver = false;
  const tone = audio.PlayTone({ sink_id: 'dry', chirp_spec: spec }).finally(() => {
    isOver = true;
  });
  await until(async () => {
    assert.not.ok(isOver, 'it was not told while it played');
    return more();
  }, 'what plays');
  assert.is((await streams()).filter((s) => s.sink_id === 'dry').length, before + 1);
  await tone;
  await until(async () => !(await more()), 'its end');
});

it("a sink's own monitor is told as a loopback", async ({ audio }) => {
  const m = await steady(audio, 'room1', 'room1.monitor');
  assert.is(m.verdict, 'digital_loopback');
});

it('a silent microphone is told as too quiet', async ({ audio, lab }) => {
  await lab.sink('void');
  await lab.microphone('deaf', 'void');
  assert.is((await steady(audio, 'room1', 'deaf')).verdict, 'too_quiet');
});

it('noise without the probe is never OK', async ({ audio, lab }) => {
  await lab.sink('street');
  await lab.microphone('outside', 'street');
  const noise = toS16(room.noise('babble', 48_000, 480_000, room.random(9)).map((v) => v * 0.05));
  const playing = start(
    'pacat',
    ['--playback', '--raw', '--device=street', '--rate=48000', '--channels=1', '--format=s16le'],
    { stdio: ['pipe', 'ignore', 'ignore'] },
  );
  playing.stdin!.on('error', () => {});
  // Two minutes, as long as a busy machine may take.
  playing.stdin!.end(Buffer.concat(Array.from({ length: 12 }, () => noise)));
  const m = await steady(audio, 'room1', 'outside');
  await stop(playing);
  assert.ok(['noisy', 'no_estimate'].includes(m.verdict), m.verdict);
});

it('a microphone unplugged in mid-test is told as unplugged', async ({ audio, bus, lab }) => {
  const module = await lab.microphone('loose', 'air');
  const started = new Promise((resolve) => void bus.onSignal(audio1, 'Level', resolve));
  const answer = audio.Test({ sink_id: 'room1', source_id: 'loose' });
  await started;
  await lab.pactl('unload-module', module);
  assert.is((await answer).verdict, 'unplugged');
});

it('a speaker unplugged in mid-test is told as unplugged, by a signal too', async ({ audio, bus, lab }) => {
  const child = await lab.room('loose-speaker', 'air', late(Float64Array.of(1), 480));
  const removed: string[] = [];
  await bus.onSignal(audio1, 'DevicesChanged', (d) => removed.push(...d.removed));
  let levels = 0;
  const off = await bus.onSignal(audio1, 'Level', () => levels++);
  const answer = audio.Test({ sink_id: 'loose-speaker', source_id: 'a-mic' });
  await until(
    tried(async () => levels > 8),
    'the test to run',
  );
  await stop(child);
  assert.is((await answer).verdict, 'unplugged');
  await off();
  await until(
    tried(async () => removed.includes('loose-speaker')),
    'DevicesChanged',
  );
});

it('a second test while one runs is refused, and a cancel ends the first', async ({ audio, bus }) => {
  const started = new Promise((resolve) => void bus.onSignal(audio1, 'Level', resolve));
  const first = audio.Test({ sink_id: 'room1', source_id: 'a-mic' }).catch((e) => e);
  await started;
  assert.is((await audio.Test({ sink_id: 'room1', source_id: 'a-mic' }).catch((e) => e)).code, 'conflict');
  await audio.Cancel({});
  assert.is((await first).code, 'timeout');
});

it('bad arguments are refused by name and leave nothing behind', async ({ audio }) => {
  const code = (p: Promise<unknown>) =>
    p.then(
      () => 'ok',
      (e) => e.code,
    );
  assert.is(await code(audio.Test({ sink_id: 'nowhere', source_id: 'a-mic' })), 'not_found');
  assert.is(
    await code(
      audio.PlayTone({ sink_id: '', chirp_spec: { from_hz: 1, to_hz: 2, duration_ms: 3, level_db: 4 } }),
    ),
    'invalid_request',
  );
  assert.is(await code(audio.Record({ source_id: 'a-mic', duration_ms: 60_000 })), 'invalid_request');
  assert.is(await code(audio.VadListen({ source_id: 'a-mic', timeout_s: -1 })), 'invalid_request');
  assert.is(await code(audio.Say({ text: ' ', lang: 'en', slow: false, sink_id: '' })), 'invalid_request');
  assert.is(await code(audio.LoadProfile({})), 'not_found');
});

it('a tone is played and recorded', async ({ audio }) => {
  const recording = audio.Record({ source_id: 'a-mic', duration_ms: 3000 });
  await audio.Test({ sink_id: 'room1', source_id: '' }).then(
    () => assert.unreachable(),
    (e) => assert.is(e.code, 'conflict'),
  );
  const { rate, samples } = await recording;
  assert.is(rate, 16_000);
  assert.is(samples.length, 96_000);
  await audio.PlayTone({
    sink_id: 'room1',
    chirp_spec: { from_hz: 300, to_hz: 3000, duration_ms: 200, level_db: -12 },
  });
  assert.is((await steady(audio, 'room1', '')).verdict, 'played');
});

/** Somebody in the room who says a word again and again until stopped. */
async function person(word: string): Promise<() => Promise<void>> {
  const wav = parseWav(await must('espeak-ng', ['-v', 'en-us+f3', '-s', '140', '--stdout', word]));
  const voice = fromS16(wav.data, wav.channels)[0]!.map((v) => v * 0.5);
  let on = true;
  const talking = (async () => {
    while (on) {
      await must(
        'pacat',
        ['--playback', '--raw', '--device=air', `--rate=${wav.rate}`, '--channels=1', '--format=s16le'],
        { input: toS16(voice) },
      );
      await sleep(1800);
    }
  })();
  return async () => {
    on = false;
    await talking;
  };
}

spoken('the hub asks aloud, hears a yes and knows it from a no', async ({ audio }) => {
  for (const word of ['yes', 'no']) {
    const quiet = await person(word);
    let a = { heard: false, yes: false, phrase: '' };
    // The person does not wait for the question; a word may fall across its end.
    for (let i = 0; i < 3 && a.phrase === ''; i++)
      a = await audio.ConfirmYes({ sink_id: 'room1', source_id: 'a-mic', lang: 'en', timeout_s: 8 });
    await quiet();
    assert.ok(a.heard);
    assert.is(a.yes, word === 'yes');
    assert.ok(a.phrase.startsWith(word.slice(0, 2)), a.phrase);
  }
});

spoken('in silence nobody is heard', async ({ audio }) => {
  const a = await audio.VadListen({ source_id: 'deaf', timeout_s: 2 });
  assert.equal(a, { heard: false, phrase: '' });
});

spoken('a text is spoken through every output in turn', async ({ audio }) => {
  const { spoken } = await audio.Say({ text: 'A B C', lang: 'en', slow: true, sink_id: '*' });
  assert.ok(spoken.length >= 5, spoken.join());
  assert.equal((await audio.Say({ text: 'Привет', lang: 'ru', slow: false, sink_id: 'void' })).spoken, [
    'void',
  ]);
});

spoken(
  'the whole initialisation ends READY with a kept profile, told step by step',
  async ({ audio, bus, lab }) => {
    // A working pair first in the ranking, so that the probe has it early.
    await lab.room('a-speaker', 'air', late(speakers[0]!.response, speakers[0]!.delay));
    const states: string[] = [];
    const texts: string[] = [];
    const off1 = await bus.onSignal(audio1, 'StateChanged', (s) => states.push(s.state));
    const off2 = await bus.onSignal(audio1, 'Progress', (p) => texts.push(p.text));
    const quiet = await person('yes');
    const outcome = await audio.Probe({ lang: 'en', quick: false });
    await quiet();
    assert.is(outcome.state, 'READY', `${JSON.stringify(outcome)} ${states.join()} ${texts.join()}`);
    assert.is(states.at(-1), 'READY');
    assert.ok(states.includes('HUMAN_CONFIRM') && states.includes('SAVE_PROFILE'));
    assert.is(texts.at(-1), 'recordings_deleted');
    const { profile, fresh } = await audio.LoadProfile({});
    assert.ok(fresh);
    assert.is(profile.sink_id, outcome.sink_id);
    await off1();
    await off2();
  },
);

spoken('killed, it is started again by the next call and takes the fast path of its profile', async (c) => {
  const { audio, bus, lab } = c;
  const pid = Number(
    (
      await bus.call(
        'org.freedesktop.DBus',
        '/org/freedesktop/DBus',
        'org.freedesktop.DBus',
        'GetConnectionUnixProcessID',
        's',
        [audio1.bus],
      )
    )[0],
  );
  const running = audio.Test({ sink_id: 'room1', source_id: 'a-mic' }).catch((e) => e.code);
  await until(
    tried(async () => readdirSync(join(lab.dir, 'audio')).length > 0),
    'the recording',
  );
  process.kill(pid, 'SIGKILL');
  assert.is(await running, 'unavailable');
  const states: string[] = [];
  const off = await bus.onSignal(audio1, 'StateChanged', (s) => states.push(s.state));
  let outcome = await audio.Probe({ lang: 'en', quick: true });
  for (let i = 0; i < 3 && outcome.reason === 'glitching'; i++)
    outcome = await audio.Probe({ lang: 'en', quick: true });
  assert.is(outcome.state, 'READY', JSON.stringify(outcome));
  assert.not.ok(states.includes('HUMAN_CONFIRM'));
  assert.equal((await audio.ListProfiles({})).profiles.length, 1);
  await off();
});

it('no recording lies about', async ({ lab, audio }) => {
  await audio.Enumerate({});
  assert.equal(
    readdirSync(join(lab.dir, 'audio')).filter((f) => /\.(wav|raw|gram)$/.test(f)),
    [],
  );
});

it('a restart of the sound server is told and survived', async ({ audio, bus, lab }) => {
  const changes: string[] = [];
  await audio.Enumerate({});
  const off = await bus.onSignal(audio1, 'DevicesChanged', (d) => changes.push(...d.added, ...d.removed));
  await lab.halt();
  assert.is((await audio.Enumerate({}).catch((e) => e)).code, 'unavailable');
  await until(
    tried(async () => changes.includes('air')),
    'the devices to go',
  );
  await lab.boot();
  await lab.sink('again');
  await until(
    tried(async () => {
      await audio.ListProfiles({});
      return changes.includes('again');
    }),
    'the new sink',
  );
  assert.ok((await audio.Enumerate({})).sinks.some((s) => s.id === 'again'));
  await off();
});

it('left alone, the service goes', async ({ bus }) => {
  await until(
    tried(async () => !(await bus.listNames()).includes(audio1.bus)),
    'the idle exit',
    60,
  );
});

test.run();
