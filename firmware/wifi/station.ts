// The hub as a client of a network: joining one on order, and looking for those it knows.
import { machine } from '../system/machine.ts';
import type { Access } from './access.ts';
import type { WifiReason } from './contract.ts';
import { stationTable } from './machine.ts';
import type { Known, Networks } from './networks.ts';
import { noRadio, oneRadio, type Shared, stationRadio } from './ports.ts';
import type { Supplicant } from './supplicant.ts';

/** States of wpa_supplicant that show the network is there. */
const answers = new Set(
  'authenticating associating associated 4way_handshake group_handshake completed'.split(' '),
);
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export type Station = ReturnType<typeof createStation>;

/** Its functions run inside the queue of `s`, one at a time, but for `abort` and `supplicantState`. */
export function createStation(
  s: Shared,
  o: { supplicant: Supplicant; networks: Networks; access(): Access },
) {
  const { radios, log, move, time } = s;
  const station = machine({
    name: 'station',
    table: stationTable,
    initial: 'off',
    log,
    onEnter: s.entered('station'),
  });
  const attempt = createAttempt(time.comeback);
  let joined = '';
  let last: { ssid: string; ok: boolean; reason: string; at: number } | undefined;

  /** Leaves the joined network, or ends looking for one. */
  async function leave(why: WifiReason): Promise<void> {
    const radio = stationRadio(radios);
    joined = '';
    if (radio) await o.supplicant.release(radio);
    move(station, 'leave', why);
  }

  /** Takes up the network a process before this one left joined, or looks for those known from before. */
  async function rejoin(): Promise<void> {
    const radio = stationRadio(radios);
    // A radio that is, or is about to be, the access point's is not taken from it.
    if (!radio || station.state !== 'off' || (o.access().wanted && oneRadio(radios))) return;
    const known = await o.networks.all();
    if (known.length === 0) return;
    move(station, 'rejoin');
    const there = await o.supplicant.resume(radio);
    if (there !== '' && known.some((n) => n.ssid === there)) {
      joined = there;
      move(station, 'associated');
      return;
    }
    await o.supplicant.roam(radio, known).catch((e) => {
      log.warn('known networks are not looked for', { error: e });
      move(station, 'leave', 'radio_failed');
    });
  }

  async function join(n: Known, control: AbortController): Promise<WifiReason | ''> {
    const radio = stationRadio(radios);
    if (!radio) throw noRadio();
    move(station, 'connect');
    const giveBack = await borrow(s, o.access());
    let why: WifiReason | '' = 'radio_failed';
    try {
      why = await steps(s, o.supplicant, { radio, n, control }, (event) => {
        if (event === 'associated') joined = n.ssid;
        move(station, event);
      });
      if (why === '') await o.networks.keep(n);
    } finally {
      if (why !== '' && !radios.list().includes(radio)) why = 'no_radio';
      joined = why === '' ? n.ssid : '';
      if (why !== '') await o.supplicant.release(radio);
      const event = why === '' ? 'online' : why === 'no_radio' ? 'gone' : 'failed';
      move(station, event, why);
      last = { ssid: n.ssid, ok: why === '', reason: why, at: Date.now() / 1000 };
      await giveBack(why === '');
      if (why !== '') await rejoin();
    }
    return why;
  }

  return {
    get state() {
      return station.state;
    },
    get busy() {
      return attempt.isOn();
    },
    get joined() {
      return joined;
    },
    get last() {
      return last;
    },
    forgetLast(): void {
      last = undefined;
    },
    abort: attempt.abort,
    /** Joins once the queue is there; `busy` from now on. */
    join: (n: Known): Promise<WifiReason | ''> => attempt.run((mine) => s.queued(() => join(n, mine))),
    leave,
    rejoin,
    /** No radio is left. */
    gone(): void {
      joined = '';
      move(station, 'gone', 'no_radio');
    },
    /** wpa_supplicant's states once a network is joined or looked for. */
    async supplicantState(state: string): Promise<void> {
      if (attempt.isOn()) {
        // wpa_supplicant looks for it again; its loss ends the attempt when it stays away. One that sent the hub away
        // and answers again has not vanished.
        if (answers.has(state)) attempt.back();
        else if (['addressing', 'checking'].includes(station.state)) attempt.away();
      } else if (state === 'completed' && station.state === 'lost') {
        joined = await o.supplicant.current(stationRadio(radios) ?? '');
        move(station, 'associated');
      } else if (state === 'disconnected' && station.state === 'connected') {
        joined = '';
        move(station, 'lost', 'vanished');
      }
    },
    /** wpa_supplicant died: the bus starts it again with the next order. */
    async supplicantGone(): Promise<void> {
      if (attempt.isOn()) attempt.abort('radio_failed');
      else
        await s.queued(async () => {
          if (station.state === 'off') return;
          await leave('radio_failed');
          await rejoin();
        });
    },
    stop: () => station.stop(),
  };
}

/** An attempt to join, and how long its network may be away meanwhile, milliseconds. */
function createAttempt(comeback: number) {
  let attempt: AbortController | undefined;
  let away: NodeJS.Timeout | undefined;

  const abort = (why: WifiReason) => attempt?.abort(why);
  function back(): void {
    clearTimeout(away);
    away = undefined;
  }
  return {
    isOn: () => attempt !== undefined,
    abort,
    away(): void {
      away ??= setTimeout(abort, comeback, 'vanished' satisfies WifiReason);
    },
    back,
    /** It is on until `work` is over. */
    async run<T>(work: (control: AbortController) => Promise<T>): Promise<T> {
      attempt = new AbortController();
      try {
        return await work(attempt);
      } finally {
        attempt = undefined;
        back();
      }
    },
  };
}

/** The steps of joining, each told; answers '' or why it did not work. */
async function steps(
  { radios, time }: Shared,
  supplicant: Supplicant,
  { radio, n, control }: { radio: string; n: Known; control: AbortController },
  done: (step: 'associated' | 'addressed') => void,
): Promise<WifiReason | ''> {
  const { signal } = control;
  const over = (otherwise: WifiReason) => (signal.aborted ? (signal.reason as WifiReason) : otherwise);
  async function until(ms: number, ask: () => Promise<boolean>): Promise<boolean> {
    const end = Date.now() + ms;
    while (!signal.aborted) {
      if (await ask()) return true;
      if (Date.now() >= end) return false;
      await sleep(time.poll);
    }
    return false;
  }
  const timer = setTimeout(() => control.abort('timeout' satisfies WifiReason), time.associate);
  const verdict = await supplicant.join(radio, n, signal).finally(() => clearTimeout(timer));
  if (verdict === 'timeout') return 'not_found';
  if (verdict !== 'associated') return verdict;
  done('associated');
  if (!(await until(time.address, async () => (await radios.addresses(radio)).length > 0)))
    return over('no_address');
  done('addressed');
  if (!(await until(time.internet, () => radios.online()))) return over('no_internet');
  return '';
}

/**
 * Takes the one radio from the access point while a network is joined.
 * @returns gives it back: to nobody once a network is joined
 */
async function borrow({ radios, time }: Shared, access: Access): Promise<(joined: boolean) => Promise<void>> {
  if (!oneRadio(radios) || (access.state !== 'on' && access.state !== 'fallen')) return async () => {};
  await sleep(time.grace);
  await access.close('lend', '');
  return async (joined) => {
    // The result waits in Status for the phone that comes back.
    if (!joined && access.wanted) await access.resume();
    else await access.close('stop', 'stopped');
  };
}
