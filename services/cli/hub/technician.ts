// `ingle technician`: does for the console what it has no rights for. ingle-serial leaves a request in its folder, at
// the sight of it systemd runs this as root, and the answer lies in /run/ingle/technician. What needs the network and
// what needs a stick are two services, so that neither has all rights.
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toIngleError } from '../../../firmware/protocol/errors.ts';
import { pickLanguage } from '../../../firmware/text/i18n.ts';
import type { Here } from '../place.ts';
import type { Say } from '../say.ts';
import { doctor } from './doctor.ts';
import { exportJournal } from './export.ts';
import { selftest } from './selftest.ts';

/** Answers the request of the runtime folder, if there is one. */
export async function technician(p: Here, say: Say, stick: boolean): Promise<void> {
  const { runtime } = p.config;
  const out = join(runtime, 'technician');
  const file = join(runtime, 'console', stick ? 'export.json' : 'request.json');
  let request: { id?: unknown; what?: unknown; language?: unknown };
  try {
    request = JSON.parse(readFileSync(file, 'utf8')) as typeof request;
  } catch {
    request = {};
  }
  // Away first: what cannot be done is not to be tried for ever.
  rmSync(file, { force: true });
  const { id, what } = request;
  if (typeof id !== 'string' || !/^[\w-]{1,64}$/.test(id)) return;
  const language = pickLanguage([String(request.language ?? p.config.language)]);
  mkdirSync(out, { recursive: true });
  let [text, found] = ['', ''];
  const aloud: Say = {
    ...say,
    event(value) {
      found += `${JSON.stringify(value)}\n`;
    },
    line(line) {
      text += `${line}\n`;
    },
  };
  const findings = join(out, 'doctor.txt');
  try {
    if (stick) {
      const seen = existsSync(findings) ? readFileSync(findings, 'utf8').split('\n') : [];
      await exportJournal(p, 'usb', aloud, language, seen);
    } else if (what === 'selftest') await selftest(p, aloud, language);
    else {
      await doctor(p, aloud, language);
      writeFileSync(findings, found, { mode: 0o600 });
    }
  } catch (e) {
    text += `${toIngleError(e).message}\n`;
  }
  const reply = join(out, 'reply.json');
  writeFileSync(`${reply}.new`, JSON.stringify({ id, text }));
  // The console may read it, and nothing in it is secret.
  chmodSync(`${reply}.new`, 0o644);
  renameSync(`${reply}.new`, reply);
}
