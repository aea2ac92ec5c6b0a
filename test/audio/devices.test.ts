// pipewire-*.json is what pactl 16.1 said on PipeWire 0.3.65; pulseaudio-*.json is written in the format of pactl 16.1
// on PulseAudio with cards this lab does not have.
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compare } from '../../firmware/audio/device.ts';
import { concernsDevices, parseDevices, parsePlaying } from '../../firmware/audio/pactl.ts';
import { pairs, rank, scoreSink, scoreSource } from '../../firmware/audio/score.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';

const test = suite('devices');
const golden = (f: string) => readFileSync(new URL(`./golden/${f}`, import.meta.url), 'utf8');
const read = (server: string) =>
  parseDevices(golden(`${server}-sinks.json`), golden(`${server}-sources.json`));

for (const server of ['pipewire', 'pulseaudio'])
  test(`devices of ${server} are read as they are`, () => {
    assert.equal(read(server), JSON.parse(golden(`${server}-devices.json`)));
  });

test('whatever pactl says, the parser answers with devices or one clear error', () => {
  const odd = fc.array(
    fc.record(
      {
        name: fc.oneof(fc.string(), fc.integer()),
        volume: fc.jsonValue(),
        properties: fc.jsonValue(),
        ports: fc.jsonValue(),
        active_port: fc.jsonValue(),
        sample_specification: fc.jsonValue(),
        monitor_source: fc.jsonValue(),
      },
      { requiredKeys: [] },
    ),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        odd.map((o) => JSON.stringify(o)),
      ),
      (text) => {
        try {
          for (const d of parseDevices(text, text).sources) {
            assert.ok(Number.isFinite(d.volume) && d.rate > 0 && d.channels > 0);
          }
        } catch (e) {
          assert.instance(e, IngleError);
          assert.is((e as IngleError).code, 'unavailable');
        }
      },
    ),
    { numRuns: 2000 },
  );
});

test('what plays is told with its sink; what is paused, or of a sink that has gone, is not', () => {
  const sinks = JSON.stringify([
    { index: 44, name: 'speaker' },
    { index: 45, name: 'hdmi' },
  ]);
  const inputs = [
    { index: 1, sink: 44, corked: false, properties: { 'media.name': 'Rain', 'application.name': 'radio' } },
    { index: 2, sink: 45, properties: { 'application.name': 'ingle' } },
    { index: 3, sink: 44, corked: true, properties: { 'media.name': 'Paused' } },
    { index: 4, sink: 99, properties: { 'media.name': 'Gone' } },
    { index: 5, sink: 45, properties: null },
    null,
  ];
  assert.equal(parsePlaying(JSON.stringify(inputs), sinks), [
    { sink_id: 'speaker', name: 'Rain' },
    { sink_id: 'hdmi', name: 'ingle' },
    { sink_id: 'hdmi', name: '' },
  ]);
  const many = Array.from({ length: 100 }, () => inputs[0]);
  assert.is(parsePlaying(JSON.stringify(many), sinks).length, 32);
  assert.equal(parsePlaying('', sinks), []);
  assert.throws(() => parsePlaying('no', sinks), /does not answer/);
});

test('only events about devices cause a look', () => {
  assert.ok(concernsDevices("Event 'remove' on sink #46"));
  assert.ok(concernsDevices("Event 'new' on source #3"));
  assert.ok(concernsDevices("Event 'change' on card #0"));
  assert.not.ok(concernsDevices("Event 'new' on sink-input #9"));
  assert.not.ok(concernsDevices("Event 'change' on client #12"));
});

test('what came, went and changed is told by id', () => {
  const old = read('pulseaudio');
  const now = structuredClone(old);
  const gone = now.sinks.pop()!;
  now.sinks[0]!.muted = true;
  now.sources.push({ ...now.sources[1]!, id: 'new' });
  assert.equal(compare(old, now), { added: ['new'], removed: [gone.id], changed: [now.sinks[0]!.id] });
  assert.equal(compare(now, now), { added: [], removed: [], changed: [] });
});

const base = {
  id: 'x',
  name: 'x',
  muted: false,
  volume: 1,
  connected: true,
  monitor: false,
  rate: 48_000,
  channels: 2,
};
for (const [type, sink, source] of [
  ['builtin', 80, 80],
  ['bluetooth', 70, 70],
  ['usb', 60, 65],
  ['hdmi', 10, 10],
  ['loopback', 5, 5],
] as const)
  test(`${type} weighs ${sink} as output and ${source} as input`, () => {
    const silent = { ...base, type, muted: true };
    assert.is(scoreSink(silent, false), sink);
    assert.is(scoreSource(silent, false), source);
    assert.is(scoreSink({ ...base, type }, false), sink + 15);
    assert.is(scoreSink({ ...base, type, volume: 0.3 }, false), sink);
    assert.is(scoreSink({ ...base, type }, true), sink + 35);
    assert.is(scoreSink({ ...base, type, connected: false }, false), sink + 15 - 40);
    assert.is(scoreSource({ ...base, type, monitor: true }, false), source + 15 - 60);
  });

test('four pairs at most are tested, the best first, never a monitor or an unplugged device', () => {
  const devices = read('pulseaudio');
  const cached = [{ sink_id: devices.sinks[3]!.id, source_id: devices.sources[3]!.id }];
  const best = pairs(rank(devices, cached), cached);
  assert.is(best.length, 4);
  assert.ok(best.every((p) => p.sink.connected && !p.source.monitor));
  assert.is(best[0]!.sink.id, devices.sinks[0]!.id);
  for (let i = 1; i < best.length; i++) assert.ok(best[i - 1]!.score >= best[i]!.score);
  assert.is(pairs(rank({ sinks: [], sources: [] }, []), []).length, 0);
});

test.run();
