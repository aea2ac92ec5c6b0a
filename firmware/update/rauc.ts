// RAUC's D-Bus API (rauc.readthedocs.io, "D-Bus API"): de.pengutronix.rauc.Installer, as far as the hub uses it.
import { IngleError } from '../protocol/errors.ts';
import type { Bus } from '../system/bus.ts';
import { fromVariant } from '../system/contract.ts';
import type { BundleInfo } from './verdict.ts';

const path = '/';
const iface = 'de.pengutronix.rauc.Installer';

export interface Slot {
  /** RAUC's name, as `rootfs.0`. */
  name: string;
  /** The boot loader's name, as `a`. */
  bootname: string;
  booted: boolean;
  /** Whether the boot loader would start it. */
  good: boolean;
  /** Of the bundle that was installed there; empty where RAUC installed none. */
  version: string;
  /** Of that bundle's manifest; empty where RAUC does not tell. */
  hash: string;
  /** Whether what is there was written to its end. */
  whole: boolean;
}

export interface Rauc {
  /** Whether this machine has RAUC: it runs, or the bus can start it. */
  present(): Promise<boolean>;
  compatible(): Promise<string>;
  /** Bootable slots, the booted one first. */
  slots(): Promise<Slot[]>;
  /** Name of the slot that starts next. */
  primary(): Promise<string>;
  /** @throws IngleError `invalid_request` with RAUC's words when the bundle is not good */
  inspect(source: string): Promise<BundleInfo>;
  busy(): Promise<boolean>;
  /**
   * Installs, or with `source` undefined waits for the installation under way.
   * @throws IngleError `internal` with RAUC's words; `unavailable` when RAUC goes away meanwhile
   */
  install(source: string | undefined, progress: (percent: number, step: string) => void): Promise<void>;
  markActive(slot: string): Promise<void>;
}

/** What RAUC answers to a bundle can take a while: it reads it over the network. */
const SLOW_MS = 180_000;
/** Limit of every other call. D-Bus may have to start RAUC first, which takes half a minute on a slow, busy device. */
const START_MS = 90_000;
const BUSY_MS = 300;
const BUSY_TRIES = 6;

/** @param name RAUC's bus name; a bus of a checkout lets nobody own the real one */
export function rauc(bus: Bus, name = 'de.pengutronix.rauc'): Rauc {
  /** While RAUC installs it answers nothing but properties; right after it ended it may still say so for a moment. */
  async function call(member: string, signature = '', body: unknown[] = [], timeoutMs = START_MS) {
    for (let tries = 0; ; tries++)
      try {
        return await bus.call(name, path, iface, member, signature, body, timeoutMs);
      } catch (e) {
        if (!/already processing/i.test((e as Error).message)) throw e;
        if (tries >= BUSY_TRIES) throw new IngleError('conflict', 'RAUC is busy with an installation.');
        await new Promise((done) => setTimeout(done, BUSY_MS));
      }
  }
  async function property<T>(of: string): Promise<T> {
    const properties = 'org.freedesktop.DBus.Properties';
    const [v] = await bus.call(name, path, properties, 'Get', 'ss', [iface, of], START_MS);
    return fromVariant(v) as T;
  }

  async function slots(): Promise<Slot[]> {
    const [list] = await call('GetSlotStatus');
    return (list as [string, unknown][])
      .map(([slot, raw]) => {
        const s = fromVariant(raw) as Record<string, unknown>;
        return {
          name: slot,
          bootname: String(s['bootname'] ?? ''),
          booted: s['state'] === 'booted',
          good: s['boot-status'] === 'good',
          version: String(s['bundle.version'] ?? ''),
          hash: String(s['bundle.hash'] ?? ''),
          whole: (s['status'] ?? 'ok') === 'ok',
        };
      })
      .filter((s) => s.bootname !== '')
      .sort((a, b) => Number(b.booted) - Number(a.booted) || (a.name < b.name ? -1 : 1));
  }

  return {
    slots,
    async present() {
      if ((await bus.listNames()).includes(name)) return true;
      return (await bus.listActivatableNames()).includes(name);
    },
    compatible: () => property<string>('Compatible'),
    primary: async () => String((await call('GetPrimary'))[0]),
    async inspect(source) {
      try {
        const [raw] = await call('InspectBundle', 'sa{sv}', [source, {}], SLOW_MS);
        const info = fromVariant(raw) as { 'manifest-hash'?: string; update?: Record<string, string> };
        const { version = '', compatible = '' } = info.update ?? {};
        return { version, compatible, hash: info['manifest-hash'] ?? '' };
      } catch (e) {
        if (!(e instanceof IngleError)) throw e;
        if (e.code === 'unavailable' || e.code === 'timeout' || e.code === 'conflict') throw e;
        if (e.code !== 'not_supported') throw new IngleError('invalid_request', e.message);
      }
      // RAUC before 1.9 has the older method alone.
      const [compatible, version] = await call('Info', 's', [source], SLOW_MS).catch((e: IngleError) => {
        throw e.code === 'unavailable' || e.code === 'conflict'
          ? e
          : new IngleError('invalid_request', e.message);
      });
      return { version: String(version), compatible: String(compatible), hash: '' };
    },
    busy: async () => (await property<string>('Operation')) !== 'idle',
    async install(source, progress) {
      let settle: (e?: IngleError) => void = () => {};
      const over = new Promise<void>((resolve, reject) => {
        settle = (e) => (e ? reject(e) : resolve());
      });
      over.catch(() => {});
      const stops: (() => Promise<void>)[] = [];
      try {
        stops.push(
          await bus.match({ sender: name, path, interface: iface, member: 'Completed' }, (s) => {
            if (s.body[0] === 0) return settle();
            property<string>('LastError')
              .catch(() => '')
              .then((says) => settle(new IngleError('internal', says || `RAUC failed (${s.body[0]}).`)));
          }),
        );
        const changed = 'org.freedesktop.DBus.Properties';
        stops.push(
          await bus.match({ sender: name, path, interface: changed, member: 'PropertiesChanged' }, (s) => {
            const p = (fromVariant(s.body[1]) as { Progress?: [number, string, number] }).Progress;
            if (p) progress(p[0], p[1]);
          }),
        );
        let seen = false;
        stops.push(
          await bus.watchName(name, (owner) => {
            if (seen && !owner) settle(new IngleError('unavailable', 'RAUC went away.'));
            seen = seen || owner !== '';
          }),
        );
        if (source !== undefined) {
          await call('InstallBundle', 'sa{sv}', [source, {}]);
        } else if ((await property<string>('Operation')) === 'idle') {
          const says = await property<string>('LastError');
          settle(says ? new IngleError('internal', says) : undefined);
        }
        await over;
      } finally {
        for (const stop of stops) await stop().catch(() => {});
      }
    },
    async markActive(slot) {
      await call('Mark', 'ss', ['active', slot]);
    },
  };
}
