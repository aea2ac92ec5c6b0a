// `ingle skill`: from a folder to a package and back to what it is, where no hub runs.
import { createPublicKey } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { writePublishers } from '../../firmware/skills/publisher-files.ts';
import { nobody, withPublisher, withRevoked } from '../../firmware/skills/publishers.ts';
import { mayDo } from '../../firmware/text/may-do.ts';
import { speaker } from '../../services/cli/say.ts';
import { type SkillCommand, skill } from '../../services/cli/skill/skill.ts';
import { manifest } from '../skills/archive.ts';

const test = suite('ingle skill');
const dir = mkdtempSync(join(tmpdir(), 'ingle-skill-'));
const folder = join(dir, 'lamp');
const [key, out] = [join(dir, 'key.pem'), join(dir, 'lamp.ingle-skill')];
process.env['INGLE_DATA'] = join(dir, 'data');
process.env['INGLE_SKILLS'] = join(dir, 'skills');
test.after(() => rmSync(dir, { recursive: true }));
test.before.each(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'texts'), { recursive: true });
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest()));
  writeFileSync(join(folder, 'skill.js'), 'export const skill = { start() {} };\n');
  writeFileSync(join(folder, 'texts/en.json'), '{}');
});

async function ingle(
  command: SkillCommand,
  what: string,
  values: Record<string, string> = {},
  json = false,
  language: 'en' | 'ru' = 'en',
): Promise<string> {
  let said = '';
  const hear = (t: string) => {
    said += t;
  };
  await skill(command, what, values, speaker({ json, env: { INGLE_LANG: language }, out: hear }), language);
  return said;
}
const events = async (...a: [SkillCommand, string, Record<string, string>?]) =>
  JSON.parse(await ingle(a[0], a[1], a[2] ?? {}, true)) as Record<string, unknown>;
const refused = async (code: string, words: RegExp, ...a: Parameters<typeof ingle>): Promise<void> => {
  try {
    await ingle(...a);
  } catch (e) {
    assert.is((e as IngleError).code, code, (e as Error).stack);
    assert.match((e as Error).message, words);
    return;
  }
  assert.unreachable(`${words}`);
};

test('a key is made, shown and never replaced', async () => {
  const said = await ingle('skill key new', key);
  const shown = await ingle('skill key show', key);
  assert.match(said, shown);
  assert.match(said, 'Keep it secret');
  assert.not.match(said, 'PRIVATE');
  assert.is(statSync(key).mode & 0o777, 0o600);
  const { x } = createPublicKey(readFileSync(key)).export({ format: 'jwk' });
  const { id, key: text } = await events('skill key show', key);
  assert.is(text, x);
  assert.match(shown, String(id));
  await refused('conflict', /stays as it is/, 'skill key new', key);
  await refused('not_found', /no key at/, 'skill key show', join(dir, 'none'));
});

test('a folder becomes a package, which says what it is and what it may do', async () => {
  const { id } = await events('skill key show', key);
  const said = await ingle('skill pack', folder, { key, out });
  assert.match(said, /Packing lamp 1\.2\.0: 3 files, \d+ KiB\n.*signed with the key/);
  assert.match(said, String(id));
  const shown = await ingle('skill show', out);
  assert.match(shown, 'lamp 1.2.0: Lamp');
  assert.match(shown, `${id}, nobody this computer knows`);
  for (const path of ['manifest.json', 'skill.js', 'texts/en.json']) assert.match(shown, `  ${path}\n`);
  assert.match(shown, /screen that the application draws.*\n.*Every paired browser.*\n.*no network/);
  const event = await events('skill show', out);
  assert.is(event['trust'], 'unknown');
  assert.is((event['publisher'] as { id: string }).id, id);
  assert.match(await ingle('skill show', out, {}, false, 'ru'), 'подпись верна');
});

test('before a skill is installed one reads which hosts it fetches from', () => {
  const hosts = ['api.example.org', 'api.example.net'];
  const manifest = { id: 'lamp', version: '1.0.0', capabilities: {}, permissions: { hosts } };
  const said = (language: 'en' | 'ru') => mayDo(manifest, language).join('\n');
  assert.match(said('en'), /these hosts only: api\.example\.org, api\.example\.net\.\n.*no other network/);
  assert.match(said('ru'), /только с этих узлов: api\.example\.org, api\.example\.net\./);
});

test('before a skill is installed one reads that root can read and change its pages, and by default it cannot', () => {
  const said = (pages: 'root' | 'private' | undefined, language: 'en' | 'ru' = 'en') =>
    mayDo({ capabilities: { ui: { schema: 'ui/v0', pages } } }, language).join('\n');
  assert.match(said('root'), /public service, which can then read and change them/);
  assert.match(said('root', 'ru'), /публичный сервис: он может их прочитать и изменить/);
  for (const pages of ['private', undefined] as const) assert.not.match(said(pages), /public service/);
});

test('a hub that knows the publisher says so, and refuses a revoked one', async () => {
  const { key: text } = await events('skill key show', key);
  const c = { data: process.env['INGLE_DATA']!, skills: process.env['INGLE_SKILLS']! };
  const known = withPublisher(nobody, { key: String(text), name: 'Acme' });
  await writePublishers(c, known);
  assert.match(await ingle('skill show', out), /Acme \(.*\), trusted by this hub/);
  await writePublishers(c, withRevoked(known, String(text)));
  await refused('forbidden', /revoked/, 'skill show', out);
  rmSync(c.data, { recursive: true });
});

test('an unsigned package is marked, and signing it later gives the same as signing it at once', async () => {
  const [loose, later] = [join(dir, 'loose'), join(dir, 'later')];
  assert.match(await ingle('skill pack', folder, { out: loose }), 'NOT SIGNED');
  assert.match(await ingle('skill show', loose), 'NOT SIGNED. Anybody');
  assert.is((await events('skill show', loose))['trust'], 'unsigned');
  await ingle('skill sign', loose, { key, out: later });
  await ingle('skill pack', folder, { key, out });
  assert.equal(readFileSync(later), readFileSync(out));
  await refused('invalid_request', /--key wants a value/, 'skill sign', loose, { out: later });
});

test('everything that is wrong with a folder is told at once', async () => {
  const link = join(folder, 'passwd.txt');
  symlinkSync('/etc/passwd', link);
  symlinkSync('/etc', join(folder, 'etc'));
  writeFileSync(join(folder, 'Read\x1b[2JMe'), '');
  const pack = (words: RegExp) => refused('invalid_request', words, 'skill pack', folder, { key, out });
  for (const words of [/passwd\.txt is a link/, /etc is a link/, /Read\[2JMe has a name/]) await pack(words);
  for (const name of ['passwd.txt', 'etc', 'Read\x1b[2JMe', 'skill.js']) rmSync(join(folder, name));
  await pack(/no skill\.js/);
  writeFileSync(join(folder, 'skill.ts'), '');
  await pack(/npm run build.*dist\/skills\/lamp/);
  writeFileSync(join(folder, 'skill.js'), '');
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ ...manifest('Lamp'), 'a\x1b[2J': 1 }));
  await pack(/\/a\[2J is not known here; \/id must be/);
  writeFileSync(join(folder, 'big'), '');
  truncateSync(join(folder, 'big'), 9 * 2 ** 20);
  await pack(/big is larger than 8388608/);
  await refused('not_found', /cannot be read/, 'skill pack', join(dir, 'none'));
  await refused('not_found', /cannot be read/, 'skill pack', key);
});

test('a folder of too many files is left at once', async () => {
  for (let i = 0; i < 600; i++) writeFileSync(join(folder, `f${i}`), '');
  await refused('invalid_request', /more than 512 files/, 'skill pack', folder, { out });
});

test('a package takes the place of a package only, and a failure leaves what was there', async () => {
  const before = readFileSync(key, 'utf8');
  await refused('conflict', /is no package/, 'skill pack', folder, { key, out: key });
  assert.is(readFileSync(key, 'utf8'), before);
  await refused('unavailable', /cannot be written/, 'skill pack', folder, { out: join(dir, 'none/x') });
  await refused('unavailable', /cannot be written/, 'skill pack', folder, { out: dir });
  assert.not(existsSync(`${key}.new`));
});

test('a file that is no package, and one that was changed, are refused', async () => {
  await refused('not_found', /no file/, 'skill show', join(dir, 'none'));
  await refused('unavailable', /cannot be read/, 'skill show', dir);
  await refused('invalid_request', /no package of a skill/, 'skill show', key);
  await ingle('skill pack', folder, { key, out });
  const cut = join(dir, 'cut');
  copyFileSync(out, cut);
  truncateSync(cut, statSync(out).size - 3);
  await refused('invalid_request', /cut off/, 'skill show', cut);
  await refused('invalid_request', /cut off/, 'skill sign', cut, { key, out: join(dir, 'x') });
  assert.not(existsSync(join(dir, 'x')));
});

test.run();
