// `ingle skill new`: a folder with a skill that builds, tests and packs.
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isSkillId } from '../../../firmware/documents/key.ts';
import { IngleError } from '../../../firmware/protocol/errors.ts';
import type { Say } from '../say.ts';
import { plain } from '../show.ts';
import type { DevText } from './text.ts';

/** Names that the template cannot have where it lies. */
const renamed: Record<string, string> = { 'test.ts': 'skill.test.ts', gitignore: '.gitignore' };

/** Where the SDK lies: beside this bundle, or where a checkout builds it. @throws IngleError `not_supported` */
export function sdkFolder(t: DevText): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const found = ['../../sdk', '../../../dist/sdk']
    .map((f) => resolve(here, f))
    .find((f) => existsSync(join(f, 'package.json')));
  if (!found) throw new IngleError('not_supported', t('noSdk'));
  return found;
}

/** Lets editors and compilers find the SDK, and Node's types, without a registry. */
export function linkSdk(folder: string, sdk: string): void {
  const all = { '@ingle/skill-sdk': sdk, '@types/node': resolve(sdk, '../../node_modules/@types/node') };
  for (const [name, target] of Object.entries(all)) {
    const link = join(folder, 'node_modules', name);
    if (!existsSync(target) || lstatSync(link, { throwIfNoEntry: false })) continue;
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(target, link, 'dir');
  }
}

/** @throws IngleError `invalid_request`, `conflict` for a folder that is there, `unavailable`, `not_supported` */
export function newSkill(name: string, say: Say, t: DevText): void {
  const id = name.replaceAll('-', '_');
  if (!isSkillId(id)) throw new IngleError('invalid_request', t('badName', { name: plain(name, 60) }));
  const sdk = sdkFolder(t);
  const folder = resolve(name);
  const title = `${id[0]!.toUpperCase()}${id.slice(1)}`.replaceAll('_', ' ');
  try {
    mkdirSync(folder);
    for (const file of readdirSync(join(sdk, 'template'))) {
      const text = readFileSync(join(sdk, 'template', file), 'utf8');
      writeFileSync(
        join(folder, renamed[file] ?? file),
        text.replaceAll('my_skill', id).replaceAll('My skill', title),
      );
    }
    linkSdk(folder, sdk);
  } catch (e) {
    const { code, message } = e as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new IngleError('conflict', t('taken', { folder }));
    throw new IngleError('unavailable', t('notMade', { folder, why: message }));
  }
  say.event({ folder, id });
  say.line(t('made', { folder }));
  say.line(t('next', { folder: name }));
}
