// /api/speech/recognize: a recording, passed on to ingle-audio.
import { audioApi } from '../../firmware/audio/api.ts';
import { audio1 } from '../../firmware/audio/contract.ts';
import { utf8 } from '../../firmware/protocol/bytes.ts';
import { bind, type Handlers } from '../../firmware/protocol/endpoint/router.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import type { Asked, LocalEndpoint } from './dispatch.ts';
import type { Response } from './http.ts';
import { silent } from './io.ts';

/** Below the half minute after which the tunnel gives a request up, milliseconds. */
const RECOGNISE_MS = 28_000;

export function speechEndpoints(bus: Bus): LocalEndpoint[] {
  const audio = bus.client(audio1);
  const handlers: Handlers<typeof audioApi, Asked, Response> = {
    async recognize({ query, body, left }) {
      const sound = typeof body === 'string' ? utf8(body) : body;
      if (sound.length === 0)
        throw new IngleError('invalid_request', 'The body is empty. Send a WAV or Ogg Opus file.', {
          pointer: '',
        });
      const language = query.lang ?? 'en';
      const id = crypto.randomUUID();
      const phrases = query.phrases?.split(',').map((p) => p.trim()) ?? [];
      const stop = () => void audio.StopRecognizing({ id }).catch(() => {});
      left?.(stop);
      try {
        const said = await audio
          .Recognize({ id, sound, lang: language, phrases }, RECOGNISE_MS)
          .catch(silent);
        return { text: said.text, language, duration_ms: said.duration_ms };
      } catch (e) {
        // The service may yet be at it.
        if (e instanceof IngleError && e.code === 'timeout') stop();
        throw e;
      } finally {
        sound.fill(0);
      }
    },
  };
  return bind(audioApi, handlers);
}
