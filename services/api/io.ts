// /api/say, /api/io/console/print, and the topics that replace them.
import { audio1 } from '../../firmware/audio/contract.ts';
import { ioApi, ioTopics } from '../../firmware/io/api.ts';
import { plainLine, printRate } from '../../firmware/io/print.ts';
import { topics } from '../../firmware/io/topics.ts';
import { openBucket, rate, take } from '../../firmware/protocol/bucket.ts';
import { checked } from '../../firmware/protocol/endpoint/check.ts';
import type { Sent } from '../../firmware/protocol/endpoint/endpoint.ts';
import { bind, type Handlers } from '../../firmware/protocol/endpoint/router.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import { isAbsent } from '../../firmware/system/bus-errors.ts';
import { readConfig } from '../../firmware/system/config.ts';
import type { Log } from '../../firmware/system/log.ts';
import { pickLanguage } from '../../firmware/text/i18n.ts';
import type { Asked, LocalEndpoint } from './dispatch.ts';
import type { Response } from './http.ts';

/** Texts at once, and a second; those that wait for the ones before them. */
const sayRate = rate(5, 0.5);
const MAX_WAITING = 4;
/** The longest text takes half a minute to speak, and the ones before it as long. */
const SAY_MS = 180_000;

/** @throws IngleError `not_supported` where this hub has no sound */
export const silent = (e: unknown): never => {
  throw isAbsent(e)
    ? new IngleError(
        'not_supported',
        'No sound service runs here. Use a hub with the sound service installed.',
      )
    : e;
};

export async function ioEndpoints(bus: Bus, log: Log): Promise<LocalEndpoint[]> {
  const audio = bus.client(audio1);
  const own = readConfig().language;
  const saying = openBucket(sayRate, Date.now());
  const lines = openBucket(printRate, Date.now());
  let waiting = 0;

  async function say({ text, lang, sink_id = '' }: Sent<typeof ioApi.say>) {
    if (waiting >= MAX_WAITING || !take(saying, sayRate, Date.now()))
      throw new IngleError('rate_limited', 'The hub has enough to say. Try again when it is silent.', {
        retry_after: 5,
      });
    waiting++;
    try {
      const language = pickLanguage([lang ?? own]);
      const asked = { text, lang: language, slow: false, sink_id };
      const { spoken } = await audio.Say(asked, SAY_MS).catch(silent);
      return { text, lang: language, spoken };
    } finally {
      waiting--;
    }
  }

  await bus.subscribe(topics.speak, (_, payload) => {
    (async () => say(checked(ioTopics[topics.speak].payload, payload)))().catch((cause) =>
      log.info('a text was not spoken', { cause }),
    );
  });

  const handlers: Handlers<typeof ioApi, Asked, Response> = {
    say: ({ body }) => say(body),
    print({ body: { text, level = 'info' } }) {
      const shown = plainLine(text);
      if (shown === '')
        throw new IngleError('invalid_request', '"text" has nothing that can be printed.', {
          pointer: '/text',
        });
      if (!take(lines, printRate, Date.now()))
        throw new IngleError('rate_limited', 'Too many lines; the hub prints one a second.', {
          retry_after: 1,
        });
      bus.publish(topics.print, { text: shown, level });
      return { ok: true };
    },
  };
  return bind(ioApi, handlers);
}
