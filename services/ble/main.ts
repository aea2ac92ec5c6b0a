// ingle-ble: the BLE setup service with Improv beside it; advertises while setup wants it, then goes.
import { serveBle } from '../../firmware/ble/serve.ts';
import { setup1 } from '../../firmware/setup/contract.ts';
import { progressOf } from '../../firmware/setup/progress.ts';
import { readConfig, version } from '../../firmware/system/config.ts';
import { startService } from '../../firmware/system/service.ts';
import { pickLanguage } from '../../firmware/text/i18n.ts';

const life = await startService('ble');
const { bus, log } = life;
const config = readConfig();

const ble = await serveBle(bus, {
  setup: bus.client(setup1),
  onProgress: progressOf(bus),
  device: { name: config.name, model: config.model, version },
  language: pickLanguage([config.language]),
  log,
  // The answer to the call goes out first; the next Start is a fresh process by activation.
  leave: () => void setTimeout(() => life.stop(), 200),
});
life.onStop(ble.close);
life.ready();
