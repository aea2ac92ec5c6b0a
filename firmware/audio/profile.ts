// Kept pairs of speaker and microphone. One row per pair, written in one statement: no half-written profile can be.
import { openStore, type Row } from '../system/store.ts';
import type { Device } from './device.ts';
import type { Measurement } from './measure.ts';
import type { Pair } from './score.ts';

export interface Profile {
  sink_id: string;
  source_id: string;
  /** `<rate>/<channels>` */
  format_out: string;
  format_in: string;
  latency_ms: number;
  score: number;
  /** ISO 8601. */
  verified_at: string;
  proof: { corr: number; snr_db: number };
  verified: boolean;
}

/** Profiles that are kept. */
export const KEPT = 3;
/** A verified profile opens the fast path for so long (30 days), milliseconds. */
export const FRESH_MS = 30 * 86_400_000;

/** The profile of a pair; without an ok measurement it is not verified and proves nothing. */
export function profileOf(pair: Pair, m: Measurement | undefined, now: Date): Profile {
  const ok = m?.verdict === 'ok';
  const format = (d: Device) => `${d.rate}/${d.channels}`;
  return {
    sink_id: pair.sink.id,
    source_id: pair.source.id,
    format_out: format(pair.sink),
    format_in: format(pair.source),
    latency_ms: m?.latency_ms ?? 0,
    score: pair.score,
    verified_at: now.toISOString(),
    proof: { corr: m?.corr ?? 0, snr_db: m?.snr_db ?? 0 },
    verified: ok,
  };
}

/** Verified and younger than 30 days. A time to come (the clock was wrong) is not fresh. */
export function isFresh(p: Profile, now: Date): boolean {
  const age = now.getTime() - Date.parse(p.verified_at);
  return p.verified && age >= 0 && age < FRESH_MS;
}

export interface Profiles {
  save(p: Profile): Promise<void>;
  /** Newest first. */
  list(): Promise<Profile[]>;
  forget(): Promise<void>;
  close(): Promise<void>;
}

const schema = `CREATE TABLE profile (
  sink_id TEXT NOT NULL, source_id TEXT NOT NULL,
  format_out TEXT NOT NULL, format_in TEXT NOT NULL,
  latency_ms REAL NOT NULL, score REAL NOT NULL, verified_at TEXT NOT NULL,
  corr REAL NOT NULL, snr_db REAL NOT NULL, verified INTEGER NOT NULL CHECK (verified IN (0, 1)),
  seq INTEGER NOT NULL,
  PRIMARY KEY (sink_id, source_id))`;

export async function openProfiles(file: string): Promise<Profiles> {
  const store = await openStore(file, [schema]);
  return {
    async save(p) {
      await store.transaction(async (s) => {
        await s.run(
          `INSERT OR REPLACE INTO profile VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
           (SELECT coalesce(max(seq), 0) + 1 FROM profile))`,
          p.sink_id,
          p.source_id,
          p.format_out,
          p.format_in,
          p.latency_ms,
          p.score,
          p.verified_at,
          p.proof.corr,
          p.proof.snr_db,
          p.verified ? 1 : 0,
        );
        await s.run(
          'DELETE FROM profile WHERE seq NOT IN (SELECT seq FROM profile ORDER BY seq DESC LIMIT ?)',
          KEPT,
        );
      });
    },
    async list() {
      return (await store.all('SELECT * FROM profile ORDER BY seq DESC')).map(fromRow);
    },
    async forget() {
      await store.run('DELETE FROM profile');
    },
    close: () => store.close(),
  };
}

function fromRow(r: Row): Profile {
  return {
    sink_id: String(r['sink_id']),
    source_id: String(r['source_id']),
    format_out: String(r['format_out']),
    format_in: String(r['format_in']),
    latency_ms: Number(r['latency_ms']),
    score: Number(r['score']),
    verified_at: String(r['verified_at']),
    proof: { corr: Number(r['corr']), snr_db: Number(r['snr_db']) },
    verified: r['verified'] === 1,
  };
}
