// A stand-in of RAUC's D-Bus service for faults real RAUC cannot be made to have: two slots in memory, bundles that are
// JSON files. What it offers is RAUC's own interface (de.pengutronix.rauc.Installer).
import { readFileSync } from 'node:fs';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { type Bus, connect, type Served } from '../../firmware/system/bus.ts';
import { contract, toDict, type Variant } from '../../firmware/system/contract.ts';

const installer = contract({
  name: 'de.pengutronix.rauc.Installer',
  bus: 'de.pengutronix.rauc',
  path: '/',
  doc: '',
  methods: {
    InstallBundle: { doc: '', in: { source: 's', args: 'a{sv}' }, out: {}, errors: [] },
    InspectBundle: { doc: '', in: { source: 's', args: 'a{sv}' }, out: { info: 'a{sv}' }, errors: [] },
    Mark: { doc: '', in: { state: 's', slot: 's' }, out: { slot_name: 's', message: 's' }, errors: [] },
    GetSlotStatus: { doc: '', in: {}, out: { status: 'a(sa{sv})' }, errors: [] },
    GetPrimary: { doc: '', in: {}, out: { primary: 's' }, errors: [] },
  },
  signals: { Completed: { doc: '', args: { result: 'i' } } },
  properties: {
    Operation: { doc: '', type: 's' },
    LastError: { doc: '', type: 's' },
    Progress: { doc: '', type: '(isi)' },
    Compatible: { doc: '', type: 's' },
    BootSlot: { doc: '', type: 's' },
  },
});

export interface FakeBundle {
  version: string;
  compatible?: string;
  /** Not signed by the maker. */
  stranger?: boolean;
}
export const bundleText = (b: FakeBundle) => JSON.stringify({ compatible: 'generic', stranger: false, ...b });

interface FakeSlot {
  version: string;
  good: boolean;
  status: 'ok' | 'pending' | '';
  /** Of the manifest. */
  hash?: string;
}

export interface Machine {
  booted: 'a' | 'b';
  primary: 'a' | 'b';
  slots: { a: FakeSlot; b: FakeSlot };
  installs: string[];
  /** What the next installations do, first to last; default `fine`. `hang` waits for `finish`. */
  faults: ('fine' | 'fail' | 'hang' | 'die' | 'refuse')[];
}

export const freshMachine = (): Machine => ({
  booted: 'a',
  primary: 'a',
  slots: { a: { version: '', good: true, status: 'ok' }, b: { version: '', good: false, status: '' } },
  installs: [],
  faults: [],
});

export type FakeRauc = Awaited<ReturnType<typeof fakeRauc>>;
const name = { a: 'rootfs.0', b: 'rootfs.1' } as const;

/** Serves the machine on a bus until `stop`. */
export async function fakeRauc(address: string, m: Machine, busName: string = installer.bus) {
  let bus: Bus;
  let served: Served<typeof installer>;
  let go: () => void = () => {};
  const slotOf = (text: string): 'a' | 'b' =>
    text === 'booted'
      ? m.booted
      : text === 'other'
        ? m.booted === 'a'
          ? 'b'
          : 'a'
        : text === name.a
          ? 'a'
          : 'b';

  async function read(source: string): Promise<Required<FakeBundle>> {
    let text: string;
    if (source.includes('://')) text = await (await fetch(source)).text();
    else
      try {
        text = readFileSync(source, 'utf8');
      } catch {
        throw new Error(`failed to open bundle: Failed to open file “${source}”: No such file or directory`);
      }
    let b: Required<FakeBundle>;
    try {
      b = JSON.parse(text) as Required<FakeBundle>;
    } catch {
      throw new Error('Invalid identifier. Did you pass a valid RAUC bundle?');
    }
    if (b.stranger)
      throw new Error('signature verification failed: Verify error: unable to get local issuer certificate');
    return b;
  }
  let installing = false;
  let closed = false;
  function stop(): void {
    if (closed) return;
    closed = true;
    installing = false;
    bus.close();
  }
  /** As RAUC's service does: while it installs it answers properties alone. */
  const free = () => {
    if (installing) throw new IngleError('internal', 'already processing a different method');
  };
  const hashOf = (b: FakeBundle) => `hash-of-${b.version}`;

  async function install(source: string): Promise<void> {
    const target = m.booted === 'a' ? 'b' : 'a';
    const fault = m.faults.shift() ?? 'fine';
    const mine = bus;
    /** It was stopped, or is another by now. */
    const over = () => closed || bus !== mine;
    const end = (result: number, error = '') => {
      if (over()) return;
      installing = false;
      served.set({ Operation: 'idle', LastError: error });
      served.emit('Completed', { result });
    };
    try {
      const b = await read(source);
      if (over()) return;
      m.slots[target] = { version: m.slots[target].version, good: false, status: 'pending' };
      served.set({ Progress: [20, 'Checking bundle', 1] });
      if (fault === 'fail') return end(1, 'Installation error: Failed updating slot rootfs.1: write error');
      if (fault === 'die') {
        stop();
        return;
      }
      if (fault === 'hang') await new Promise<void>((resolve) => (go = resolve));
      if (over()) return;
      served.set({ Progress: [80, 'Copying image to rootfs', 3] });
      m.slots[target] = { version: b.version, good: true, status: 'ok', hash: hashOf(b) };
      m.primary = target;
      served.set({ Progress: [100, 'Installing done.', 1] });
      end(0);
    } catch (e) {
      end(1, (e as Error).message);
    }
  }

  const fault = (e: unknown): never => {
    throw new IngleError('internal', (e as Error).message);
  };
  async function begin(): Promise<void> {
    bus = await connect(address);
    closed = false;
    served = await bus.serve(
      installer,
      {
        async InstallBundle({ source, args }) {
          // RAUC 1.13 knows other keys, which the hub has no use for.
          const [unknown] = Object.keys(args as object);
          if (unknown) throw new IngleError('internal', `Unsupported key: ${unknown}`);
          m.installs.push(source);
          free();
          installing = true;
          served.set({ Operation: 'installing', LastError: '' });
          setTimeout(() => void install(source), 10);
          return {};
        },
        async InspectBundle({ source }) {
          free();
          const b = await read(source).catch(fault);
          return {
            info: {
              'manifest-hash': { signature: 's', value: hashOf(b) },
              update: { signature: 'a{sv}', value: toDict({ version: b.version, compatible: b.compatible }) },
            },
          };
        },
        Mark({ state, slot }) {
          free();
          const s = slotOf(slot);
          if (state === 'active') m.primary = s;
          else m.slots[s].good = state === 'good';
          return { slot_name: name[s], message: `marked ${name[s]} ${state}` };
        },
        GetSlotStatus: () => {
          free();
          return {
            status: (['a', 'b'] as const).map((s): [string, Record<string, Variant>] => [
              name[s],
              toDict({
                bootname: s,
                class: 'rootfs',
                state: s === m.booted ? 'booted' : 'inactive',
                'boot-status': m.slots[s].good ? 'good' : 'bad',
                ...(m.slots[s].version ? { 'bundle.version': m.slots[s].version } : {}),
                ...(m.slots[s].hash ? { 'bundle.hash': m.slots[s].hash } : {}),
                ...(m.slots[s].status ? { status: m.slots[s].status } : {}),
              }),
            ]),
          };
        },
        GetPrimary() {
          free();
          return { primary: name[m.primary] };
        },
      },
      {
        busName,
        properties: {
          Operation: 'idle',
          LastError: '',
          Progress: [0, '', 0],
          Compatible: 'generic',
          BootSlot: name[m.booted],
        },
      },
    );
  }
  await begin();
  return {
    /** Lets a hanging installation end. */
    finish: () => go(),
    /** Comes back after it died. */
    again: begin,
    stop,
  };
}

/** What a restart does to the machine: the primary slot boots, and fails if it is `broken`. */
export function bootMachine(m: Machine, broken = false): void {
  if (!broken) m.booted = m.primary;
  else if (m.primary !== m.booted) {
    m.slots[m.primary].good = false;
    m.primary = m.booted;
  }
}
