// This browser's static X25519 key: made once, kept in IndexedDB.
import { generate, type KeyPair, restore } from '../firmware/protocol/noise/x25519.ts';
import { read, write } from './database.ts';

/** @throws Trouble when the browser does not keep it. */
export async function browserKey(): Promise<KeyPair> {
  const kept = await read('keys', 'browser');
  if (kept) return restore(kept);
  const made = await generate();
  await write('keys', 'browser', made.stored);
  return made;
}
