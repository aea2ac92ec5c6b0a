// The access point's life: wanted by setup, lent away while its one radio joins a network, started again when it falls.
import { IngleError } from '../protocol/errors.ts';
import { machine } from '../system/machine.ts';
import type { WifiReason } from './contract.ts';
import { type parseCidr, ssidBytes } from './credentials.ts';
import { softapTable } from './machine.ts';
import { noRadio, type Shared, softapRadio } from './ports.ts';
import type { Softap } from './softap.ts';

export interface Wanted {
  ssid: string;
  psk: string;
  net: ReturnType<typeof parseCidr>;
  /** Ends after this long without a client; 0 = never. */
  idleMs: number;
}

/** Falls in a row after which it is given up. */
const tries = 3;
/** One that held this long has earned new tries, milliseconds. */
const steady = 600_000;

export type Access = ReturnType<typeof createAccess>;

export interface AccessParts {
  runtime: string;
  country(): string;
  /** A look round, and the quietest channel then. */
  channel(radio: string): Promise<number>;
  /** The station leaves the radio they share. */
  makeRoom(): Promise<void>;
}

/** An access point that is up. */
interface Open {
  softap: Softap;
  radio: string;
  channel: number;
  sae: boolean;
  since: number;
}

/** Its functions run inside the queue of `s`, one at a time. */
export function createAccess(s: Shared, o: AccessParts) {
  const { radios, log, move } = s;
  const softap = machine({
    name: 'softap',
    table: softapTable,
    initial: 'off',
    log,
    onEnter: s.entered('softap'),
  });
  let wanted: Wanted | undefined;
  let open: Open | undefined;
  let before: { radio: string; channel: number } | undefined;
  let falls = 0;
  const openOn = opener(s, o);
  const clients = createClients((mac, here) => s.events.client(mac, here), {
    ms: () => (open && wanted?.idleMs) || 0,
    over: () => later(() => close('stop', 'idle')),
  });

  /** Work that nobody waits for. */
  function later(work: () => Promise<void>): void {
    s.queued(work).catch((e) => log.warn('the access point does not follow', { error: e }));
  }

  /** Ends the programs; the machine is moved by who calls. */
  async function down(): Promise<void> {
    clients.disarm();
    const was = open;
    open = undefined;
    await was?.softap.stop();
    clients.clear();
  }

  async function close(event: 'stop' | 'gone' | 'lend', why: WifiReason | ''): Promise<void> {
    if (event !== 'lend') wanted = undefined;
    await down();
    move(softap, event, why);
  }

  function giveUp(event: 'gone' | 'give_up', why: WifiReason): void {
    wanted = undefined;
    move(softap, event, why);
  }

  /** Brings the wanted access point up; the machine is in `starting`. `again`: a phone may be waiting for it. */
  async function bringUp(again = false): Promise<void> {
    const w = wanted;
    const radio = softapRadio(radios);
    if (!w) return;
    if (!radio) {
      giveUp('gone', 'no_radio');
      throw noRadio();
    }
    try {
      // Where it was, a phone finds it at once; to look round for a better place takes seconds.
      const known = again && before?.radio === radio ? before.channel : undefined;
      open = await openOn(radio, w, known, {
        client: clients.heard,
        fell: (which) => later(() => fell(which)),
      });
      before = { radio, channel: open.channel };
      move(softap, 'up');
      clients.arm();
    } catch (e) {
      if (!radios.list().includes(radio)) {
        giveUp('gone', 'no_radio');
        throw noRadio();
      }
      log.warn('the access point does not start', { error: e });
      giveUp('give_up', 'radio_failed');
      throw e;
    }
  }

  async function fell(which: Softap | undefined): Promise<void> {
    const was = open;
    if (!was || was.softap !== which) return;
    if (!radios.list().includes(was.radio)) return close('gone', 'no_radio');
    await down();
    move(softap, 'fell', 'crashed');
    falls = Date.now() - was.since > steady ? 1 : falls + 1;
    if (falls > tries) return giveUp('give_up', 'crashed');
    const again = async () => {
      if (softap.state === 'fallen' && move(softap, 'retry')) await bringUp(true).catch(() => {});
    };
    setTimeout(() => later(again), s.time.retry * falls);
  }

  return {
    get state() {
      return softap.state;
    },
    get wanted() {
      return wanted;
    },
    async start(w: Wanted): Promise<{ interface: string; sae: boolean }> {
      falls = 0;
      await down();
      wanted = w;
      move(softap, 'start');
      await bringUp();
      return { interface: open?.radio ?? '', sae: open?.sae ?? false };
    },
    /** From here on nothing brings it back, also what is under way. */
    unwant(): void {
      wanted = undefined;
    },
    close,
    /** Comes back after it was lent. */
    async resume(): Promise<void> {
      if (move(softap, 'resume')) await bringUp(true).catch(() => {});
    },
    /** Its radio, or the last of all, was pulled out. */
    async pulled(): Promise<void> {
      const lost = open ? !radios.list().includes(open.radio) : radios.list().length === 0;
      if (lost && softap.state !== 'off') await close('gone', 'no_radio');
    },
    describe: () => wanted && described(wanted, open, clients.size()),
    stop: () => softap.stop(),
  };
}

/** An access point as Status tells it. */
function described(wanted: Wanted, open: Open | undefined, clients: number) {
  return {
    ssid: wanted.ssid,
    address: wanted.net.address,
    interface: open?.radio ?? '',
    channel: open?.channel ?? 0,
    security: open?.sae ? 'wpa2+wpa3' : 'wpa2',
    clients,
    started_at: (open?.since ?? 0) / 1000,
  };
}

/** Opens access points. The one returned asks for a channel that is known already, or looks for the quietest. */
function opener({ radios, log }: Shared, o: AccessParts) {
  return async (
    radio: string,
    w: Wanted,
    known: number | undefined,
    on: { client(mac: string, here: boolean): void; fell(which: Softap | undefined): void },
  ): Promise<Open> => {
    await o.makeRoom();
    const can = await radios.abilities(radio);
    if (!can.ap) throw new IngleError('unavailable', 'This radio cannot be an access point.');
    const channel = known ?? (await o.channel(radio));
    const mine: { softap?: Softap } = {};
    mine.softap = await radios.openSoftap({
      ap: {
        ...{ interface: radio, ssid: ssidBytes(w.ssid), psk: w.psk, channel },
        ...{ country: o.country(), sae: can.sae },
      },
      ...{ net: w.net, runtime: o.runtime, log },
      onClient: on.client,
      onFell: () => on.fell(mine.softap),
    });
    return { softap: mine.softap, radio, channel, sae: can.sae, since: Date.now() };
  };
}

/** Who is on the access point. @param idle what happens after how long without anybody; 0 = never */
function createClients(told: (mac: string, here: boolean) => void, idle: { ms(): number; over(): void }) {
  const clients = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  function arm(): void {
    clearTimeout(timer);
    const ms = idle.ms();
    if (ms > 0 && clients.size === 0) timer = setTimeout(idle.over, ms);
  }
  function heard(mac: string, here: boolean): void {
    if (here === clients.has(mac)) return;
    if (here) clients.add(mac);
    else clients.delete(mac);
    told(mac, here);
    arm();
  }
  return {
    arm,
    heard,
    size: () => clients.size,
    disarm: () => clearTimeout(timer),
    /** The access point is gone, and so are they. */
    clear(): void {
      for (const mac of [...clients]) heard(mac, false);
    },
  };
}
