// Runs that this hub does for the one that leads its subnet. Each is a run of its own file: it goes on whether or not the
// other hub is reached. What is written down of it is sent there, from the entry which that hub has not, until it has all.
import { toIngleError } from '../protocol/errors.ts';
import type { Log } from '../system/log.ts';
import type { Clock } from './clock.ts';
import type { Runs } from './engine.ts';
import { type Errand, type Report, rowOf } from './errand.ts';
import type { Records, RunRow } from './records.ts';

/** What was written down is sent together with what follows at once, milliseconds. */
const GATHER = 50;
/** Between tries where the other hub is not reached, milliseconds. */
const PAUSE = { first: 1000, most: 30_000 };
/** Characters of entries in one report; one entry is sent however long it is. */
const MOST_CHARS = 40_000;
/** Reports on end, when a call is to come to its end. */
const MOST_ROUNDS = 200;

export interface Answer {
  /** The hub that leads. */
  via: string;
  runs: Errand[];
  more: boolean;
}

export interface ErrandsTaken {
  /** Says what there is to say, and takes what there is to do. Never rejects. */
  sync(): Promise<void>;
  /** More of a run that is owed is in its journal. */
  wrote(row: RunRow): void;
  /** Something has not been said yet. */
  readonly isOwing: boolean;
  stop(): void;
}

export interface ErrandsOptions {
  records: Records;
  runs: Pick<Runs, 'adopt' | 'abandon' | 'order'>;
  clock: Clock;
  log: Log;
  /** Reports to the hub that leads. @throws IngleError `conflict`: this hub is no member */
  ask(report: Report): Promise<Answer>;
  /** All has been said. */
  rested?(): void;
}

export function openTaken(o: ErrandsOptions): ErrandsTaken {
  const { clock, log } = o;
  /** How many entries of each run the other hub has. */
  const has = new Map<string, number>();
  let refused: number[] = [];
  let going: Promise<void> | undefined;
  let again = false;
  let owing = false;
  let failures = 0;
  let stopped = false;
  let cancel = () => {};

  function later(ms: number): void {
    cancel();
    cancel = clock.after(ms, () => void sync());
  }

  async function report(): Promise<Report> {
    const owed = await o.records.owed();
    let chars = 0;
    const runs: Report['runs'] = [];
    for (const { run_id } of owed) {
      const from = has.get(run_id);
      const rows: Report['runs'][number]['rows'] = [];
      const isFull = from === undefined || chars > MOST_CHARS;
      for (const row of isFull ? [] : (await o.records.journal(run_id)).slice(from)) {
        const sent = rowOf(row);
        chars += JSON.stringify(sent).length;
        if (rows.length > 0 && (chars > MOST_CHARS || rows.length >= 200)) break;
        rows.push(sent as (typeof rows)[number]);
      }
      runs.push({ run_id, from: from ?? 0, rows });
    }
    return { runs, refused };
  }

  /** @returns whether there is more to say at once */
  async function round(): Promise<boolean> {
    const said = await report();
    const { runs, more, via } = await o.ask(said);
    refused = refused.filter((id) => !said.refused.includes(id));
    for (const errand of runs) await take(errand, via);
    for (const run_id of has.keys()) if (!runs.some((r) => r.run_id === run_id)) has.delete(run_id);
    const owed = await o.records.owed();
    owing = owed.length > 0;
    const lengths = await Promise.all(owed.map(({ run_id }) => o.records.journal(run_id)));
    return more || refused.length > 0 || owed.some((row, i) => lengths[i]!.length !== has.get(row.run_id));
  }

  async function take({ run_id, n, over, wishes, given }: Errand, via: string): Promise<void> {
    if (over) {
      has.delete(run_id);
      await o.runs.abandon(run_id);
      return;
    }
    if (given) await o.runs.adopt(given, via);
    has.set(run_id, n);
    const known = wishes.length > 0 ? await o.records.journal(run_id) : [];
    for (const { id, what, why } of wishes) {
      if (known.some(({ entry }) => entry.kind === 'order' && entry.wish === id)) continue;
      await o.runs.order(run_id, what, why, id).catch((e) => {
        if (toIngleError(e).code === 'unavailable') throw e;
        refused.push(id);
      });
    }
  }

  async function rounds(): Promise<void> {
    try {
      for (let i = 0; i < MOST_ROUNDS && !stopped; i++)
        if (!(await round()) && !again) break;
        else again = false;
      failures = 0;
    } catch (cause) {
      if (stopped) return;
      const { code } = toIngleError(cause);
      if (code === 'conflict') {
        // It has left the subnet, or was let go: nobody waits for what it did.
        for (const { run_id } of await o.records.owed()) await o.runs.abandon(run_id);
        owing = false;
        return;
      }
      owing = true;
      log.info('the hub that leads the subnet is not told yet', { cause: cause as Error });
      later(Math.min(PAUSE.most, PAUSE.first * 2 ** failures++));
    }
  }

  function sync(): Promise<void> {
    if (stopped) return Promise.resolve();
    again = going !== undefined;
    cancel();
    going ??= rounds()
      .catch((cause) => {
        log.error('errands cannot be read', { cause: cause as Error });
        if (!stopped) later(PAUSE.most);
      })
      .finally(() => {
        going = undefined;
        o.rested?.();
      });
    return going;
  }

  return {
    sync,
    wrote(row) {
      owing = true;
      if (row.owed !== null && !stopped) later(GATHER);
    },
    get isOwing() {
      return owing || going !== undefined;
    },
    stop() {
      stopped = true;
      cancel();
    },
  };
}
