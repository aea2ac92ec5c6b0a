// The local API of sound: what was said in a recording.
import * as T from 'typebox';
import { localArea } from '../system/local-api.ts';
import { MAX_PHRASE, MAX_PHRASES } from './grammar.ts';
import { MAX_SECONDS, MAX_UPLOAD } from './upload.ts';

export const audioApi = localArea({
  recognize: {
    method: 'POST',
    path: '/api/speech/recognize',
    who: 'owner',
    doc: `Says in words what was said in a recording: a WAV file (PCM, 16 bit, 8 to 96 kHz) or Opus in Ogg, mono or stereo, of at most ${MAX_SECONDS} seconds. It is kept nowhere.`,
    query: {
      phrases: T.String({
        description: `What may have been said, separated by commas: at most ${MAX_PHRASES} phrases of at most ${MAX_PHRASE} characters. Left out, anything may have been, where the hub has a model for it.`,
        minLength: 1,
        maxLength: MAX_PHRASES * (MAX_PHRASE + 1),
      }),
      lang: T.Union([T.Literal('en'), T.Literal('ru')], { description: 'Left out: en.' }),
    },
    body: 'raw',
    maxBody: MAX_UPLOAD,
    answer: T.Object({
      text: T.String({ description: 'Empty where nothing was understood.' }),
      language: T.String(),
      duration_ms: T.Integer(),
    }),
    errors: ['forbidden', 'too_large', 'not_supported', 'timeout', 'conflict'],
    safe: true,
  },
});
