// Looks at everything `ingle doctor` judges: bus, systemd, network, disk, radios, sound, databases. Changes nothing.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import { audio1 } from '../../../firmware/audio/contract.ts';
import type { Facts, Seen, SystemUnit, WifiSeen } from '../../../firmware/health/findings.ts';
import { readSlots, skillNames } from '../../../firmware/skills/table.ts';
import type { Bus } from '../../../firmware/system/bus.ts';
import type { Config } from '../../../firmware/system/config.ts';
import { fromVariant, type Variant } from '../../../firmware/system/contract.ts';
import { peekStore } from '../../../firmware/system/store.ts';
import { update1 } from '../../../firmware/update/contract.ts';
import { uplink1 } from '../../../firmware/uplink/contract.ts';
import { wifi1 } from '../../../firmware/wifi/contract.ts';

export interface Place {
  config: Config;
  /** Undefined where no bus answers; `why` then says it. */
  bus: Bus | undefined;
  why: string;
  /** Folder of the hub's state. */
  data: string;
  /** Address of the local API. */
  api: string;
  /** A hub's own system, not a house of `npm start`. */
  isHub: boolean;
  /** A house of `npm start` whose processes are still coming up. */
  starting: boolean;
}

/** What sleeps starts first, and what it needs with it (the sound server), milliseconds. */
const wait = 60_000;

/** Why something did not answer, in short. */
function reason(cause: unknown): string {
  const e = cause as Error & { cause?: { code?: string; message?: string } };
  return (e.cause?.code ?? e.cause?.message ?? e.message ?? String(cause)).slice(0, 160);
}

async function seen<T>(work: () => Promise<T>): Promise<{ value: T } | { why: string }> {
  try {
    return { value: await work() };
  } catch (e) {
    return { why: reason(e) };
  }
}

/** Asks a service that is there, or that the bus can start; else there is nothing to ask. */
async function ask<T>(p: Place, name: string, startable: Set<string>, work: (bus: Bus) => Promise<T>) {
  const { bus } = p;
  return bus && startable.has(name) ? seen(() => work(bus)) : undefined;
}

/** Names that are taken or can be started. */
async function namesOf(bus: Bus): Promise<{ taken: string[]; startable: Set<string> }> {
  const [taken, startable] = await Promise.all([bus.listNames(), bus.listActivatableNames()]);
  return { taken, startable: new Set([...taken, ...startable]) };
}

/**
 * Looks at everything, each part by itself, so that one that hangs hides no other.
 * @param whole also reads every database through
 */
export async function look(p: Place, whole = true): Promise<Facts> {
  const names = p.bus ? await seen(() => namesOf(p.bus!)) : { why: p.why };
  const { taken, startable } =
    'value' in names ? names.value : { taken: [] as string[], startable: new Set<string>() };
  const skills = skillNames(readSlots(p.config).slots);
  const [api, root, link, disk, asleep, rootTls, stores, clock] = await Promise.all([
    seen(() => answers(`${p.api}/health/ready`)),
    seen(() => rootOf(p.config.root_url)),
    ask(p, uplink1.bus, startable, linkOf),
    seen(() => diskOf(p.data)),
    lookAtSleepers(p, startable),
    p.config.root_url.startsWith('https:') ? seen(() => certificateEnd(p.config.root_url)) : undefined,
    whole ? seen(() => storesOf(p.data)) : undefined,
    clockOf(p, startable),
  ]);
  // Last: by now it shows what the others have started, or what is still on its way.
  const units = await ask(p, 'org.freedesktop.systemd1', startable, unitsOf);
  return {
    units,
    houseStarting: p.starting,
    bus:
      'value' in names
        ? { value: { wanted: [uplink1.bus, ...(p.isHub ? [] : skills.keys())], taken, skills } }
        : { why: names.why },
    api: { ...api, url: p.api },
    root: { ...root, url: p.config.root_url },
    link,
    clock,
    disk: { ...disk, path: p.data },
    ...asleep,
    bluetooth: adapters(),
    rootTls,
    stores: stores && 'value' in stores ? { value: stores.value.bad } : stores,
    storesCount: stores && 'value' in stores ? stores.value.count : 0,
    label: {
      serial: p.config.serial,
      // Who may not read the secrets does not know whether there are any.
      secrets: p.config.label ? true : process.getuid?.() === 0 ? false : null,
      policy: p.config.label_policy,
    },
    hardware: p.config.hardware,
  };
}

/** What the bus starts to be asked: one after another, so that a slow hub is not given all of it to start at once. */
async function lookAtSleepers(p: Place, startable: Set<string>) {
  return {
    slots: await ask(p, 'de.pengutronix.rauc', startable, slotsOf),
    update: await ask(p, update1.bus, startable, updateOf),
    audio: await ask(p, audio1.bus, startable, audioOf),
    wifi: await ask(p, wifi1.bus, startable, wifiOf),
  };
}

async function unitsOf(bus: Bus): Promise<SystemUnit[]> {
  const [list] = (await bus.call(
    'org.freedesktop.systemd1',
    '/org/freedesktop/systemd1',
    'org.freedesktop.systemd1.Manager',
    'ListUnitsByPatterns',
    'asas',
    [[], ['ingle*', 'rauc.service']],
  )) as [[string, string, string, string, string, string, string][]];
  return Promise.all(
    list.map(async ([name, , , active, sub, , path]) => ({
      name,
      failed: active === 'failed',
      // Between two tries of a service that dies it is "activating" as well.
      starting: active === 'activating' && sub !== 'auto-restart',
      restarts: active === 'activating' ? await restartsOf(bus, path) : 0,
    })),
  );
}

/** Times systemd started a service again by itself; 0 for a unit that is no service. */
async function restartsOf(bus: Bus, path: string): Promise<number> {
  const [count] = await bus
    .call('org.freedesktop.systemd1', path, 'org.freedesktop.DBus.Properties', 'Get', 'ss', [
      'org.freedesktop.systemd1.Service',
      'NRestarts',
    ])
    .catch(() => []);
  return Number((count as Variant | undefined)?.value ?? 0);
}

async function answers(url: string): Promise<true> {
  const r = await fetch(url, { signal: AbortSignal.timeout(wait), redirect: 'error' });
  await r.body?.cancel();
  if (!r.ok) throw new Error(`HTTP ${r.status}`);
  return true;
}

async function rootOf(url: string): Promise<{ ms: number; ours: boolean; at: number | null }> {
  const began = performance.now();
  const r = await fetch(`${url}/health/live`, { signal: AbortSignal.timeout(10_000), redirect: 'manual' });
  const ms = performance.now() - began;
  await r.body?.cancel();
  const date = Date.parse(r.headers.get('date') ?? '');
  // A portal in between answers with a page of its own or sends elsewhere.
  const ours = r.status === 200 && !/text\/html/.test(r.headers.get('content-type') ?? '');
  return { ms, ours, at: Number.isNaN(date) ? null : date / 1000 };
}

async function linkOf(bus: Bus) {
  const s = await bus.client(uplink1).Status({}, wait);
  const { connected, browsers, last_error } = s;
  return { connected, browsers, last_error, enrolled: s.hub_id !== '', expires_at: Number(s.expires_at) };
}

async function diskOf(path: string): Promise<{ free: number; total: number }> {
  const s = await statfs(path);
  return { free: s.bavail * s.bsize, total: s.blocks * s.bsize };
}

/** RAUC's slots of class rootfs: which one runs, and what it thinks of each. */
async function slotsOf(bus: Bus): Promise<{ booted: string; states: Record<string, string> }> {
  const [list] = (await bus.call(
    'de.pengutronix.rauc',
    '/',
    'de.pengutronix.rauc.Installer',
    'GetSlotStatus',
    '',
    [],
    wait,
  )) as [[string, Record<string, Variant>][]];
  const states: Record<string, string> = {};
  let booted = '';
  for (const [, raw] of list) {
    const s = fromVariant(raw) as Record<string, string>;
    if (s['class'] !== 'rootfs') continue;
    const name = s['bootname'] ?? '';
    states[name] = s['boot-status'] ?? '';
    if (s['state'] === 'booted') booted = name;
  }
  return { booted, states };
}

async function updateOf(bus: Bus): Promise<{ version: string; state: string; failed: string }> {
  const s = await bus.client(update1).Status({}, wait);
  const { result } = fromVariant(s.detail) as { result?: { ok?: boolean; at?: number; text?: string } };
  const failed = result?.at && result.ok === false ? result.text || '-' : '';
  return { version: s.version, state: s.state, failed };
}

async function audioOf(bus: Bus) {
  const { sinks, sources } = await bus.client(audio1).Enumerate({}, wait);
  const usable = (list: typeof sinks) => list.filter((d) => d.usable).length;
  return {
    sinks: sinks.length,
    sources: sources.length,
    usableSinks: usable(sinks),
    usableSources: usable(sources),
  };
}

async function wifiOf(bus: Bus): Promise<WifiSeen> {
  const s = await bus.client(wifi1).Status({}, wait);
  const { softap, station } = s.detail;
  return {
    radios: s.radios,
    softap: s.softap as WifiSeen['softap'],
    ap: softap?.ssid ?? '',
    station: s.station as WifiSeen['station'],
    ssid: station?.ssid ?? '',
  };
}

/** Bluetooth adapters as the kernel lists them; without the folder it has no Bluetooth at all. */
export function adapters(folder = '/sys/class/bluetooth'): Seen<string[]> {
  try {
    return { value: readdirSync(folder).filter((name) => /^hci\d+$/.test(name)) };
  } catch {
    return { value: [] };
  }
}

/** Unix seconds at which the certificate a server shows ends. @throws when it is not valid now */
function certificateEnd(url: string): Promise<number> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = tlsConnect({ host: hostname, port: Number(port || 443), servername: hostname }, () => {
      resolve(Date.parse(socket.getPeerCertificate().valid_to) / 1000);
      socket.destroy();
    });
    socket.setTimeout(10_000, () => socket.destroy(new Error('ETIMEDOUT')));
    socket.on('error', reject);
  });
}

/** The databases below `data`, and what is wrong with which. */
export async function storesOf(
  data: string,
): Promise<{ count: number; bad: { file: string; why: string; unread: boolean }[] }> {
  const bad: { file: string; why: string; unread: boolean }[] = [];
  const files: string[] = [];
  for (const name of readdirSync(data))
    try {
      for (const f of readdirSync(join(data, name)))
        if (/\.(db|sqlite)$/.test(f)) files.push(join(data, name, f));
    } catch (e) {
      const { code } = e as NodeJS.ErrnoException;
      if (code === 'EACCES') bad.push({ file: name, why: code, unread: true });
    }
  for (const path of files) {
    // A copy may be torn by a write that its times do not show; damage shows each time.
    let found = await faultOf(path);
    for (let again = 0; found && again < 2; again++) found = await faultOf(path);
    if (found) bad.push({ file: relative(data, path), ...found });
  }
  return { count: files.length, bad };
}

/** What is wrong with one database. */
async function faultOf(path: string): Promise<{ why: string; unread: boolean } | undefined> {
  try {
    const [row] = await peekStore<{ quick_check: string }>(path);
    return row?.quick_check === 'ok' ? undefined : { why: row?.quick_check ?? '', unread: false };
  } catch (e) {
    const { code = '' } = e as NodeJS.ErrnoException;
    return { why: code || reason(e), unread: /CANTOPEN|PERM|ACCES|BUSY|READONLY|NOSPC/.test(code) };
  }
}

async function clockOf(p: Place, startable: Set<string>): Promise<Facts['clock']> {
  const synchronised = await ask(p, 'org.freedesktop.timedate1', startable, async (bus) => {
    const [v] = await bus.call(
      'org.freedesktop.timedate1',
      '/org/freedesktop/timedate1',
      'org.freedesktop.DBus.Properties',
      'Get',
      'ss',
      ['org.freedesktop.timedate1', 'NTPSynchronized'],
      wait,
    );
    return (v as Variant).value === true;
  });
  return {
    now: Date.now() / 1000,
    synchronised: synchronised && 'value' in synchronised ? synchronised.value : null,
    built: builtAt(),
  };
}

/** When this version was made: systemd's own measure, the time of /usr (0 where that says nothing). */
function builtAt(): number {
  try {
    readFileSync('/usr/share/ingle/device.json');
    return statSync('/usr/share/ingle/device.json').mtimeMs / 1000;
  } catch {
    return 0;
  }
}
