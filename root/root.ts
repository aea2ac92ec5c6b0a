// What the pieces of root share.

import {
  CODE_TRIES_PER_IP_MINUTE,
  CODE_TRIES_PER_SID,
  DEVICE_CODE_TTL,
} from '../firmware/protocol/limits.ts';
import type { Backlog } from './backlog.ts';
import type { Cluster } from './cluster/cluster.ts';
import type { RootConfig } from './config.ts';
import type { Guesses } from './guesses.ts';
import type { Health } from './health.ts';
import type { HubFiles } from './hub-files.ts';
import { addressLimit, type Limit, limit } from './limit.ts';
import type { Observer } from './observe.ts';
import type { Records } from './records/records.ts';
import type { Relay } from './relay.ts';
import type { Surge } from './surge.ts';
import type { Tokens } from './tokens.ts';
import type { Ways } from './ways.ts';

export interface Root {
  config: RootConfig;
  records: Records;
  tokens: Tokens;
  /** What is at home in this process. */
  relay: Relay;
  ways: Ways;
  /** Where there are several processes. */
  cluster: Cluster | undefined;
  backlog: Backlog;
  files: HubFiles;
  surge: Surge;
  guesses: Guesses;
  /** Work for new hubs while very many enrol. */
  enrolments: Surge;
  limits: Limits;
  health: Health;
  observer: Observer;
}

export type Limits = Record<
  | 'session'
  | 'enrol'
  | 'hub'
  | 'verify'
  | 'join'
  | 'command'
  | 'webauthn'
  | 'socket'
  | 'connect'
  | 'page'
  | 'ticket'
  | 'file'
  | 'sid'
  | 'proof',
  Limit
>;

/**
 * Tries a minute and client address, and of its network (`addressLimit`); `verify` as the design says, the others far
 * above what people do. Others count somebody whose papers are good, wherever it calls from. `join`: codes a hub gets
 * wrong in the life of one, as a sid or an owner may; `command`: command lines that begin to ask. `ticket`: pages an
 * owner opens; `file`: files of one page; `sid`: requests of one; `proof`: proofs of one hub, each of which is kept until
 * it is over.
 */
export function openLimits(now: () => number = Date.now): Limits {
  return {
    session: addressLimit(240, 60, now),
    enrol: addressLimit(60, 60, now),
    hub: addressLimit(120, 60, now),
    verify: addressLimit(CODE_TRIES_PER_IP_MINUTE, 60, now),
    join: limit(CODE_TRIES_PER_SID, DEVICE_CODE_TTL, now),
    command: addressLimit(10, 60, now),
    webauthn: addressLimit(240, 60, now),
    socket: addressLimit(600, 60, now),
    connect: addressLimit(600, 60, now),
    page: addressLimit(600, 60, now),
    ticket: limit(60, 60, now),
    file: limit(240, 60, now),
    sid: limit(600, 60, now),
    proof: limit(600, 60, now),
  };
}

/**
 * Of these, what several processes count together: whoever may come to any of them would otherwise get as many times as
 * much. What is left bounds the work of one process.
 */
export const COUNTED_TOGETHER = [
  ...(['session', 'enrol', 'hub', 'verify', 'join', 'command', 'webauthn', 'ticket'] as const),
] as const;
