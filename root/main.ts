// Starts root: opens its records, listens, sweeps, and ends well.
import { IngleError } from '../firmware/protocol/errors.ts';
import { SESSION_IDLE } from '../firmware/protocol/limits.ts';
import { openBacklog } from './backlog.ts';
import { seconds } from './clock.ts';
import { type Command, type RootConfig, readConfig, usage } from './config.ts';
import { openGuesses } from './guesses.ts';
import { openHubFiles } from './hub-files.ts';
import { log } from './log.ts';
import { backup, migrate, restoreFrom, sqliteFile } from './records/commands.ts';
import { openPostgres } from './records/postgres.ts';
import { HAVE_MOVED, openSqlite } from './records/sqlite.ts';
import { openRelay } from './relay.ts';
import { openLimits, type Root } from './root.ts';
import { type RootServer, serve } from './server.ts';
import { openSurge } from './surge.ts';
import { openTokens } from './tokens.ts';

const FLUSH_MS = 1000;
const BEAT_MS = 15_000;
/** Exit status of a root whose records have moved: EX_TEMPFAIL, so a supervisor starts it again (sysexits(3)). */
const MOVED = 75;
/** New hubs a minute, over everybody, from which each costs work. */
const ENROLMENTS = 300;

const openRecords = ({ data, database }: RootConfig) =>
  database === '' ? openSqlite(sqliteFile(data)) : openPostgres(database);

async function run(config: RootConfig): Promise<void> {
  const records = await openRecords(config);
  const tokens = await openTokens(records, config.api);
  const backlog = openBacklog();
  const relay = await openRelay(records, backlog);
  const surge = openSurge(config.surge, (text) => tokens.mac('pow', text));
  const guesses = openGuesses(config.guesses);
  const enrolments = openSurge(ENROLMENTS, (text) => tokens.mac('pow_enrol', text));
  const limits = openLimits();
  const files = openHubFiles(relay.hubSocket);
  const root: Root = { config, records, tokens, relay, backlog, files, surge, guesses, enrolments, limits };
  const server = await serve(root);
  log('notice', 'listening', {
    host: config.host,
    port: server.port,
    origin: config.origin,
    api: config.api,
  });

  const failed = (what: string) => (e: unknown) => {
    log('error', `${what} failed`, { cause: e });
    // Whoever starts it again has it read where the records are now.
    if (e instanceof IngleError && e.message === HAVE_MOVED) stop('the records have moved', MOVED);
  };
  const timers = [
    setInterval(() => relay.flush().catch(failed('writing stages')), FLUSH_MS),
    setInterval(() => relay.beat(), BEAT_MS),
    setInterval(() => sweep(root).then(server.sweep).catch(failed('the sweep')), config.sweep * 1000),
  ];
  let ending = false;
  function stop(why: string, status: number): void {
    if (ending) return;
    ending = true;
    log('notice', 'stopping', { why });
    for (const t of timers) clearInterval(t);
    end(root, server).then(
      () => process.exit(status),
      (e) => {
        failed('stopping')(e);
        process.exit(status || 1);
      },
    );
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal, 0));
}

async function carryOut(command: Command, config: RootConfig): Promise<void> {
  if (command.name === 'migrate') return migrate(config, command.to, console.log);
  const work = command.name === 'backup' ? backup : restoreFrom;
  await work(config, command.file, console.log);
}

/** Ends what is over: records by their expiry, sessions with their sockets. */
async function sweep(root: Root): Promise<void> {
  const now = seconds();
  const ended = await root.records.sweep({
    now,
    idle_since: now - SESSION_IDLE,
    connected: root.relay.connected(),
    online: root.relay.isOnline,
  });
  for (const sid of ended) root.relay.drop(sid);
  for (const l of [root.guesses, ...Object.values(root.limits)]) l.sweep();
  const drops = root.relay.takeDrops();
  if (Object.keys(drops).length > 0) log('notice', 'dropped since the last sweep', drops);
}

async function end(root: Root, server: RootServer): Promise<void> {
  await server.close();
  await root.relay.flush();
  await root.records.close();
}

try {
  const config = readConfig(process.argv.slice(2), process.env);
  if (config.help) console.log(usage);
  else if (config.command) await carryOut(config.command, config);
  else await run(config);
} catch (e) {
  log('error', (e as Error).message);
  process.exit(1);
}
