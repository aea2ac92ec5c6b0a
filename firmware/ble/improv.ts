// Improv over BLE: its GATT service, and the approval that lets an application in for a while (ARCHITECTURE.md, D22).
import type { Proof } from '../setup/access.ts';
import { bleResult, improvError, improvState, improvUuid, readBleCommand } from '../setup/improv.ts';
import { type ImprovDeps, improvDevice } from '../setup/improv-device.ts';
import type { Log } from '../system/log.ts';
import { advertisement, scanResponse } from './advertise.ts';
import type { GattServer, Service } from './gatt.ts';

/** Improv capability: identify. */
const CAPABILITIES = 1;
/** An approval is withdrawn after this, milliseconds (Improv suggests one minute; the person must find the application). */
const APPROVAL_MS = 120_000;

export interface BleImprov {
  readonly service: Service;
  /** Begins on a server that was opened. @param unlabelled the maker has printed no PIN on the device */
  begin(gatt: Pick<GattServer, 'notify' | 'advertise'>, unlabelled: boolean): Promise<void>;
  /** The server was closed. */
  end(): void;
  /** Lets an application in for two minutes, or until it leaves. */
  approve(): Promise<void>;
  withdraw(): void;
  /** The application left: its approval ends, and what was for it is for nobody else. */
  left(): void;
}

export function bleImprov(
  o: Pick<ImprovDeps, 'setup' | 'device' | 'onProgress'> & { log: Log; approvalMs?: number },
): BleImprov {
  let gatt: Pick<GattServer, 'notify' | 'advertise'> | undefined;
  let unlabelled = false;
  let approval: NodeJS.Timeout | undefined;
  let state: number = improvState.authorize;
  let error: number = improvError.none;
  let result = new Uint8Array(0);
  let asking: object;

  /** The device as one central has it: a link, or why there is none, is for whoever asked, not for who comes after. */
  const device = () => {
    const mine = {};
    asking = mine;
    return improvDevice({
      ...o,
      channel: 'ble',
      proven: (): Proof[] => [
        ...(unlabelled ? ['unlabelled' as const] : []),
        ...(approval ? ['approval' as const] : []),
      ],
      isThere: () => asking === mine,
      state: setState,
      error: (e) => asking === mine && setError(e),
      result(command, strings) {
        if (asking !== mine) return;
        result = Uint8Array.from(bleResult(command, strings));
        gatt?.notify(improvUuid.result, result);
      },
      identify: () =>
        void o.setup.Speak({}, 60_000).catch((e) => o.log.info('nothing to identify with', { error: e })),
    });
  };
  let improv = device();

  function setError(e: number): void {
    error = e;
    gatt?.notify(improvUuid.error, new Uint8Array([e]));
  }

  function setState(s: number): void {
    state = s;
    gatt?.notify(improvUuid.state, new Uint8Array([s]));
    gatt?.advertise(advertisement(s, CAPABILITIES), scanResponse(o.device.name)).catch(() => {});
  }

  /** The hub may have been set up meanwhile, or asks for approval again. */
  async function tellState(): Promise<void> {
    const now = await improv.current().catch(() => state);
    if (gatt && now !== state) setState(now);
  }

  function letIn(): void {
    clearTimeout(approval);
    approval = setTimeout(withdraw, o.approvalMs ?? APPROVAL_MS);
  }

  function withdraw(): void {
    clearTimeout(approval);
    approval = undefined;
    void tellState();
  }

  function command(packet: Uint8Array): void {
    const read = readBleCommand(packet);
    if (read === undefined || read === 'unknown') {
      setError(read === undefined ? improvError.invalid : improvError.unknown_command);
      return;
    }
    // A network that was not joined is asked for again: the approval starts anew (Improv, "Improv Service").
    if (read.command === 'wifi' && approval) letIn();
    void improv.run(read).catch((e) => o.log.warn('Improv was not served', { error: e as Error }));
  }

  return {
    service: {
      uuid: improvUuid.service,
      characteristics: [
        { uuid: improvUuid.state, notifies: true, read: () => new Uint8Array([state]) },
        { uuid: improvUuid.error, notifies: true, read: () => new Uint8Array([error]) },
        { uuid: improvUuid.command, write: command },
        { uuid: improvUuid.result, notifies: true, read: () => result },
        { uuid: improvUuid.capabilities, read: () => new Uint8Array([CAPABILITIES]) },
      ],
    },
    async begin(server, none) {
      gatt = server;
      unlabelled = none;
      setState(await improv.current());
    },
    end() {
      gatt = undefined;
    },
    async approve() {
      letIn();
      await tellState();
    },
    withdraw,
    left() {
      improv = device();
      result = new Uint8Array(0);
      error = improvError.none;
      withdraw();
    },
  };
}
