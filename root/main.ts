// Starts root: opens its records, listens, sweeps, and ends well.
import { IngleError } from '../firmware/protocol/errors.ts';
import { SESSION_IDLE } from '../firmware/protocol/limits.ts';
import { type Backlog, openBacklog } from './backlog.ts';
import { seconds } from './clock.ts';
import type { Along } from './cluster/along.ts';
import type { Cluster } from './cluster/cluster.ts';
import { type Command, type RootConfig, readConfig, usage } from './config.ts';
import { openGuesses } from './guesses.ts';
import { openHealth } from './health.ts';
import { openHubFiles } from './hub-files.ts';
import { log, logAs } from './log.ts';
import { ready } from './notify.ts';
import { bothObserve, observedRecords, unobserved } from './observe.ts';
import { backup, migrate, restoreFrom, rotate, sqliteFile } from './records/commands.ts';
import { openPostgres } from './records/postgres.ts';
import type { Records } from './records/records.ts';
import { HAVE_MOVED, openSqlite } from './records/sqlite.ts';
import { openRelay, type Relay } from './relay.ts';
import { COUNTED_TOGETHER, openLimits, type Root } from './root.ts';
import { type RootServer, serve } from './server.ts';
import { openSurge } from './surge.ts';
import { openTokens, type Tokens } from './tokens.ts';
import { openTraces } from './traces.ts';
import { openWays } from './ways.ts';

const FLUSH_MS = 1000;
const BEAT_MS = 15_000;
/** Between two looks whether there are new keys. */
const KEYS_MS = 30_000;
/** Exit status of a root whose records have moved: EX_TEMPFAIL, so a supervisor starts it again (sysexits(3)). */
const MOVED = 75;
/** Exit status where the settings cannot be used: EX_CONFIG, so a supervisor may leave it at that (sysexits(3)). */
const MISCONFIGURED = 78;
/** New hubs a minute, over everybody, from which each costs work. */
const ENROLMENTS = 300;

const openRecords = ({ data, database }: RootConfig) =>
  database === '' ? openSqlite(sqliteFile(data)) : openPostgres(database);

/** Who looks at what root does: nobody, unless the configuration says so. */
async function openObservers({ metrics: at, traces: to }: RootConfig) {
  // What few use is loaded where it is used: its libraries are a quarter of root's memory at rest.
  const metrics = at ? (await import('./metrics.ts')).openMetrics() : null;
  const traces = to === '' ? null : openTraces(to);
  let observer = unobserved;
  for (const o of [metrics, traces]) if (o) observer = bothObserve(observer, o.observer);
  return { metrics, traces, observer };
}

/** What is counted against guessing and floods; with several processes, some of it over all of them. */
function openCounts({ surge, guesses }: RootConfig, tokens: Tokens, along?: Along) {
  const mac = (purpose: string) => (text: string) => tokens.mac(purpose, text);
  const counts = {
    surge: openSurge(surge, mac('pow')),
    guesses: openGuesses(guesses),
    enrolments: openSurge(ENROLMENTS, mac('pow_enrol')),
    limits: openLimits(),
  };
  if (!along) return counts;
  const { limits } = counts;
  for (const name of COUNTED_TOGETHER) limits[name] = along.limit(name, limits[name]);
  return {
    surge: along.surge('surge', counts.surge),
    guesses: along.guesses(counts.guesses),
    enrolments: along.surge('enrolments', counts.enrolments),
    limits,
  };
}

/** The relay: of all hubs, or of those that are at home in this one of several processes. */
async function openHomes(
  { redis, peer, name, peerListen: listen }: RootConfig,
  records: Records,
  tokens: Tokens,
  backlog: Backlog,
): Promise<{ relay: Relay; cluster: Cluster | undefined }> {
  if (!listen) {
    const relay = openRelay(records, backlog);
    relay.restore(await records.routes.restore(seconds()));
    return { relay, cluster: undefined };
  }
  const { newNode, openCluster } = await import('./cluster/cluster.ts');
  const node = newNode(peer, name);
  const relay = openRelay(records, backlog, () => node.tenure.holds());
  const key = Buffer.from(tokens.mac('peer', ''), 'base64url');
  return { relay, cluster: await openCluster({ redis, listen, key, node, relay, records, backlog }) };
}

async function run(config: RootConfig): Promise<void> {
  const { metrics, traces, observer } = await openObservers(config);
  const records = observedRecords(await openRecords(config), observer);
  const tokens = await openTokens(records, config.api);
  const backlog = openBacklog();
  const { relay, cluster } = await openHomes(config, records, tokens, backlog);
  const ways = cluster?.ways ?? openWays(relay);
  const counts = openCounts(config, tokens, cluster?.along);
  const files = openHubFiles(ways);
  const health = openHealth(records, cluster);
  const root: Root = {
    ...{ config, records, tokens, relay, ways, cluster, backlog, files },
    ...{ ...counts, health, observer },
  };
  const server = await serve(root);
  const spans = () => traces?.counts() ?? { sent: 0, dropped: 0 };
  metrics?.read(() => ({
    ...{ ...server.counts(), ...relay.counts() },
    ...{ draining: health.draining, spans: spans() },
  }));
  if (metrics && config.metrics)
    await (await import('./metrics-server.ts')).serveMetrics(config.metrics, metrics);
  log('notice', 'listening', {
    host: config.host,
    port: server.port,
    origin: config.origin,
    api: config.api,
  });

  ready();

  const failed = (what: string) => (e: unknown) => {
    log('error', `${what} failed`, { cause: e });
    // Whoever starts it again has it read where the records are now.
    if (e instanceof IngleError && e.message === HAVE_MOVED) stop('the records have moved', MOVED);
  };
  const timers = [
    setInterval(() => relay.flush().catch(failed('writing stages')), FLUSH_MS),
    setInterval(() => relay.beat(), BEAT_MS),
    setInterval(() => tokens.refresh().catch(failed('reading the keys')), KEYS_MS),
    setInterval(() => sweep(root).catch(failed('the sweep')).finally(server.sweep), config.sweep * 1000),
  ];
  let ending = false;
  function stop(why: string, status: number): void {
    if (ending) return;
    ending = true;
    log('notice', 'stopping', { why });
    health.drain();
    cluster?.drain();
    // Who has lost the records has nothing to finish.
    const drained = status === 0 && config.drain > 0 ? server.drain() : Promise.resolve();
    const ended = drained.then(() => {
      for (const t of timers) clearInterval(t);
      return end(root, server).finally(traces?.stop);
    });
    ended.then(
      () => process.exit(status),
      (e) => {
        failed('stopping')(e);
        process.exit(status || 1);
      },
    );
  }
  // Without TLS it ends root, as a terminal that is closed does.
  if (config.tlsCert !== '') process.on('SIGHUP', () => void server.reload());
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal, 0));
}

async function carryOut(command: Command, config: RootConfig): Promise<void> {
  if (command.name === 'migrate') return migrate(config, command.to, console.log);
  if (command.name === 'rotate-keys') return rotate(config, command.revoke, console.log);
  const work = command.name === 'backup' ? backup : restoreFrom;
  await work(config, command.file, console.log);
}

/** Ends what is over: records by their expiry, sessions with their sockets. */
async function sweep(root: Root): Promise<void> {
  // What is in memory first: it grows while the records are away.
  for (const l of [root.guesses, ...Object.values(root.limits)]) l.sweep();
  const drops = root.relay.takeDrops();
  if (Object.keys(drops).length > 0) log('notice', 'dropped since the last sweep', drops);
  const now = seconds();
  const ended = await root.records.sweep({
    now,
    idle_since: now - SESSION_IDLE,
    connected: root.relay.connected(),
    online: root.relay.online(),
  });
  for (const sid of ended) root.ways.drop(sid);
  await root.cluster?.sweep();
}

async function end(root: Root, server: RootServer): Promise<void> {
  await server.close();
  // Where the records are away, the hubs are given up all the same.
  await root.relay.flush().catch((e) => log('error', 'writing stages failed', { cause: e }));
  await root.cluster?.close();
  await root.records.close();
}

/** Ends root where there is a mistake in the settings: to try them again is in vain. */
function configured(): ReturnType<typeof readConfig> {
  try {
    return readConfig(process.argv.slice(2), process.env);
  } catch (e) {
    log('error', (e as Error).message);
    process.exit(MISCONFIGURED);
  }
}

async function start(): Promise<void> {
  const config = configured();
  logAs(config.log);
  if (config.help) console.log(usage);
  else if (config.command) await carryOut(config.command, config);
  else await run(config);
}

// Not awaited: what is loaded on demand imports from here, and would wait for the end of this file.
start().catch((e) => {
  log('error', (e as Error).message);
  process.exit(1);
});
