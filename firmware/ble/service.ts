// The BLE setup service: seven characteristics over io.ingle.Setup1. No radio here.
import { utf8 } from '../protocol/bytes.ts';
import { IngleError, toIngleError } from '../protocol/errors.ts';
import { shape } from '../protocol/json.ts';
import { type Action, askStage, may } from '../setup/access.ts';
import type { setup1 } from '../setup/contract.ts';
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
  let session: ReturnType<typeof hubSession> | undefined;
  let window = '';
  let creds = assembler();
  let select = assembler();
  // Reads answer one piece after another; a new list begins when the last piece is out.
  const pending = new Map<string, Uint8Array[]>();

  function send(to: string, message: unknown): void {
    for (const piece of toPieces(message, d.size(to))) d.notify(to, piece);
  }
  /** What this central may do (firmware/setup/access.ts). */
  async function allowed(action: Action): Promise<boolean> {
    return may('ble', await askStage(d.setup), action, session?.proven ? ['pin'] : []);
  }
  async function must(action: Action): Promise<void> {
    if (!(await allowed(action))) throw new IngleError('forbidden', 'Prove the PIN of the hub first.');
  }
  /** Who asks, for the ladder: a central that has proved nothing does not keep setup open. */
  const who = () => (session?.proven ? 'ble' : '');
  const say = (message: unknown) => send(setupUuid.result, message);

  async function begin(): Promise<ReturnType<typeof hubSession>> {
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
  }

  /** Takes a piece; whole messages of the handshake are answered, sealed ones opened and handed on. */
  async function take(
    piece: Uint8Array,
    assemble: ReturnType<typeof assembler>,
    act: (m: Record<string, unknown>) => Promise<void>,
  ): Promise<void> {
    try {
      const message = assemble(piece);
      if (!message) return;
      const s = await begin();
      if (message['t'] !== 'sealed') {
        say(await s.receive(message));
        if (s.proven) d.used();
        if (s.proven && (await allowed('secrets')))
          say(await s.sealer.seal({ event: 'softap', ...(await accessPoint()) }));
        // A hub with a cable has a network already: pairing is the next step.
        if (s.proven && (await online())) void link();
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

  async function accessPoint(): Promise<{ ssid: string; psk: string }> {
    const { ssid, psk } = await d.setup.Secrets({});
    return { ssid, psk };
  }

  async function online(): Promise<boolean> {
    const { detail } = await d.setup.Status({});
    return detail.online;
  }

  /** The next piece of a list that is read in pieces. */
  async function page(to: string, make: () => Promise<unknown>): Promise<Uint8Array> {
    let pieces = pending.get(to);
    if (!pieces || pieces.length === 0) pieces = toPieces(await make(), 180);
    const first = pieces.shift()!;
    pending.set(to, pieces);
    return first;
  }

  async function networks(fresh: boolean): Promise<unknown> {
    await must('look');
    const { networks, age_s } = await d.setup.WifiScan({ channel: who(), fresh }, 40_000);
    return { age_s, networks };
  }

  const service: Service = {
    uuid: setupUuid.service,
    characteristics: [
      {
        uuid: setupUuid.deviceInfo,
        async read() {
          const s = await d.setup.Status({});
          return utf8(JSON.stringify({ ...d.device, status: s.state }));
        },
      },
      {
        uuid: setupUuid.audioList,
        read: () =>
          page(setupUuid.audioList, async () => {
            await must('look');
            const { sinks, sources } = await d.setup.AudioDevices({ channel: who() });
            const short = (list: typeof sinks) => list.map(({ id, name, type }) => ({ id, name, type }));
            return { sinks: short(sinks), sources: short(sources) };
          }),
      },
      {
        uuid: setupUuid.selectAudio,
        write: (piece) =>
          take(piece, select, async (m) => {
            await must('audio');
            const { sink_id, source_id } = shape(m, { sink_id: 'string', source_id: 'string' });
            await d.setup.AudioSelect({ channel: 'ble', sink_id, source_id });
            say({ event: 'audio_selected' });
          }),
      },
      {
        uuid: setupUuid.wifiScan,
        notifies: true,
        read: () => page(setupUuid.wifiScan, () => networks(false)),
        // A write of any byte asks for a fresh scan, whose result is notified.
        async write() {
          send(setupUuid.wifiScan, await networks(true));
        },
      },
      {
        uuid: setupUuid.wifiCreds,
        write: (piece) =>
          take(piece, creds, async (m) => {
            await must('join');
            const { ssid, psk, hidden } = shape(m, { ssid: 'string', psk: 'string?', hidden: 'boolean?' });
            await d.setup.WifiConnect({ channel: 'ble', ssid, psk: psk ?? '', hidden: hidden ?? false });
          }),
      },
      { uuid: setupUuid.result, notifies: true },
      {
        uuid: setupUuid.oneTimePin,
        // Readable by anybody, so it is the window's id and authorises nothing: the PIN itself is shown and spoken by the hub.
        async read() {
          return utf8((await d.setup.Secrets({})).window);
        },
      },
    ],
  };

  return {
    service,
    reset() {
      session = undefined;
      creds = assembler();
      select = assembler();
      pending.clear();
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

  /** After the network: where the person goes on. Sealed, as it lets a browser in. */
  async function link(): Promise<void> {
    if (!session?.proven || !(await allowed('pair'))) return;
    const p = await d.setup.PairingLink({}, 30_000).catch(() => undefined);
    if (p) say(await session.sealer.seal({ event: 'pairing', link: p.link }));
  }
}
