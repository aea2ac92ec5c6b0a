// Reads what `pactl --format=json list` says, of PipeWire and PulseAudio alike. Pure.
import { IngleError } from '../protocol/errors.ts';
import type { Device, Devices, DeviceType, Sink } from './device.ts';

interface Port {
  name?: string;
  type?: string;
  availability?: string;
}
interface Entry {
  name?: unknown;
  description?: unknown;
  mute?: unknown;
  state?: unknown;
  volume?: Record<string, { value_percent?: string }>;
  sample_specification?: unknown;
  monitor_source?: unknown;
  properties?: Record<string, string>;
  active_port?: unknown;
  ports?: Port[];
  driver?: unknown;
}

/**
 * Parses the output of `pactl --format=json list sinks` and `... list sources`.
 * @throws IngleError `unavailable` when it is not a JSON list: the server has gone, or a locale broke its numbers.
 */
export function parseDevices(sinks: string, sources: string): Devices {
  return {
    sinks: entries(sinks)
      .map((e): Sink => ({ ...device(e, false), monitor_id: text(e.monitor_source) }))
      .filter(real),
    sources: entries(sources)
      .map((e) => device(e, true))
      .filter(real),
  };
}

/** Streams that are told; more than a hub has ever played at once. */
const MAX_STREAMS = 32;

/**
 * What plays, of `pactl --format=json list sink-inputs` and `... list sinks`: on which sink, under which name.
 * @throws IngleError `unavailable` as `parseDevices`
 */
export function parsePlaying(inputs: string, sinks: string): { sink_id: string; name: string }[] {
  const ids = new Map(objects(sinks).map((e) => [e['index'], text(e['name'])]));
  return objects(inputs)
    .filter((e) => e['corked'] !== true)
    .flatMap((e) => {
      const sink_id = ids.get(e['sink']);
      const props = (Object(e['properties']) ?? {}) as Record<string, unknown>;
      const name = text(props['media.name']) || text(props['application.name']);
      return sink_id ? [{ sink_id, name: name.slice(0, 100) }] : [];
    })
    .slice(0, MAX_STREAMS);
}

function objects(json: string): Record<string, unknown>[] {
  let list: unknown;
  try {
    list = JSON.parse(json.trim() === '' ? '[]' : json);
  } catch {
    throw new IngleError('unavailable', 'The sound server does not answer with a device list.');
  }
  if (!Array.isArray(list))
    throw new IngleError('unavailable', 'The sound server does not answer with a device list.');
  return list.filter((e) => e !== null && typeof e === 'object');
}

const entries = (json: string): Entry[] =>
  objects(json).filter((e): e is Entry & Record<string, unknown> => typeof e['name'] === 'string');

/** A sound server without any card offers a dummy so that programs do not stop; it is no device. */
function real(d: Device): boolean {
  return !/^auto_null/.test(d.id);
}

function device(e: Entry, source: boolean): Device {
  const props = e.properties !== null && typeof e.properties === 'object' ? e.properties : {};
  const id = text(e.name);
  const monitor = source && isMonitor(e, id, props);
  const spec = /(\d+)ch\s+(\d+)Hz/.exec(text(e.sample_specification));
  return {
    id,
    name: text(e.description) || id,
    type: monitor ? 'loopback' : typeOf(e, id, props),
    muted: e.mute === true,
    volume: volume(e.volume),
    connected: connected(e),
    monitor,
    channels: Number(spec?.[1] ?? 1) || 1,
    rate: Number(spec?.[2] ?? 48_000) || 48_000,
  };
}

function isMonitor(e: Entry, id: string, props: Record<string, string>): boolean {
  return (
    text(e.monitor_source) !== '' ||
    props['device.class'] === 'monitor' ||
    id.endsWith('.monitor') ||
    props['stream.monitor'] === 'true' ||
    /stereo.?mix|what u hear|loopback/i.test(`${text(e.description)} ${props['alsa.card_name'] ?? ''}`)
  );
}

function typeOf(e: Entry, id: string, props: Record<string, string>): DeviceType {
  const port = activePort(e);
  const path = `${props['device.bus'] ?? ''} ${props['device.api'] ?? ''}`;
  if (/bluetooth|bluez/i.test(path) || id.startsWith('bluez')) return 'bluetooth';
  if (
    /hdmi|displayport/i.test(
      `${id} ${port?.type ?? ''} ${port?.name ?? ''} ${props['device.profile.name'] ?? ''}`,
    )
  )
    return 'hdmi';
  if (/usb/i.test(path) || /^alsa_(in|out)put\.usb/.test(id)) return 'usb';
  if (/alsa/i.test(path) || id.startsWith('alsa')) return 'builtin';
  return 'virtual';
}

function activePort(e: Entry): Port | undefined {
  return Array.isArray(e.ports) ? e.ports.find((p) => p?.name === e.active_port) : undefined;
}

/** "availability unknown" is what jacks without a sense pin say: they count as plugged in. */
function connected(e: Entry): boolean {
  const port = activePort(e);
  if (port) return port.availability !== 'not available';
  return (
    text(e.state) !== 'UNLINKED' && !(Array.isArray(e.ports) && e.ports.length > 0 && !text(e.active_port))
  );
}

function volume(v: Entry['volume']): number {
  if (v === null || typeof v !== 'object') return 1;
  const all = Object.values(v)
    .map((c) => Number.parseFloat(String(c?.value_percent ?? '')) / 100)
    .filter(Number.isFinite);
  return all.length > 0 ? Math.round(1000 * (all.reduce((a, b) => a + b, 0) / all.length)) / 1000 : 1;
}

function text(v: unknown): string {
  return typeof v === 'string' && v !== 'n/a' ? v : '';
}

/** Whether a line of `pactl subscribe` may change the device list. */
export function concernsDevices(line: string): boolean {
  return /on (sink|source|card|server)(?![\w-])/.test(line);
}
