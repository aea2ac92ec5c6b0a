// A sound server of one's own: PipeWire, WirePlumber and pipewire-pulse on a private bus, without any card.
import { type ChildProcess, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toS16 } from '../../firmware/audio/pcm.ts';
import { connect } from '../../firmware/system/bus.ts';
import { must, run, start, stop } from '../../firmware/system/exec.ts';
import { privateBus } from '../lab/bus.ts';
import { tried, until } from '../lab/wait.ts';

const programs = ['pipewire', 'wireplumber', 'pipewire-pulse', 'pactl', 'pacat', 'pw-record', 'pw-link'];
/** Why the lab cannot run here, or ''. */
export const missing = programs.filter((p) => !existsSync(`/usr/bin/${p}`)).join(', ');

export type Lab = Awaited<ReturnType<typeof soundLab>>;

/** `service`: io.ingle.Audio1 is started by the bus at the first call, from sources, with these settings. */
export async function soundLab(o: { service?: Record<string, string> } = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'ingle-sound-'));
  const servicedir = join(dir, 'services');
  mkdirSync(servicedir);
  const bus = await privateBus({ servicedir });
  process.env['XDG_RUNTIME_DIR'] = dir;
  process.env['PULSE_SERVER'] = `unix:${dir}/pulse/native`;
  const env = { HOME: dir, DBUS_SESSION_BUS_ADDRESS: bus.address, XDG_STATE_HOME: dir, XDG_CONFIG_HOME: dir };
  const daemon = (program: string, args: string[] = []) =>
    realtime
      ? start('chrt', ['-f', '20', program, ...args], { env: env as never, stdio: 'ignore' })
      : start(program, args, { env: env as never, stdio: 'ignore' });
  // On the hub PipeWire and its clients run with real-time rights; without them a busy test machine makes it stutter.
  const realtime = spawnSync('chrt', ['-f', '20', 'true']).status === 0;
  if (o.service) {
    const settings = {
      ...o.service,
      INGLE_BUS_ADDRESS: bus.address,
      INGLE_DATA: join(dir, 'data'),
      INGLE_RUNTIME: dir,
      XDG_RUNTIME_DIR: dir,
      PULSE_SERVER: process.env['PULSE_SERVER']!,
    };
    const script = join(dir, 'ingle-audio.sh');
    const lines = Object.entries(settings).map(([k, v]) => `export ${k}='${v}'`);
    const main = `exec ${realtime ? 'chrt -f 10 ' : ''}'${process.execPath}' --import tsx services/audio/main.ts 2>>'${dir}/audio.log'`;
    writeFileSync(script, ['#!/bin/sh', ...lines, `cd '${process.cwd()}'`, main, ''].join('\n'), {
      mode: 0o755,
    });
    writeFileSync(
      join(servicedir, 'io.ingle.Audio1.service'),
      `[D-BUS Service]\nName=io.ingle.Audio1\nExec=${script}\n`,
    );
    await reloadBus(bus.address);
  }
  let daemons: ChildProcess[] = [];
  const rooms: ChildProcess[] = [];

  async function boot(): Promise<void> {
    daemons = [daemon('pipewire')];
    await until(
      tried(async () => existsSync(join(dir, 'pipewire-0'))),
      'pipewire',
    );
    daemons.push(daemon('wireplumber'), daemon('pipewire-pulse'));
    await until(
      tried(async () => (await run('pactl', ['info'])).code === 0),
      'pipewire-pulse',
    );
  }
  async function halt(): Promise<void> {
    await Promise.all(rooms.splice(0).map((r) => stop(r)));
    for (const d of daemons.reverse()) await stop(d);
  }
  const pactl = async (...args: string[]) => (await must('pactl', args)).toString().trim();
  const hasNode = (kind: 'sinks' | 'sources', id: string) =>
    until(
      tried(async () =>
        (await pactl('list', 'short', kind)).split('\n').some((l) => l.split('\t')[1] === id),
      ),
      `${kind} ${id}`,
    );

  await boot();
  return {
    dir,
    bus,
    pactl,
    hasNode,
    /** A sink without a card. */
    async sink(id: string) {
      const module = await pactl('load-module', 'module-null-sink', `sink_name=${id}`);
      await hasNode('sinks', id);
      return module;
    },
    /** A microphone that hears what is played into a sink; to PipeWire it is a source like any other. */
    async microphone(id: string, air: string) {
      const module = await pactl(
        'load-module',
        'module-remap-source',
        `master=${air}.monitor`,
        `source_name=${id}`,
      );
      await hasNode('sources', id);
      return module;
    },
    /** A speaker in a room: a sink whose sound goes through an impulse response (48 kHz) into `air`. */
    async room(speaker: string, air: string, response: Float64Array) {
      const wav = join(dir, `${speaker}.wav`);
      writeFileSync(wav, wavOf(response, 48_000));
      const conf = join(dir, `${speaker}.conf`);
      writeFileSync(conf, roomConfig(speaker, air, wav));
      const child = daemon('pipewire', ['-c', conf]);
      rooms.push(child);
      await hasNode('sinks', speaker);
      await until(
        tried(async () => {
          const links = (await must('pw-link', ['-l'])).toString();
          return links.includes(`${speaker}-out:`) && links.includes(`${air}:playback`);
        }),
        'the room',
      );
      return child;
    },
    boot,
    halt,
    async stop() {
      await halt();
      await bus.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function reloadBus(address: string): Promise<void> {
  const b = await connect(address);
  await b.call('org.freedesktop.DBus', '/org/freedesktop/DBus', 'org.freedesktop.DBus', 'ReloadConfig');
  b.close();
}

function roomConfig(speaker: string, air: string, wav: string): string {
  return `context.properties = { log.level = 0 }
context.spa-libs = { audio.convert.* = audioconvert/libspa-audioconvert support.* = support/libspa-support }
context.modules = [
  { name = libpipewire-module-protocol-native }
  { name = libpipewire-module-client-node }
  { name = libpipewire-module-adapter }
  { name = libpipewire-module-filter-chain
    args = {
      node.description = "${speaker}"
      filter.graph = {
        nodes = [ { type = builtin name = ir label = convolver
          config = { filename = "${wav}" channel = 0 gain = 1.0 } } ]
        inputs = [ "ir:In" ] outputs = [ "ir:Out" ]
      }
      capture.props = { node.name = "${speaker}" media.class = Audio/Sink audio.channels = 1 audio.position = [ MONO ] audio.rate = 48000 }
      playback.props = { node.name = "${speaker}-out" target.object = "${air}" node.target = "${air}" audio.channels = 1 audio.position = [ MONO ] }
    }
  }
]
`;
}

/** 16-bit mono WAV; impulse responses are scaled to stay below full scale by the caller. */
export function wavOf(x: Float64Array, rate: number): Uint8Array {
  const data = toS16(x);
  const out = Buffer.alloc(44 + data.length);
  out.write('RIFF', 0);
  out.writeUInt32LE(36 + data.length, 4);
  out.write('WAVEfmt ', 8);
  out.writeUInt32LE(16, 16);
  out.writeUInt16LE(1, 20);
  out.writeUInt16LE(1, 22);
  out.writeUInt32LE(rate, 24);
  out.writeUInt32LE(rate * 2, 28);
  out.writeUInt16LE(2, 32);
  out.writeUInt16LE(16, 34);
  out.write('data', 36);
  out.writeUInt32LE(data.length, 40);
  out.set(data, 44);
  return out;
}
