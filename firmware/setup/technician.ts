// How the console asks for what it has no rights for: a file whose sight starts a root service (ARCHITECTURE D21), and
// the answer in a file beside.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { IngleError } from '../protocol/errors.ts';
import type { Language } from '../text/i18n.ts';

/**
 * Leaves a request in `<runtime>/console` and waits for its answer, which is a text for the person.
 * @throws IngleError `timeout`, or the file system's error where nobody made the folder
 */
export async function askTechnician(
  runtime: string,
  what: 'doctor' | 'selftest' | 'export',
  language: Language,
  withinMs: number,
): Promise<string> {
  const id = crypto.randomUUID();
  const request = join(runtime, 'console', what === 'export' ? 'export.json' : 'request.json');
  // The other side takes it away: never half of it.
  writeFileSync(`${request}.${id}`, JSON.stringify({ id, what, language }), { mode: 0o640 });
  renameSync(`${request}.${id}`, request);
  for (const end = Date.now() + withinMs; Date.now() < end; ) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    try {
      const reply = JSON.parse(readFileSync(join(runtime, 'technician', 'reply.json'), 'utf8')) as {
        id: string;
        text: string;
      };
      if (reply.id === id) return reply.text;
    } catch {
      // Not there yet.
    }
  }
  throw new IngleError('timeout', 'No answer.');
}
