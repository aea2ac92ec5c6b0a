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
  let attempt: AbortController | undefined;
  let away: NodeJS.Timeout | undefined;
  let joined = '';
  let last: { ssid: string; ok: boolean; reason: string; at: number } | undefined;

  function isBack(): void {
    clearTimeout(away);
    away = undefined;
  }

  /** Leaves the joined network, or ends looking for one. */
  async function leave(why: WifiReason): Promise<void> {
    const radio = stationRadio(radios);
    joined = '';
    if (radio) await o.supplicant.release(radio);
    move(station, 'leave', why);
  }

  async function until(ms: number, signal: AbortSignal, done: () => Promise<boolean>): Promise<boolean> {
    const end = Date.now() + ms;
    while (!signal.aborted) {
      if (await done()) return true;
      if (Date.now() >= end) return false;
      await sleep(time.poll);
    }
    return false;
  }

  /** The steps of joining; answers '' or why it did not work. */
  async function steps(radio: string, n: Known, control: AbortController): Promise<WifiReason | ''> {
    const { signal } = control;
    const over = (otherwise: WifiReason) => (signal.aborted ? (signal.reason as WifiReason) : otherwise);
    const timer = setTimeout(() => control.abort('timeout' satisfies WifiReason), time.associate);
    const verdict = await o.supplicant.join(radio, n, signal).finally(() => clearTimeout(timer));
    if (verdict === 'timeout') return 'not_found';
    if (verdict !== 'associated') return verdict;
    joined = n.ssid;
    move(station, 'associated');
    if (!(await until(time.address, signal, async () => (await radios.addresses(radio)).length > 0)))
      return over('no_address');
    move(station, 'addressed');
    if (!(await until(time.internet, signal, () => radios.online()))) return over('no_internet');
    return '';
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
    const access = o.access();
    const lent = oneRadio(radios) && (access.state === 'on' || access.state === 'fallen');
    move(station, 'connect');
    if (lent) {
      await sleep(time.grace);
      await access.close('lend', '');
    }
    let why: WifiReason | '' = 'radio_failed';
    try {
      why = await steps(radio, n, control);
      if (why === '') await o.networks.keep(n);
    } finally {
      if (why !== '' && !radios.list().includes(radio)) why = 'no_radio';
      joined = why === '' ? n.ssid : '';
      if (why !== '') await o.supplicant.release(radio);
      const event = why === '' ? 'online' : why === 'no_radio' ? 'gone' : 'failed';
      move(station, event, why);
      last = { ssid: n.ssid, ok: why === '', reason: why, at: Date.now() / 1000 };
      if (lent && why === '') await access.close('stop', 'stopped');
      // The result waits in Status for the phone that comes back.
      else if (lent && access.wanted) await access.resume();
      else if (lent) await access.close('stop', 'stopped');
      if (why !== '') await rejoin();
    }
    return why;
  }

  return {
    get state() {
      return station.state;
    },
    get busy() {
      return attempt !== undefined;
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
    abort(why: WifiReason): void {
      attempt?.abort(why);
    },
    /** Joins once the queue is there; `busy` from now on. */
    async join(n: Known): Promise<WifiReason | ''> {
      const mine = new AbortController();
      attempt = mine;
      try {
        return await s.queued(() => join(n, mine));
      } finally {
        attempt = undefined;
        isBack();
      }
    },
    leave,
    rejoin,
    /** No radio is left. */
    gone(): void {
      joined = '';
      move(station, 'gone', 'no_radio');
    },
    /** wpa_supplicant's states once a network is joined or looked for. */
    async supplicantState(state: string): Promise<void> {
      if (attempt) {
        const mine = attempt;
        // wpa_supplicant looks for it again; its loss ends the attempt when it stays away. One that sent the hub away
        // and answers again has not vanished.
        if (answers.has(state)) isBack();
        else if (['addressing', 'checking'].includes(station.state))
          away ??= setTimeout(() => mine.abort('vanished' satisfies WifiReason), time.comeback);
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
      if (attempt) attempt.abort('radio_failed' satisfies WifiReason);
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
