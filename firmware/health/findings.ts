// What `ingle doctor` makes of what it saw: one finding a check, with the words for it. Pure.
import { labelOf, unitOf } from '../system/units.ts';
import type { HealthText } from '../text/health.ts';
import type { SoftapState, StationState } from '../wifi/machine.ts';

/** `skip`: there is nothing to check here. */
export type Level = 'ok' | 'skip' | 'warn' | 'bad';

export const checkNames = [
  'units',
  'bus',
  'api',
  'root',
  'link',
  'clock',
  'disk',
  'slots',
  'update',
  'audio',
  'wifi',
  'bluetooth',
  'certificate',
  'root_tls',
  'stores',
  'label',
] as const;
export type CheckName = (typeof checkNames)[number];

export interface Finding {
  check: CheckName;
  level: Level;
  text: HealthText;
  values: Record<string, string | number>;
}

/** An answer, or why there is none. `undefined`: not part of this installation. */
export type Seen<T> = { value: T } | { why: string } | undefined;

/** A unit as systemd tells of it. */
export interface SystemUnit {
  name: string;
  failed: boolean;
  /** On its way up; false between two tries of a service that dies. */
  starting: boolean;
  /** Times it was started again by itself. */
  restarts: number;
}

/** Wi-Fi now; `ap` and `ssid` name the access point and the network, empty without one. */
export interface WifiSeen {
  radios: number;
  softap: SoftapState;
  ap: string;
  station: StationState;
  ssid: string;
}

/** What was looked at; every part may be missing. Times are Unix seconds. */
export interface Facts {
  units: Seen<SystemUnit[]>;
  /** A house of `npm start` that is still coming up. */
  houseStarting: boolean;
  /** Bus names that must be taken, those that are, and which skill has which. */
  bus: Seen<{ wanted: string[]; taken: string[]; skills: ReadonlyMap<string, string> }>;
  api: Seen<true> & { url?: string };
  root: Seen<{ ms: number; ours: boolean; at: number | null }> & { url?: string };
  link: Seen<{
    connected: boolean;
    enrolled: boolean;
    browsers: number;
    expires_at: number;
    last_error: string;
  }>;
  /** `synchronised` is null where nobody tells; `built` is when this version was made, 0 if not known. */
  clock: { now: number; synchronised: boolean | null; built: number };
  disk: Seen<{ free: number; total: number }> & { path?: string };
  slots: Seen<{ booted: string; states: Record<string, string> }>;
  update: Seen<{ version: string; state: string; failed: string }>;
  audio: Seen<{ sinks: number; sources: number; usableSinks: number; usableSources: number }>;
  wifi: Seen<WifiSeen>;
  bluetooth: Seen<string[]>;
  /** End of the certificate root shows; undefined without TLS. */
  rootTls: Seen<number>;
  stores: Seen<{ file: string; why: string; unread: boolean }[]>;
  storesCount: number;
  label: { serial: string; secrets: boolean | null; policy: 'required' | 'optional' | 'none' };
  /** What the device is said to have; without it a missing part is worth a look, not a fault. */
  hardware: { wifi: boolean; bluetooth: boolean; speaker: boolean; microphone: boolean };
}

const MB = 2 ** 20;
const days = (seconds: number) => Math.floor(seconds / 86_400);

/** All findings, in the order of `checkNames`. */
export function diagnose(f: Facts): Finding[] {
  return checkNames.map((check) => ({ check, ...(onItsWay(check, f) ?? checks[check](f)) }));
}

const missing = ({ wanted, taken }: { wanted: string[]; taken: string[] }) =>
  wanted.filter((n) => !taken.includes(n));

/** Bus names for a person: a skill's is that of its slot, which says nothing. */
const named = (names: string[], { skills }: { skills: ReadonlyMap<string, string> }) =>
  names.map((n) => (skills.has(n) ? labelOf({ unit: unitOf(n) ?? n, skill: skills.get(n)! }) : n)).join(', ');

/** The units whose silence a check tells of; empty where none is silent. */
function silent(check: CheckName, f: Facts): string[] {
  if (check === 'bus')
    return !f.bus ? [] : 'why' in f.bus ? ['dbus'] : missing(f.bus.value).map((n) => unitOf(n) ?? n);
  const parts: Partial<Record<CheckName, [string, Seen<unknown>]>> = {
    api: ['ingle-api', f.api],
    link: ['ingle-uplink', f.link],
    slots: ['rauc', f.slots],
    update: ['ingle-update', f.update],
    audio: ['ingle-audio', f.audio],
    wifi: ['ingle-wifi', f.wifi],
  };
  const [unit, part] = parts[check] ?? [];
  return unit && part && 'why' in part ? [unit] : [];
}

/** What does not answer because it is still starting is not at fault. */
function onItsWay(check: CheckName, f: Facts): Told | undefined {
  const units = silent(check, f);
  const root = check === 'root' && f.root && 'why' in f.root;
  if (f.houseStarting && (units.length > 0 || root)) return told('warn', 'house_starting');
  if (units.length === 0 || !f.units || 'why' in f.units) return undefined;
  const known = f.units.value;
  const coming = units.map((unit) => known.find((u) => u.name === `${unit}.service` && u.starting));
  if (!coming.every((u) => u !== undefined)) return undefined;
  const worn = coming.find((u) => u.restarts > 0);
  const values = { unit: (worn ?? coming[0]!).name.replace(/\.service$/, ''), count: worn?.restarts ?? 0 };
  return worn ? told('bad', 'starting_again', values) : told('warn', 'starting', { unit: values.unit });
}

/** The worst of some findings. */
export function worst(findings: readonly Finding[]): Level {
  const order: Level[] = ['skip', 'ok', 'warn', 'bad'];
  return findings.reduce<Level>(
    (level, now) => (order.indexOf(now.level) > order.indexOf(level) ? now.level : level),
    'ok',
  );
}

type Told = Omit<Finding, 'check'>;
const told = (level: Level, text: HealthText, values: Told['values'] = {}): Told => ({ level, text, values });
const absent = told('skip', 'absent');

const checks: Record<CheckName, (f: Facts) => Told> = {
  units({ units, bus }) {
    if (!units) return absent;
    if ('why' in units) return told('warn', 'units_unknown', { why: units.why });
    const failed = units.value.filter((u) => u.failed).map((u) => u.name);
    const skills = bus && 'value' in bus ? [...bus.value.skills] : [];
    const skillIn = (unit: string) => skills.find(([name]) => `${unitOf(name)}.service` === unit)?.[1] ?? '';
    const names = failed.map((unit) => labelOf({ unit, skill: skillIn(unit) })).join(', ');
    return failed.length > 0
      ? told('bad', 'units_failed', { names, first: failed[0]! })
      : told('ok', 'units_ok', { count: units.value.length });
  },
  bus({ bus }) {
    if (!bus) return absent;
    if ('why' in bus) return told('bad', 'bus_silent', { why: bus.why });
    const gone = missing(bus.value);
    return gone.length > 0
      ? told('bad', 'bus_missing', { names: named(gone, bus.value), unit: unitOf(gone[0]!) ?? gone[0]! })
      : told('ok', 'bus_ok', { names: named(bus.value.wanted, bus.value) });
  },
  api({ api }) {
    if (!api) return absent;
    const url = api.url ?? '';
    return 'why' in api ? told('bad', 'api_bad', { url, why: api.why }) : told('ok', 'api_ok', { url });
  },
  root({ root }) {
    if (!root) return absent;
    const url = root.url ?? '';
    if ('why' in root) return told('bad', 'root_bad', { url, why: root.why });
    return root.value.ours
      ? told('ok', 'root_ok', { url, ms: Math.round(root.value.ms) })
      : told('bad', 'root_portal', { url });
  },
  link({ link }) {
    if (!link) return absent;
    if ('why' in link) return told('bad', 'link_bad', { why: link.why });
    const { connected, enrolled, browsers, last_error } = link.value;
    if (connected) return told('ok', 'link_ok', { browsers });
    return enrolled ? told('bad', 'link_bad', { why: last_error || '-' }) : told('warn', 'link_new');
  },
  clock({ clock, root }) {
    const there = root && 'value' in root && root.value.ours ? root.value.at : null;
    const year = new Date(clock.now * 1000).getUTCFullYear();
    if (clock.now < clock.built - 86_400) return told('bad', 'clock_old', { year });
    const off = there === null ? 0 : Math.round(Math.abs(clock.now - there));
    if (off > 60) return told('bad', 'clock_skew', { s: off });
    return clock.synchronised === false ? told('warn', 'clock_unsynced') : told('ok', 'clock_ok', { s: off });
  },
  disk({ disk }) {
    if (!disk) return absent;
    const path = disk.path ?? '';
    if ('why' in disk) return told('warn', 'disk_unknown', { path, why: disk.why });
    const [free, total] = [Math.round(disk.value.free / MB), Math.round(disk.value.total / MB)];
    const values = { free, total, path };
    if (free < 32) return told('bad', 'disk_full', values);
    return free < 256 && free < total / 10 ? told('warn', 'disk_low', values) : told('ok', 'disk_ok', values);
  },
  slots({ slots }) {
    if (!slots) return absent;
    if ('why' in slots) return told('warn', 'slots_silent', { why: slots.why });
    const { booted, states } = slots.value;
    if (states[booted] === 'bad') return told('bad', 'slots_bad', { booted });
    const other = Object.entries(states).find(([name]) => name !== booted);
    return other && other[1] !== 'good'
      ? told('warn', 'slots_one', { booted, state: other[1] || 'empty' })
      : told('ok', 'slots_ok', { booted, good: Object.keys(states).join(', ') });
  },
  update({ update }) {
    if (!update) return absent;
    if ('why' in update) return told('warn', 'update_silent', { why: update.why });
    const { version, state, failed } = update.value;
    return failed
      ? told('warn', 'update_failed', { why: failed, version })
      : told('ok', 'update_ok', { version, state });
  },
  audio({ audio, hardware }) {
    if (!audio) return absent;
    if ('why' in audio) return told('bad', 'audio_silent', { why: audio.why });
    const a = audio.value;
    if (a.usableSinks === 0)
      return told(hardware.speaker ? 'bad' : 'warn', 'audio_none', { what: 'speaker' });
    if (a.usableSources === 0)
      return told(hardware.microphone ? 'bad' : 'warn', 'audio_none', { what: 'microphone' });
    return told('ok', 'audio_ok', {
      sinks: a.sinks,
      sources: a.sources,
      usable: `${a.usableSinks} + ${a.usableSources}`,
    });
  },
  wifi({ wifi, hardware }) {
    if (!wifi) return absent;
    if ('why' in wifi) return told('bad', 'wifi_silent', { why: wifi.why });
    const { radios, softap, ap, station, ssid } = wifi.value;
    if (radios === 0) return told(hardware.wifi ? 'bad' : 'warn', 'wifi_none');
    const values = { radios, ap, ssid };
    if (station === 'lost') return told('warn', 'wifi_lost', values);
    const open = softap === 'on';
    if (station === 'connected') return told('ok', open ? 'wifi_both' : 'wifi_joined', values);
    if (station !== 'off') return told('ok', 'wifi_joining', values);
    if (open) return told('ok', 'wifi_open', values);
    return told('ok', softap === 'off' ? 'wifi_idle' : 'wifi_opening', values);
  },
  bluetooth({ bluetooth, hardware }) {
    if (!bluetooth) return absent;
    const names = 'value' in bluetooth ? bluetooth.value : [];
    return names.length === 0
      ? told(hardware.bluetooth ? 'bad' : 'warn', 'bluetooth_none')
      : told('ok', 'bluetooth_ok', { names: names.join(', ') });
  },
  certificate({ link, clock }) {
    if (!link || 'why' in link || !link.value.enrolled) return absent;
    const left = days(link.value.expires_at - clock.now);
    if (left < 0) return told('bad', 'certificate_over', { days: -left });
    // It is renewed at two thirds of its 90 days; what is older than that waits for root.
    return told(left < 25 ? 'warn' : 'ok', left < 25 ? 'certificate_soon' : 'certificate_ok', { days: left });
  },
  root_tls({ rootTls, clock }) {
    if (!rootTls) return absent;
    if ('why' in rootTls) return told('bad', 'root_tls_bad', { why: rootTls.why });
    const left = days(rootTls.value - clock.now);
    if (left < 0) return told('bad', 'root_tls_bad', { why: `${left}` });
    return told(left < 7 ? 'warn' : 'ok', left < 7 ? 'root_tls_soon' : 'root_tls_ok', { days: left });
  },
  stores({ stores, storesCount }) {
    if (!stores) return absent;
    if ('why' in stores) return told('warn', 'stores_unread', { file: '', why: stores.why });
    const bad = stores.value.find((s) => !s.unread) ?? stores.value[0];
    if (!bad) return told('ok', 'stores_ok', { count: storesCount });
    const values = { file: bad.file, why: bad.why };
    return bad.unread ? told('warn', 'stores_unread', values) : told('bad', 'stores_bad', values);
  },
  label({ label }) {
    if (label.serial) return told('ok', 'label_ok', { serial: label.serial });
    if (label.secrets === false && label.policy === 'required') return told('bad', 'label_missing');
    return told('skip', 'label_none');
  },
};
