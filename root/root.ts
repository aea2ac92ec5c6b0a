// What the pieces of root share.

import {
  CODE_TRIES_PER_IP_MINUTE,
  CODE_TRIES_PER_SID,
  DEVICE_CODE_TTL,
} from '../firmware/protocol/limits.ts';
import type { Backlog } from './backlog.ts';
import type { RootConfig } from './config.ts';
import type { Guesses } from './guesses.ts';
import type { HubFiles } from './hub-files.ts';
import { type Limit, limit } from './limit.ts';
import type { Records } from './records/records.ts';
import type { Relay } from './relay.ts';
import type { Surge } from './surge.ts';
import type { Tokens } from './tokens.ts';

export interface Root {
  config: RootConfig;
  records: Records;
  tokens: Tokens;
  relay: Relay;
  backlog: Backlog;
  files: HubFiles;
  surge: Surge;
  guesses: Guesses;
  /** Work for new hubs while very many enrol. */
  enrolments: Surge;
  limits: Limits;
}

export type Limits = Record<
  | 'session'
  | 'enrol'
  | 'hub'
  | 'verify'
  | 'join'
  | 'webauthn'
  | 'socket'
  | 'connect'
  | 'page'
  | 'ticket'
  | 'file',
  Limit
>;

/**
 * Tries a minute and client address; `verify` as the design says, the others far above what people do. `join`: codes a
 * hub gets wrong in the life of one, as a sid may. `ticket`: pages an owner opens; `file`: files of one page.
 */
export function openLimits(now: () => number = Date.now): Limits {
  return {
    session: limit(240, 60, now),
    enrol: limit(60, 60, now),
    hub: limit(120, 60, now),
    verify: limit(CODE_TRIES_PER_IP_MINUTE, 60, now),
    join: limit(CODE_TRIES_PER_SID, DEVICE_CODE_TTL, now),
    webauthn: limit(240, 60, now),
    socket: limit(600, 60, now),
    connect: limit(600, 60, now),
    page: limit(600, 60, now),
    ticket: limit(60, 60, now),
    file: limit(240, 60, now),
  };
}
