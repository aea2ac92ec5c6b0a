// The only door to BLE (bleno): serve GATT services, advertise, hear who comes and goes.
import { errorTable, IngleError, toIngleError } from '../protocol/errors.ts';

export interface Characteristic {
  uuid: string;
  /** Answers a read; long values are cut by offset here. */
  read?(): Promise<Uint8Array> | Uint8Array;
  write?(value: Uint8Array): Promise<void> | void;
  /** Whether a central may subscribe; `notify` of the server sends to it. */
  notifies?: boolean;
}
export interface Service {
  uuid: string;
  characteristics: Characteristic[];
}

export interface GattServer {
  readonly address: string;
  /** Largest value a notification carries now, bytes. */
  size(uuid: string): number;
  /** Sends a value to the subscribed central; nothing when there is none. */
  notify(uuid: string, value: Uint8Array): void;
  /** New advertising data (at most 31 bytes each, Bluetooth Core Supplement, Part A). */
  advertise(data: Uint8Array, scan: Uint8Array): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Opens the adapter (`BLENO_HCI_DEVICE_ID`, else the first) and serves.
 * @throws IngleError `unavailable` when there is no adapter or it is off
 */
export async function openGatt(
  services: Service[],
  on: { connect(address: string): void; disconnect(address: string): void; lost(): void },
): Promise<GattServer> {
  // bleno opens the HCI socket when it is loaded; a hub without an adapter must get that far first.
  const { default: bleno } = await import('@abandonware/bleno');
  const subscribers = new Map<string, { size: number; send: (data: Buffer) => void }>();

  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new IngleError('unavailable', 'The Bluetooth adapter does not answer.')),
      10_000,
    );
    const look = (state: string) => {
      if (state === 'unknown' || state === 'resetting') return;
      clearTimeout(timer);
      if (state === 'poweredOn') resolve();
      else reject(new IngleError('unavailable', `The Bluetooth adapter is ${state}.`));
    };
    try {
      bleno.once('stateChange', look);
      look(bleno.state);
    } catch (e) {
      clearTimeout(timer);
      const none = (e as NodeJS.ErrnoException).code === 'ENODEV' || /ENODEV/.test(String(e));
      reject(
        new IngleError(
          'unavailable',
          none ? 'This hub has no Bluetooth adapter.' : 'The Bluetooth adapter cannot be opened.',
        ),
      );
    }
  });
  bleno.on('stateChange', (state) => state !== 'poweredOn' && on.lost());
  bleno.on('accept', on.connect);
  bleno.on('disconnect', (address) => {
    subscribers.clear();
    on.disconnect(address);
  });

  const att = (e: unknown) => errorTable[toIngleError(e).code].att;
  const made = services.map(
    (s) =>
      new bleno.PrimaryService({
        uuid: s.uuid,
        characteristics: s.characteristics.map(
          (c) =>
            new bleno.Characteristic({
              uuid: c.uuid,
              properties: [
                ...(c.read ? (['read'] as const) : []),
                ...(c.write ? (['write', 'writeWithoutResponse'] as const) : []),
                ...(c.notifies ? (['notify'] as const) : []),
              ],
              ...(c.read ? { onReadRequest: reader(c.read) } : {}),
              ...(c.write ? { onWriteRequest: writer(c.write) } : {}),
              onSubscribe: (size, send) => subscribers.set(c.uuid, { size, send }),
              onUnsubscribe: () => void subscribers.delete(c.uuid),
            }),
        ),
      }),
  );

  function reader(read: NonNullable<Characteristic['read']>) {
    // A long value is read in several requests; they must see one value.
    let value = Buffer.alloc(0);
    return (offset: number, done: (result: number, data?: Buffer) => void) => {
      if (offset > 0) return done(offset > value.length ? 0x07 : 0, value.subarray(offset));
      Promise.resolve()
        .then(read)
        .then(
          (v) => {
            value = Buffer.from(v);
            done(0, value);
          },
          (e) => done(att(e)),
        );
    };
  }
  function writer(write: NonNullable<Characteristic['write']>) {
    return (data: Buffer, offset: number, _without: boolean, done: (result: number) => void) => {
      if (offset > 0) return done(0x07);
      Promise.resolve()
        .then(() => write(data))
        .then(
          () => done(0),
          (e) => done(att(e)),
        );
    };
  }

  await new Promise<void>((resolve, reject) => bleno.setServices(made, (e) => (e ? reject(e) : resolve())));
  return {
    get address() {
      return bleno.address;
    },
    size: (uuid) => subscribers.get(uuid)?.size ?? 20,
    notify: (uuid, value) => subscribers.get(uuid)?.send(Buffer.from(value)),
    advertise: (data, scan) =>
      new Promise((resolve, reject) =>
        bleno.startAdvertisingWithEIRData(Buffer.from(data), Buffer.from(scan), (e) =>
          e ? reject(e) : resolve(),
        ),
      ),
    stop: () =>
      new Promise((resolve) => {
        bleno.disconnect();
        bleno.stopAdvertising(() => resolve());
        // The adapter may be gone already; then no answer comes.
        setTimeout(resolve, 1000);
      }),
  };
}
