// The BLE setup service: seven characteristics over io.ingle.Setup1. No radio here.
import { utf8 } from '../protocol/bytes.ts';
import { IngleError, toIngleError } from '../protocol/errors.ts';
import { shape } from '../protocol/json.ts';
import { type Action, askStage, may } from '../setup/access.ts';
import type { setup1 } from '../setup/contract.ts';
import { PAIRING_MS } from '../setup/pairing.ts';
import type { OnStep } from '../setup/progress.ts';
import type { Caller } from '../system/contract.ts';
import { type Language, translator } from '../text/i18n.ts';
import { setupTexts, waitText } from '../text/setup.ts';
import { assembler, toPieces } from './chunk.ts';
import type { Service } from './gatt.ts';
import { hubSession } from './secured.ts';

const uuid = (n: number) => `1a9e000${n}-5c6f-4b57-8f0e-696e676c6501`;

/** UUIDs of the service and of its characteristics. */
export const setupUuid = {
  service: uuid(0),
  deviceInfo: uuid(1),
  audioList: uuid(2),
  selectAudio: uuid(3),
  wifiScan: uuid(4),
  wifiCreds: uuid(5),
  result: uuid(6),
  oneTimePin: uuid(7),
} as const;

/** A pairing link that was not to be had is asked for again after this, milliseconds. */
const AGAIN_MS = 1000;

export interface BleDeps {
  setup: Caller<typeof setup1>;
  /** Sends a value on a characteristic that notifies, and how long it may be. */
  notify(uuid: string, value: Uint8Array): void;
  size(uuid: string): number;
  device: { model: string; version: string };
  language: Language;
  /** A central that has proved itself did something. */
  used(): void;
}

export interface BleSetup {
  service: Service;
  /** A central came or went: its session ends. */
  reset(): void;
  /** Progress of setup, as Setup1 signals it. */
  progress: OnStep;
}

export function bleSetup(d: BleDeps): BleSetup {
  const pages = createPages();
  const session = createSession(d);
  let creds = assembler();
  let select = assembler();
  /** The session whose phone waits for the pairing link. */
  let linking: ReturnType<typeof session.proven>;

  function send(to: string, message: unknown): void {
    for (const piece of toPieces(message, d.size(to))) d.notify(to, piece);
  }
  const say = (message: unknown) => send(setupUuid.result, message);

  /** Takes a piece; whole messages of the handshake are answered, sealed ones opened and handed on. */
  async function take(
    piece: Uint8Array,
    assemble: ReturnType<typeof assembler>,
    act: (m: Record<string, unknown>) => Promise<void>,
  ): Promise<void> {
    try {
      const message = assemble(piece);
      if (!message) return;
      const s = await session.begin();
      if (message['t'] !== 'sealed') {
        say(await s.receive(message));
        if (s.proven) d.used();
        if (s.proven && (await session.may('secrets'))) {
          const { ssid, psk } = await d.setup.Secrets({});
          say(await s.sealer.seal({ event: 'softap', ssid, psk }));
        }
        // A hub with a cable has a network already: pairing is the next step.
        if (s.proven && (await d.setup.Status({})).detail.online) void link();
      } else {
        const opened = await s.sealer.open(message);
        d.used();
        await act(opened);
      }
    } catch (cause) {
      const e = toIngleError(cause);
      say({ event: 'error', ...e.body() });
      throw e;
    }
  }

  /**
   * After the network: where the person goes on. Sealed, as it lets a browser in. A link to root that is slow to come up
   * is waited for as long as the phone is there: it has nothing else to do, and nobody tells it to ask again.
   */
  async function link(): Promise<void> {
    const proven = session.proven();
    if (!proven || linking === proven) return;
    // Before anything is waited for: two steps of setup may ask for it at once.
    linking = proven;
    const asked = async () => ((await session.may('pair')) ? d.setup.PairingLink({}, PAIRING_MS) : null);
    while (session.proven() === proven) {
      const p = await asked().catch(() => undefined);
      if (p) say(await proven.sealer.seal({ event: 'pairing', link: p.link }));
      if (p !== undefined) break;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS).unref());
    }
    if (linking === proven) linking = undefined;
  }

  async function selectAudio(m: Record<string, unknown>): Promise<void> {
    await session.must('audio');
    const { sink_id, source_id } = shape(m, { sink_id: 'string', source_id: 'string' });
    await d.setup.AudioSelect({ channel: 'ble', sink_id, source_id });
    say({ event: 'audio_selected' });
  }
  async function join(m: Record<string, unknown>): Promise<void> {
    await session.must('join');
    const { ssid, psk, hidden } = shape(m, { ssid: 'string', psk: 'string?', hidden: 'boolean?' });
    await d.setup.WifiConnect({ channel: 'ble', ssid, psk: psk ?? '', hidden: hidden ?? false });
  }
  const lists = listsOf(d, session);

  return {
    service: {
      uuid: setupUuid.service,
      characteristics: [
        {
          uuid: setupUuid.deviceInfo,
          async read() {
            const s = await d.setup.Status({});
            return utf8(JSON.stringify({ ...d.device, status: s.state }));
          },
        },
        { uuid: setupUuid.audioList, read: () => pages.next(setupUuid.audioList, lists.devices) },
        { uuid: setupUuid.selectAudio, write: (piece) => take(piece, select, selectAudio) },
        {
          uuid: setupUuid.wifiScan,
          notifies: true,
          read: () => pages.next(setupUuid.wifiScan, () => lists.networks(false)),
          // A write of any byte asks for a fresh scan, whose result is notified.
          async write() {
            send(setupUuid.wifiScan, await lists.networks(true));
          },
        },
        { uuid: setupUuid.wifiCreds, write: (piece) => take(piece, creds, join) },
        { uuid: setupUuid.result, notifies: true },
        {
          uuid: setupUuid.oneTimePin,
          // Readable by anybody, so it is the window's id and authorises nothing: the PIN itself is shown and spoken by
          // the hub.
          async read() {
            return utf8((await d.setup.Secrets({})).window);
          },
        },
      ],
    },
    reset() {
      session.reset();
      creds = assembler();
      select = assembler();
      pages.reset();
    },
    progress(step, state, text, detail) {
      if (step !== 'wifi') return say({ event: 'progress', step, state, text, ...detail });
      if (state === 'ok') {
        say({ event: 'connected', ...detail });
        void link();
      } else if (state === 'failed') say({ event: 'error', error: 'wifi', ...detail });
      else say({ event: 'connecting', ...detail });
    },
  };
}

/** The session of the central, and what it may do. */
function createSession(d: BleDeps) {
  let session: ReturnType<typeof hubSession> | undefined;
  let window = '';

  /** What this central may do (firmware/setup/access.ts). */
  async function allowed(action: Action): Promise<boolean> {
    return may('ble', await askStage(d.setup), action, session?.proven ? ['pin'] : []);
  }
  return {
    may: allowed,
    async must(action: Action): Promise<void> {
      if (!(await allowed(action))) throw new IngleError('forbidden', 'Prove the PIN of the hub first.');
    },
    /** Who asks, for the ladder: a central that has proved nothing does not keep setup open. */
    who: () => (session?.proven ? 'ble' : ''),
    proven: () => (session?.proven ? session : undefined),
    reset(): void {
      session = undefined;
    },
    /** The session of the present window of setup. */
    async begin(): Promise<ReturnType<typeof hubSession>> {
      const secrets = await d.setup.Secrets({});
      if (session && window === secrets.window) return session;
      window = secrets.window;
      session = hubSession({
        window,
        pin: async () => secrets.pin,
        async take() {
          const { wait_s } = await d.setup.TakeTry({ channel: 'ble' });
          if (wait_s > 0) {
            const message = translator(setupTexts, d.language)('pin_wait', {
              wait: waitText(wait_s, d.language),
            });
            throw new IngleError('rate_limited', message, { retry_after: wait_s });
          }
        },
        ended: async (right) => void (await d.setup.TryEnded({ channel: 'ble', right })),
      });
      return session;
    },
  };
}

/** The lists a central may read. */
function listsOf({ setup }: BleDeps, { must, who }: ReturnType<typeof createSession>) {
  return {
    async devices(): Promise<unknown> {
      await must('look');
      const { sinks, sources } = await setup.AudioDevices({ channel: who() });
      const short = (list: typeof sinks) => list.map(({ id, name, type }) => ({ id, name, type }));
      return { sinks: short(sinks), sources: short(sources) };
    },
    async networks(fresh: boolean): Promise<unknown> {
      await must('look');
      const { networks, age_s } = await setup.WifiScan({ channel: who(), fresh }, 40_000);
      return { age_s, networks };
    },
  };
}

/** Lists that are read one piece after another; a new list begins when the last piece is out. */
function createPages() {
  const pending = new Map<string, Uint8Array[]>();
  return {
    async next(to: string, make: () => Promise<unknown>): Promise<Uint8Array> {
      let pieces = pending.get(to);
      if (!pieces || pieces.length === 0) pieces = toPieces(await make(), 180);
      const first = pieces.shift()!;
      pending.set(to, pieces);
      return first;
    },
    reset: () => pending.clear(),
  };
}
