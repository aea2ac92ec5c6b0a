// ingle-ble: the BLE setup service with Improv beside it; advertises while setup wants it, then goes.
import { advertisement, scanResponse } from '../../firmware/ble/advertise.ts';
import { ble1 } from '../../firmware/ble/contract.ts';
import { type GattServer, openGatt } from '../../firmware/ble/gatt.ts';
import {
  bleResult,
  improvError,
  improvState,
  improvUuid,
  readBleCommand,
} from '../../firmware/ble/improv.ts';
import { bleSetup } from '../../firmware/ble/service.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { pickLanguage } from '../../firmware/protocol/text/i18n.ts';
import { setup1 } from '../../firmware/setup/contract.ts';
import { improvDevice } from '../../firmware/setup/improv-device.ts';
import { connect } from '../../firmware/system/bus.ts';
import { readConfig, version } from '../../firmware/system/config.ts';
import { fromVariant } from '../../firmware/system/contract.ts';
import { logger } from '../../firmware/system/log.ts';
import { ready } from '../../firmware/system/notify.ts';

const log = logger('ble');
const config = readConfig();
const bus = await connect();
const setup = bus.client(setup1);
/** Improv capability: identify. */
const capabilities = 1;
let gatt: GattServer | undefined;
let idle: NodeJS.Timeout | undefined;
let idleMs = 0;
const centrals = new Set<string>();
/** The maker has printed no PIN on this device. */
let unlabelled = false;
/** An approval is withdrawn after this, milliseconds (Improv suggests one minute; the person must find the application). */
const APPROVAL_MS = 120_000;
let approval: NodeJS.Timeout | undefined;
let state: number = improvState.authorize;
let error: number = improvError.none;
let result = new Uint8Array(0);

const device = bleSetup({
  setup,
  device: { model: config.model, version },
  language: pickLanguage([config.language]),
  notify: (uuid, value) => gatt?.notify(uuid, value),
  size: (uuid) => gatt?.size(uuid) ?? 20,
  used: touch,
});

function onProgress(
  f: (step: string, state: string, text: string, detail: Record<string, unknown>) => void,
): () => void {
  const stop = bus.onSignal(setup1, 'Progress', (p) =>
    f(p.step, p.state, p.text, fromVariant(p.detail) as Record<string, unknown>),
  );
  return () => void stop.then((s) => s());
}

const improv = improvDevice({
  setup,
  channel: 'ble',
  device: { name: config.name, model: config.model, version },
  proven: () => [...(unlabelled ? ['unlabelled' as const] : []), ...(approval ? ['approval' as const] : [])],
  state: setState,
  error(e) {
    error = e;
    gatt?.notify(improvUuid.error, new Uint8Array([e]));
  },
  result(command, strings) {
    result = Uint8Array.from(bleResult(command, strings));
    gatt?.notify(improvUuid.result, result);
  },
  onProgress,
  identify: () =>
    void setup.Speak({}, 60_000).catch((e) => log.info('nothing to identify with', { error: e })),
});

function approve(): void {
  clearTimeout(approval);
  approval = setTimeout(withdraw, APPROVAL_MS);
}

function withdraw(): void {
  clearTimeout(approval);
  approval = undefined;
  void tellState();
}

/** The hub may have been set up meanwhile, or asks for approval again. */
async function tellState(): Promise<void> {
  const now = await improv.current().catch(() => state);
  if (gatt && now !== state) setState(now);
}

function setState(s: number): void {
  state = s;
  gatt?.notify(improvUuid.state, new Uint8Array([s]));
  gatt?.advertise(advertisement(s, capabilities), scanResponse(config.name)).catch(() => {});
}

const improvService = {
  uuid: improvUuid.service,
  characteristics: [
    { uuid: improvUuid.state, notifies: true, read: () => new Uint8Array([state]) },
    { uuid: improvUuid.error, notifies: true, read: () => new Uint8Array([error]) },
    {
      uuid: improvUuid.command,
      write(packet: Uint8Array) {
        const command = readBleCommand(packet);
        const e = command === undefined ? improvError.invalid : improvError.unknown_command;
        if (command === undefined || command === 'unknown') {
          error = e;
          gatt?.notify(improvUuid.error, new Uint8Array([e]));
        } else {
          // A network that was not joined is asked for again: the approval starts anew (Improv, "Improv Service").
          if (command.command === 'wifi' && approval) approve();
          void improv.run(command).catch((e) => log.warn('Improv was not served', { error: e as Error }));
        }
      },
    },
    { uuid: improvUuid.result, notifies: true, read: () => result },
    { uuid: improvUuid.capabilities, read: () => new Uint8Array([capabilities]) },
  ],
};

const served = await bus.serve(ble1, {
  async Start({ idle_timeout, ...given }) {
    unlabelled = given.unlabelled;
    idleMs = idle_timeout * 1000;
    gatt ??= await openGatt([device.service, improvService], {
      connect(address) {
        centrals.add(address);
        device.reset();
      },
      disconnect(address) {
        centrals.delete(address);
        device.reset();
        withdraw();
      },
      lost: () => void end('adapter'),
    }).catch((e) => {
      leave();
      throw e;
    });
    setState(await improv.current());
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
    approve();
    await tellState();
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
  const was = gatt;
  if (!was) return;
  gatt = undefined;
  clearTimeout(idle);
  await was.stop();
  served.emit('Ended', { reason });
  log.info('closed', { reason });
  leave();
}

/** bleno keeps the HCI socket while the process lives; the next Start is a fresh process by activation. */
function leave(): void {
  setTimeout(() => process.exit(0), 200);
}

ready();
bus.closed.then(() => process.exit(1));
process.on('SIGTERM', () => void end('stopped').then(() => process.exit(0)));
