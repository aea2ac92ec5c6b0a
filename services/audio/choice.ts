// Which of the connected devices are meant: by id, or the best there is.
import type { Device, Sink } from '../../firmware/audio/device.ts';
import type { Profiles } from '../../firmware/audio/profile.ts';
import { type Pair, type Ranking, rank, type Scored } from '../../firmware/audio/score.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { listDevices } from './sound.ts';

export type Choice = ReturnType<typeof openChoice>;

/** Its functions take the id of a device, or '' for the best, and throw IngleError `not_found`. */
export function openChoice(profiles: Profiles) {
  async function ranking(): Promise<Ranking> {
    return rank(await listDevices(), await profiles.list());
  }
  return {
    ranking,
    async sink(id: string): Promise<Scored<Sink>> {
      return pick((await ranking()).sinks, id, 'sink');
    },
    async source(id: string): Promise<Scored<Device>> {
      return pick((await ranking()).sources, id, 'source');
    },
    async pair(sink: string, source: string): Promise<Pair> {
      const r = await ranking();
      const a = pick(r.sinks, sink, 'sink');
      const b = pick(r.sources, source, 'source');
      return { sink: a.device, source: b.device, score: a.score + b.score };
    },
  };
}

function pick<D extends Device>(list: Scored<D>[], id: string, what: string): Scored<D> {
  const found = id === '' ? (list.find((d) => d.usable) ?? list[0]) : list.find((d) => d.device.id === id);
  if (!found)
    throw new IngleError(
      'not_found',
      id === '' ? `No ${what} is connected.` : `There is no ${what} "${id}". It may have been unplugged.`,
    );
  return found;
}
