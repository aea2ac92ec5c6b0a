// ingle-fetch: io.ingle.Fetch1, what skills have of the network. Activated by D-Bus, gone when idle.
import { world } from '../../firmware/fetch/exchange.ts';
import { serveFetch } from '../../firmware/skills/fetching.ts';
import { readConfig } from '../../firmware/system/config.ts';
import { startService } from '../../firmware/system/service.ts';

/** Longer than a minute: who leaves forgets how much each skill has fetched in the last one. */
const IDLE_MS = 90_000;

const life = await startService('fetch');
const { busy } = await serveFetch(life.bus, {
  config: readConfig(),
  way: world,
  log: life.log,
  onCall: life.touch,
});
life.ready();
life.leaveWhenIdle(IDLE_MS, busy);
