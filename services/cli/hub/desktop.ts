// `ingle desktop`: the desktop scenario document, by the local API.
import { fromUtf8 } from '../../../firmware/protocol/bytes.ts';
import type { Say } from '../say.ts';
import type { At } from './ask.ts';
import { jsonAsker } from './ask.ts';
import { callApi, readBody } from './call.ts';

const path = '/api/desktop';

export const showDesktop = (at: At, say: Say) => callApi(at, { method: 'GET', path, query: [] }, say);
export const resetDesktop = (at: At, say: Say) => callApi(at, { method: 'DELETE', path, query: [] }, say);

/** A file as `showDesktop` prints it replaces what that was read from; a document alone, whatever is there. */
export async function setDesktop(at: At, file: string, say: Say): Promise<void> {
  const given = JSON.parse(fromUtf8(await readBody(file, say))) as Record<string, unknown>;
  const isShown = Object.hasOwn(given, 'document') && Object.hasOwn(given, 'etag');
  const { etag } = isShown ? given : await jsonAsker(at, say)<{ etag: string }>('GET', path);
  const document = isShown ? given['document'] : given;
  await callApi(at, { method: 'PUT', path, query: [], json: { document, etag } }, say);
}
