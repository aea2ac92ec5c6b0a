// `ingle technician`: does for the console what it has no rights for. ingle-serial leaves a request in its folder,
// at the sight of it systemd runs this as root, and the answer lies in /run/ingle/technician.
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toIngleError } from '../../firmware/protocol/errors.ts';
import type { Language } from '../../firmware/protocol/text/i18n.ts';
import { doctor } from './doctor.ts';
import { exportJournal } from './journal.ts';
import type { Here } from './place.ts';
import type { Say } from './say.ts';
import { selftest } from './selftest.ts';

/** Answers the request of `runtime`, if there is one. */
export async function technician(p: Here, say: Say, language: Language): Promise<void> {
  const { runtime } = p.config;
  const file = join(runtime, 'console', 'request.json');
  let request: { id?: unknown; what?: unknown };
  try {
    request = JSON.parse(readFileSync(file, 'utf8')) as typeof request;
  } catch {
    request = {};
  }
  // Away first: what cannot be done is not to be tried for ever.
  rmSync(file, { force: true });
  const { id, what } = request;
  if (typeof id !== 'string' || !/^[\w-]{1,64}$/.test(id)) return;
  let text = '';
  const aloud: Say = {
    ...say,
    event: () => {},
    line(line) {
      text += `${line}\n`;
    },
  };
  try {
    if (what === 'doctor') await doctor(p, aloud, language);
    else if (what === 'export') await exportJournal(p, 'usb', aloud, language);
    else if (what === 'selftest') await selftest(p, aloud, language);
  } catch (e) {
    text += `${toIngleError(e).message}\n`;
  }
  const out = join(runtime, 'technician');
  mkdirSync(out, { recursive: true });
  const reply = join(out, 'reply.json');
  writeFileSync(`${reply}.new`, JSON.stringify({ id, text }));
  chmodSync(`${reply}.new`, 0o644);
  renameSync(`${reply}.new`, reply);
}
