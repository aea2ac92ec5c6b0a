// What setup says aloud: the window's secrets, and how to pair.
import { openQueue } from '../protocol/queue.ts';
import type { Log } from '../system/log.ts';
import { translator } from '../text/i18n.ts';
import { setupTexts } from '../text/setup.ts';
import { sharedPairing } from './pairing.ts';
import type { Ports } from './ports.ts';
import { type Secrets, spell } from './secrets.ts';
import type { Device, Progress } from './telling.ts';

export type Voice = ReturnType<typeof openVoice>;

export function openVoice(o: {
  ports: Pick<Ports, 'audio' | 'pairing'>;
  device: Device;
  log: Log;
  onProgress: Progress;
  /** When no pairing code was to be had, it is asked for again after this, milliseconds. */
  reannounce: number;
}) {
  const { device, log } = o;
  const t = translator(setupTexts, device.language);
  const pairing = sharedPairing(() => o.ports.pairing(false));
  // What is spoken is spoken one after another.
  const queue = openQueue();
  // When the pairing code may be said next; once it was, not before it is `wanted` anew.
  let due = 0;
  const say = (text: string): Promise<void> =>
    queue.add(() => o.ports.audio.say([{ text, language: device.language }]));
  return {
    /** The code that every channel shows; a new one when that is a minute old. */
    pairing: () => pairing.get(),
    /** The code was used, or burned by wrong tries. */
    spent: () => pairing.drop(),
    async secrets(s: Secrets): Promise<void> {
      // Label secrets are on the device; saying them aloud would give them to the next room for good.
      if (device.label) return;
      await say(t('spoken_secrets', { ssid: s.ssid, psk: spell(s.psk), pin: spell(s.pin) }));
    },
    /** The next announcement is said, whatever was said before. */
    wanted(): void {
      due = 0;
    },
    /** Says and shows, once, how to pair: a hub with a network and no owner is waiting for just that. */
    async announce(signal: AbortSignal): Promise<void> {
      if (performance.now() < due) return;
      due = Number.POSITIVE_INFINITY;
      try {
        const p = await pairing.get();
        if (signal.aborted) return;
        // Everybody hears of progress: the code itself is asked for by whoever may have it.
        o.onProgress('pairing', 'ok', 'pairing_open', {});
        const spoken = t('spoken_pairing', { code: spell(p.device_code), secret: spell(p.secret) });
        void say(spoken).catch((e) => log.info('the pairing code is not spoken', { error: e as Error }));
      } catch (e) {
        log.info('there is no pairing code yet', { error: e as Error });
        due = performance.now() + o.reannounce;
      }
    },
  };
}
