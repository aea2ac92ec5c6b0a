// ingle-scenario: io.ingle.Scenario1, scenarios of the hub. Wires the engine to its file, the bus and the local API.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, isTimeKnown, systemClock } from '../../firmware/scenario/clock.ts';
import { scenario1 } from '../../firmware/scenario/contract.ts';
import {
  earlierSchema,
  librarySchema,
  type PrototypeRow,
  readmesSchema,
} from '../../firmware/scenario/library.ts';
import { quotasFrom } from '../../firmware/scenario/quotas.ts';
import { scenarioSchema } from '../../firmware/scenario/records.ts';
import { serveScenarios } from '../../firmware/scenario/serve.ts';
import { askers, earOf, someoneAt, waysOf } from '../../firmware/scenario/ways.ts';
import { dataOf, readConfig, version } from '../../firmware/system/config.ts';
import { startService } from '../../firmware/system/service.ts';
import { openStore } from '../../firmware/system/store.ts';
import { readToken } from '../../firmware/system/token.ts';
import { openVault } from '../../firmware/system/vault.ts';
import { pickLanguage } from '../../firmware/text/i18n.ts';

/** The service ends after this time without a call, with nothing to wait for, milliseconds. */
const IDLE_MS = 60_000;

process.umask(0o077);
const life = await startService('scenario');
const { bus, log } = life;
const config = readConfig();
const data = dataOf(config, 'scenario');
const store = await openStore(join(data, 'scenario.db'), [
  ...scenarioSchema,
  librarySchema,
  earlierSchema,
  readmesSchema,
]);
life.onStop(store.close);
// While this lies there, a start of the hub starts the service (ingle-scenario.path); also after a crash.
const needed = join(data, 'needed');
writeFileSync(needed, '', { flush: true });
const machine = systemClock(await bus.id());
/** What a timer has woken may have been the last thing the process was needed for. */
const clock: Clock = {
  ...machine,
  after: (ms, work) =>
    machine.after(ms, () => {
      life.touch();
      work();
    }),
};
// The image's scenarios lie beside the bundle, as the build has made them of their YAML.
const file = process.env['INGLE_SCENARIOS'] ?? join(import.meta.dirname, 'scenarios.json');
const builtin = existsSync(file)
  ? (JSON.parse(readFileSync(file, 'utf8')) as Omit<PrototypeRow, 'installed_at'>[])
  : [];
const address = `http://${config.api.host}:${config.api.port}`;

/** The phrase that wakes the hub, in the language that is chosen now. */
function wanted() {
  const { language, speech } = readConfig();
  const lang = pickLanguage([language]);
  return { lang, phrase: speech.wake[lang] };
}
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

// Costs nothing where nobody asks for it.
const { otlp } = config.telemetry;
const traces =
  otlp.url === ''
    ? undefined
    : (await import('../../firmware/scenario/traces.ts')).openTraces({
        ...{ url: otlp.url, headers: otlp.headers, log, clock },
        resource: {
          'service.namespace': 'ingle',
          'service.name': 'ingle-scenario',
          'service.version': version,
        },
        scope: { name: 'ingle', version },
      });

const scenarios = await serveScenarios(bus, {
  ...(traces ? { traces } : {}),
  ...{ store, clock, log, builtin },
  vault: openVault(join(data, 'scenario.key'), 'ingle scenarios/1'),
  limits: config.scenario.limits,
  quotas: quotasFrom(config.scenario.quotas),
  zone,
  locale: config.language,
  ways: (schedule) =>
    waysOf({
      ...{ bus, schedule, api: address, now: clock.wall, zone },
      token: () => readToken(join(dataOf(config, 'api'), 'token')),
    }),
  ear: earOf(bus),
  askerOf: askers(bus),
  someone: someoneAt(bus),
  waking: { on: config.wake_by_phrase, wanted },
  has: config.has,
  touch: life.touch,
});
life.onStop((status) => {
  if (status === 0 && !scenarios.isNeeded()) rmSync(needed, { force: true });
});
life.onStop(() => traces?.stop(2000));
life.onStop(scenarios.stop);
if (!isTimeKnown(clock)) log.warn('the time is not known yet, so nothing is started by it');
life.ready();
// It may be at rest for hours from now on, and V8 collects while it works: what reading all runs left would stay.
globalThis.gc?.();
log.info('serving', { runs: scenarios.runs.size });
// Where the bus starts nothing (npm start), somebody keeps it running.
if (!config.kept.includes(scenario1.bus)) life.leaveWhenIdle(IDLE_MS, scenarios.isNeeded, { told: true });
