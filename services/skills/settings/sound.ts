// The screen's part of sound: the devices, the pair in use, and the orders.
import type { audio1 } from '../../../firmware/audio/contract.ts';
import type { Caller } from '../../../firmware/system/contract.ts';
import { type Language, type Localized, localizer } from '../../../firmware/text/i18n.ts';
import { bad } from './body.ts';
import { type Asked, asked, type Devices, type Pair, verdictOf } from './describe.ts';
import type { Tasks } from './task.ts';
import { settingsText } from './texts.ts';
import { ASK_MS, WORK_MS } from './times.ts';

const t = localizer(settingsText);

export function openSound(audio: Caller<typeof audio1>, tasks: Tasks, language: Language) {
  let devices: Asked<Devices> | undefined;
  let pair: Pair = { sink: '', source: '' };
  let note: Localized | '' = '';
  const tell = (text: Localized): void => {
    note = text;
  };

  /** The service is woken for a look of its own, not every few seconds. */
  async function hear(): Promise<void> {
    devices = await asked(audio.Enumerate({}, ASK_MS));
    const used = await audio.LoadProfile({}, ASK_MS).catch(() => undefined);
    const first = 'said' in devices ? devices.said : { sinks: [], sources: [] };
    pair = {
      sink: used?.profile.sink_id ?? first.sinks[0]?.id ?? '',
      source: used?.profile.source_id ?? first.sources[0]?.id ?? '',
    };
  }

  return {
    hear,
    /** Undefined until the service was first asked. */
    devices: () => devices,
    /** The pair in use. */
    pair: () => pair,
    /** What came of the last order. */
    note: () => note,
    /** Uses another device for one of the pair. */
    async choose(of: keyof Pair, id: string): Promise<void> {
      const next = { ...pair, [of]: id };
      await audio.SaveProfile({ sink_id: next.sink, source_id: next.source }, ASK_MS);
      tell(t('pairKept'));
      await hear();
    },
    /** @param percent as it was chosen on the screen */
    async setVolume(percent: string): Promise<void> {
      const volume = Number(percent);
      if (!Number.isInteger(volume) || volume < 0 || volume > 100)
        throw bad('A volume is 0 to 100.', '/value');
      await audio.SetVolume({ sink_id: pair.sink, volume: volume / 100 }, ASK_MS);
      await hear();
    },
    test(): void {
      tasks.begin('test', tell, t('testing'), async () => {
        const end = await audio.Probe({ lang: language, quick: true }, WORK_MS);
        await hear();
        return verdictOf(end);
      });
    },
  };
}
