// io.ingle.Ble1: the setup service with Improv beside it, advertised while setup wants it.
import { IngleError } from '../protocol/errors.ts';
import type { setup1 } from '../setup/contract.ts';
import type { Progress } from '../setup/progress.ts';
import type { Bus } from '../system/bus.ts';
import type { Caller } from '../system/contract.ts';
import type { Log } from '../system/log.ts';
import type { Language } from '../text/i18n.ts';
import { ble1 } from './contract.ts';
import { type GattServer, openGatt } from './gatt.ts';
import { bleImprov } from './improv.ts';
import { bleSetup } from './service.ts';

export interface ServeOptions {
  setup: Caller<typeof setup1>;
  onProgress: Progress;
  device: { name: string; model: string; version: string };
  language: Language;
  log: Log;
  /** bleno keeps the HCI socket while the process lives: once closed, the process has to end. */
  leave(): void;
}

export async function serveBle(bus: Bus, o: ServeOptions): Promise<{ close(): Promise<boolean> }> {
  let gatt: GattServer | undefined;
  let idle: NodeJS.Timeout | undefined;
  let idleMs = 0;
  const centrals = new Set<string>();

  const device = bleSetup({
    ...o,
    notify: (uuid, value) => gatt?.notify(uuid, value),
    size: (uuid) => gatt?.size(uuid) ?? 20,
    used: touch,
  });
  const improv = bleImprov(o);

  /** The idle time begins again: at the start, and when somebody has proved who they are. To come and go is not enough. */
  function touch(): void {
    clearTimeout(idle);
    if (idleMs > 0) idle = setTimeout(() => void end('idle'), idleMs);
  }
  async function close(reason: string): Promise<boolean> {
    const was = gatt;
    if (!was) return false;
    gatt = undefined;
    improv.end();
    clearTimeout(idle);
    await was.stop();
    served.emit('Ended', { reason });
    o.log.info('closed', { reason });
    return true;
  }
  async function end(reason: string): Promise<void> {
    if (await close(reason)) o.leave();
  }
  function open(): Promise<GattServer> {
    return openGatt([device.service, improv.service], {
      connect(address) {
        centrals.add(address);
        device.reset();
      },
      disconnect(address) {
        centrals.delete(address);
        device.reset();
        improv.left();
      },
      lost: () => void end('adapter'),
    }).catch((e) => {
      o.leave();
      throw e;
    });
  }

  const served = await bus.serve(ble1, {
    async Start({ idle_timeout, unlabelled }) {
      idleMs = idle_timeout * 1000;
      gatt ??= await open();
      await improv.begin(gatt, unlabelled);
      touch();
      o.log.info('advertising', { address: gatt.address });
      return { name: o.device.name };
    },
    async Stop() {
      // Nothing was open: it was started for this call alone.
      if (!gatt) o.leave();
      await end('stopped');
      return {};
    },
    async Approve() {
      if (!gatt) throw new IngleError('conflict', 'Setup over Bluetooth is not open.');
      await improv.approve();
      return {};
    },
    Status: () => ({
      advertising: gatt !== undefined,
      centrals: centrals.size,
      address: gatt?.address ?? '',
    }),
  });
  o.onProgress((step, s, text, detail) => {
    if (gatt) device.progress(step, s, text, detail);
  });
  return { close: () => close('stopped') };
}
