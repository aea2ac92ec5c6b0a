// ingle-setup: the ladder, over the hub's real audio, radios and link. Stays until READY, then goes when idle.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { audio1 } from '../../firmware/audio/contract.ts';
import { bleChannel } from '../../firmware/ble/channel.ts';
import { scenario1 } from '../../firmware/scenario/contract.ts';
import { bot1 } from '../../firmware/setup/bot-contract.ts';
import { enabled } from '../../firmware/setup/enabled.ts';
import { hasCable, hasSoundCard, machineId } from '../../firmware/setup/hardware.ts';
import { audioPort, botChannel, hubPorts } from '../../firmware/setup/hub.ts';
import { followHub, pressed } from '../../firmware/setup/reactions.ts';
import { serveSetup } from '../../firmware/setup/serve.ts';
import { signs } from '../../firmware/setup/signs.ts';
import { isDone, openState } from '../../firmware/setup/state.ts';
import { dataOf, imageVersion, readConfig, version } from '../../firmware/system/config.ts';
import { startService } from '../../firmware/system/service.ts';
import { pickLanguage } from '../../firmware/text/i18n.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import { wifi1 } from '../../firmware/wifi/contract.ts';
import { watchButton } from './button.ts';

/** Once set up there is nothing to do until somebody calls; activation then brings the service back. */
const IDLE_MS = 5 * 60_000;

// Closing channels asks other services, and each may take its time.
const life = await startService('setup', { stopMs: 12_000 });
const { bus, log } = life;
const config = readConfig();
const data = dataOf(config, 'setup');
mkdirSync(data, { recursive: true, mode: 0o700 });
const language = pickLanguage([config.language]);
const sign = signs({ runtime: join(config.runtime, 'setup'), data });
const ports = enabled(
  hubPorts({
    // A house of `npm start` hears through its computer's sound server.
    audio: audioPort(bus.client(audio1), {
      language,
      silent: () => imageVersion() !== '' && !hasSoundCard(),
    }),
    wifi: bus.client(wifi1),
    uplink: bus.client(uplink1),
    signs: sign,
    channels: [
      bleChannel(bus, { unlabelled: !config.label }),
      ...(config.bot.token ? [botChannel(bus.client(bot1))] : []),
    ],
    cable: hasCable,
    rootUrl: config.root_url,
    log,
  }),
  config.channels,
);
const setup = await serveSetup(bus, {
  ports,
  // Each start of a hub begins with its bus.
  start: await bus.id(),
  version,
  model: config.model,
  file: await openState(join(data, 'setup.db')),
  log,
  device: {
    name: config.name,
    serial: config.serial || machineId(),
    language,
    ...(config.label ? { label: config.label } : {}),
  },
  onState: (state) => sign.open(!isDone(state)),
  onCall: life.touch,
});
life.onStop(setup.stop);
await followHub(bus, ports.channels, setup);
const scenario = bus.client(scenario1);
const hasButton = watchButton(log, (press) => {
  life.touch();
  void pressed(press, setup, () => scenario.Talk({}), log);
});
await setup.begin();
// A button cannot bring it back.
life.leaveWhenIdle(IDLE_MS, () => !isDone(setup.state) || hasButton() || setup.status().channels.length > 0);
setInterval(() => life.status(setup.state), 30_000).unref();
life.ready();
