// The nodes of a cluster and the homes of its hubs, in Redis. Every step is one script, so it is atomic, and goes by
// Redis's clock. A hub's home is the node its key names, as long as Redis's grant to that node lasts.
import { connect } from 'node:net';
import { createClient } from '@redis/client';
import { IngleError } from '../../firmware/protocol/errors.ts';

/** A node whose grant lasts. */
export interface Member {
  /** Random, anew with each beginning. */
  id: string;
  /** Where the other nodes reach it: host:port. */
  peer: string;
  /** What the balancer calls it; '' where nobody is to be sent to it. */
  name: string;
}

export interface Registry {
  /**
   * Prolongs a node's grant, or begins it. With `hubs` it says which are at home in it, as Redis may have forgotten.
   * @returns the nodes there are, which of `hubs` have another home, which run of Redis says so (another one may have
   * forgotten what was said to the one before), and whether the grant was over: others may have taken hubs of this node
   * @throws IngleError `unavailable`
   */
  renew(
    node: Member,
    grant: number,
    hubs: readonly string[],
  ): Promise<{ nodes: Member[]; lost: string[]; run: string; lapsed: boolean }>;
  /**
   * Makes a node the home of a hub unless it has one.
   * @param run the run of Redis that the node knows
   * @returns the home it has then; null where the node's own grant is over, this is another run, or Redis's clock was set
   */
  take(hubId: string, node: Member, run: string): Promise<string | null>;
  /** The home of a hub. */
  homeOf(hubId: string): Promise<string | null>;
  /** Gives up a hub that is at home in the node. */
  release(hubId: string, node: Member): Promise<void>;
  /** Ends a node's grant: its hubs may be taken at once. */
  leave(node: Member): Promise<void>;
  /** Whether nothing listens at Redis's address: then it is gone for everybody. */
  isRefused(): Promise<boolean>;
  close(): void;
}

/** Redis has to answer within this, milliseconds. A renewal counts from when it was asked for, so it may come later. */
const ANSWER_MS = 300;
const RENEWED_MS = 2000;
/** A hub's key is kept for so long after its home has said it last, seconds. */
const KEPT = 7 * 86_400;
/** Hubs that are said in one script; so a long list does not keep Redis from others. */
export const PART = 500;

/**
 * Nodes renew several times a second. Where Redis heard of none for this long, or its clock went back, its clock was set,
 * or it was away: grants may look over that are not, so nothing is taken from a node until all have renewed, milliseconds.
 */
const GAP = 1500;
const CALM = 4000;

const NODES = 'ingle:nodes';
const PEERS = 'ingle:peers';
const CLOCK = 'ingle:clock';
const NAMES = 'ingle:names';
const hubKey = (hubId: string) => `ingle:hub:${hubId}`;

const NOW = "local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000)";
const LASTS = "local function lasts(id) return tonumber(redis.call('ZSCORE', KEYS[1], id) or '0') > now end";

/** Redis has forgotten nothing since: its process began, and somebody renewed there first (FLUSHALL ends that). */
const RUN =
  "local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)') .. ' ' .. (redis.call('HGET', KEYS[3], 'born') or '')";

const SEEN = "local seen = tonumber(redis.call('HGET', KEYS[3], 'seen') or '0')";

const scripts = {
  // KEYS: nodes, peers, clock, names, hubs...; ARGV: id, peer, grant, name
  renew: `${NOW} redis.call('HSETNX', KEYS[3], 'born', now) ${LASTS} ${RUN} ${SEEN}
    local lost, lapsed = {}, lasts(ARGV[1]) and 0 or 1
    if now - seen > ${GAP} or now < seen then redis.call('HSET', KEYS[3], 'set', now) end
    redis.call('HSET', KEYS[3], 'seen', now)
    redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
    redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
    redis.call('HSET', KEYS[4], ARGV[1], ARGV[4])
    for i = 5, #KEYS do
      local home = redis.call('GET', KEYS[i])
      if home and home ~= ARGV[1] and lasts(home) then lost[#lost + 1] = KEYS[i]
      else redis.call('SET', KEYS[i], ARGV[1], 'EX', ${KEPT}) end
    end
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], 0, now - 3600000)) do
      redis.call('ZREM', KEYS[1], id) redis.call('HDEL', KEYS[2], id) redis.call('HDEL', KEYS[4], id)
    end
    local nodes = {}
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], now + 1, '+inf')) do
      nodes[#nodes + 1] = id
      for i = 2, 4, 2 do nodes[#nodes + 1] = redis.call('HGET', KEYS[i], id) or '' end
    end
    return { nodes, lost, run, lapsed }`,
  // KEYS: nodes, hub, clock; ARGV: id, run
  take: `${NOW} ${LASTS} ${RUN} ${SEEN}
    local home = redis.call('GET', KEYS[2])
    if home and lasts(home) then return home end
    if not lasts(ARGV[1]) or run ~= ARGV[2] then return false end
    if home and home ~= ARGV[1] then
      local set = tonumber(redis.call('HGET', KEYS[3], 'set') or '0')
      if now - seen > ${GAP} or now < seen or now - set < ${CALM} then return false end
    end
    redis.call('SET', KEYS[2], ARGV[1], 'EX', ${KEPT})
    return ARGV[1]`,
  // KEYS: nodes, hub
  homeOf: `${NOW} ${LASTS}
    local home = redis.call('GET', KEYS[2])
    return home and lasts(home) and home or false`,
  // KEYS: hub; ARGV: id
  release: "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end return false",
  // KEYS: nodes, peers, names; ARGV: id
  leave:
    "redis.call('ZREM', KEYS[1], ARGV[1]) for i = 2, 3 do redis.call('HDEL', KEYS[i], ARGV[1]) end return false",
} as const;

const gone = () => new IngleError('unavailable', 'Redis does not answer. Try again in a moment.');

/** The connection to Redis, which comes back by itself when it breaks. */
function openLine(url: string) {
  let closed = false;
  /** Since when there is none that answers. */
  let away = Number.POSITIVE_INFINITY;
  function open() {
    away = performance.now();
    const mine = createClient({
      url,
      disableOfflineQueue: true,
      socket: { connectTimeout: ANSWER_MS, reconnectStrategy: () => 200, noDelay: true },
    });
    // Each call says it for itself; without a listener it would end the process.
    mine.on('error', () => {});
    mine.on('reconnecting', () => {
      away = Math.min(away, performance.now());
    });
    mine.on('ready', () => {
      // It may have been given up while it was being made.
      if (closed || mine !== client) mine.destroy();
      else away = Number.POSITIVE_INFINITY;
    });
    void mine.connect().catch(() => {});
    return mine;
  }
  let client = open();
  /** A renewal has had no answer. Where the other end has gone without a word, TCP itself would notice minutes later. */
  function anew(): void {
    if (closed) return;
    client.destroy();
    client = open();
  }
  return {
    client() {
      // Nor does a connection have to answer that is still being made.
      if (performance.now() - away > 2 * RENEWED_MS) anew();
      return client;
    },
    anew,
    close(): void {
      closed = true;
      client.destroy();
    },
  };
}

/** @param url redis://user:password@host:port/database */
export function openRegistry(url: string): Registry {
  const line = openLine(url);

  async function ask(name: keyof typeof scripts, keys: string[], values: string[] = []): Promise<unknown> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => {
          reject(gone());
          if (name === 'renew') line.anew();
        },
        name === 'renew' ? RENEWED_MS : ANSWER_MS,
      );
    });
    try {
      const answer = line.client().eval(scripts[name], { keys, arguments: values });
      // The one that comes too late is nobody's.
      answer.catch(() => {});
      return await Promise.race([answer, late]);
    } catch {
      throw gone();
    } finally {
      clearTimeout(timer);
    }
  }
  const idOrNull = (v: unknown) => (typeof v === 'string' ? v : null);
  return {
    async renew(node, grant, hubs) {
      const keys = [NODES, PEERS, CLOCK, NAMES, ...hubs.map(hubKey)];
      const said = (await ask('renew', keys, [node.id, node.peer, String(grant), node.name])) as [
        string[],
        string[],
        string,
        number,
      ];
      const nodes: Member[] = [];
      for (let i = 0; i + 2 < said[0].length; i += 3)
        nodes.push({ id: said[0][i]!, peer: said[0][i + 1]!, name: said[0][i + 2]! });
      const lost = said[1].map((key) => key.slice(hubKey('').length));
      return { nodes, lost, run: said[2], lapsed: said[3] === 1 };
    },
    take: async (hubId, node, run) =>
      idOrNull(await ask('take', [NODES, hubKey(hubId), CLOCK], [node.id, run])),
    homeOf: async (hubId) => idOrNull(await ask('homeOf', [NODES, hubKey(hubId)])),
    release: async (hubId, node) => void (await ask('release', [hubKey(hubId)], [node.id])),
    leave: async (node) => void (await ask('leave', [NODES, PEERS, NAMES], [node.id])),
    isRefused: () =>
      new Promise((resolve) => {
        const { hostname, port } = new URL(url);
        const socket = connect(Number(port || 6379), hostname.replace(/^\[|\]$/g, ''));
        const is = (refused: boolean) => {
          clearTimeout(late);
          socket.destroy();
          resolve(refused);
        };
        const late = setTimeout(() => is(false), ANSWER_MS);
        socket.once('connect', () => is(false));
        socket.once('error', (e: NodeJS.ErrnoException) => is(e.code === 'ECONNREFUSED'));
      }),
    close: line.close,
  };
}
