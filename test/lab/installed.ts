// A skill that is not in the image: its bundle below the hub's data, and its slot in the table.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import type { Manifest } from '../../firmware/skills/manifest.ts';
import { assign, parsePins, parseTable, printTable, type Root } from '../../firmware/skills/slots.ts';

const readIf = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');

export interface InstalledSkill {
  manifest: Manifest;
  /** The module that exports `skill`, or its text. */
  code: { file: string } | { text: string };
  /** Other files of its bundle. */
  files?: Record<string, string>;
}

/**
 * Puts a skill where an installer would.
 * @param skills folder of the root's own skills
 * @param data the hub's state
 * @returns its slot
 */
export async function install(skills: string, data: string, s: InstalledSkill): Promise<number> {
  const { id, version } = s.manifest;
  const bundle = `${id}-${version}`;
  const folder = join(data, 'skills/bundles', bundle);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(s.manifest));
  for (const [name, text] of Object.entries(s.files ?? {})) writeFileSync(join(folder, name), text);
  const file = join(folder, 'skill.js');
  if ('text' in s.code) writeFileSync(file, s.code.text);
  else
    await build({
      entryPoints: [s.code.file],
      outfile: file,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      logLevel: 'error',
    });
  const at = join(data, 'skills/slots.json');
  const pins = readIf(join(skills, 'slots.json'));
  const root: Root = { builtin: [], pins: pins ? parsePins(pins) : new Map() };
  const text = readIf(at);
  const table = assign(text ? parseTable(text) : new Map(), root, { skill_id: id, bundle }, '0'.repeat(32));
  mkdirSync(dirname(at), { recursive: true });
  writeFileSync(at, printTable(table));
  return [...table].find(([, row]) => row.state === 'used' && row.skill_id === id)![0];
}
