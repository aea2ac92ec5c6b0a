// ingle-ble: the BLE setup service with Improv beside it; advertises while setup wants it, then goes.
import { ble1 } from '../../firmware/ble/contract.ts';
import { type GattServer, openGatt } from '../../firmware/ble/gatt.ts';
import { bleImprov } from '../../firmware/ble/improv.ts';
import { bleSetup } from '../../firmware/ble/service.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { setup1 } from '../../firmware/setup/contract.ts';
import { progressOf } from '../../firmware/setup/progress.ts';
import { readConfig, version } from '../../firmware/system/config.ts';
import { startService } from '../../firmware/system/service.ts';
import { pickLanguage } from '../../firmware/text/i18n.ts';

const life = await startService('ble');
const { bus, log } = life;
const config = readConfig();
const setup = bus.client(setup1);
const onProgress = progressOf(bus);
let gatt: GattServer | undefined;
let idle: NodeJS.Timeout | undefined;
let idleMs = 0;
const centrals = new Set<string>();

const device = bleSetup({
  setup,
  device: { model: config.model, version },
  language: pickLanguage([config.language]),
  notify: (uuid, value) => gatt?.notify(uuid, value),
  size: (uuid) => gatt?.size(uuid) ?? 20,
  used: touch,
});

const improv = bleImprov({
  setup,
  device: { name: config.name, model: config.model, version },
  onProgress,
  log,
});

const served = await bus.serve(ble1, {
  async Start({ idle_timeout, unlabelled }) {
    idleMs = idle_timeout * 1000;
    gatt ??= await openGatt([device.service, improv.service], {
      connect(address) {
        centrals.add(address);
        device.reset();
      },
      disconnect(address) {
        centrals.delete(address);
        device.reset();
        improv.withdraw();
      },
      lost: () => void end('adapter'),
    }).catch((e) => {
      leave();
      throw e;
    });
    await improv.begin(gatt, unlabelled);
    touch();
    log.info('advertising', { address: gatt.address });
    return { name: config.name };
  },
  async Stop() {
    // Nothing was open: it was started for this call alone.
    if (!gatt) leave();
    await end('stopped');
    return {};
  },
  async Approve() {
    if (!gatt) throw new IngleError('conflict', 'Setup over Bluetooth is not open.');
    await improv.approve();
    return {};
  },
  Status: () => ({ advertising: gatt !== undefined, centrals: centrals.size, address: gatt?.address ?? '' }),
});

onProgress((step, s, text, detail) => {
  if (gatt) device.progress(step, s, text, detail);
});

/** The idle time begins again: at the start, and when somebody has proved who they are. To come and go is not enough. */
function touch(): void {
  clearTimeout(idle);
  if (idleMs > 0) idle = setTimeout(() => void end('idle'), idleMs);
}

async function end(reason: string): Promise<void> {
  if (await close(reason)) leave();
}

/** @returns whether anything was open */
async function close(reason: string): Promise<boolean> {
  const was = gatt;
  if (!was) return false;
  gatt = undefined;
  improv.end();
  clearTimeout(idle);
  await was.stop();
  served.emit('Ended', { reason });
  log.info('closed', { reason });
  return true;
}

/** bleno keeps the HCI socket while the process lives; the next Start is a fresh process by activation. */
function leave(): void {
  setTimeout(() => life.stop(), 200);
}

life.onStop(() => close('stopped'));
life.ready();
