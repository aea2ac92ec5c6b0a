// `ingle skill build` and `test`: a skill's sources as one file, by esbuild.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { BuildOptions, Message, Metafile } from 'esbuild';
import { IngleError } from '../../../firmware/protocol/errors.ts';
import { checkManifest, type Manifest } from '../../../firmware/skills/manifest.ts';
import { writeWhole } from '../../../firmware/system/atomic.ts';
import { start } from '../../../firmware/system/exec.ts';
import type { Say } from '../say.ts';
import { plain } from '../show.ts';
import { appIn } from './app.ts';
import { linkSdk, sdkFolder } from './new.ts';
import type { DevText } from './text.ts';

/** What a skill's file is built with; the SDK is found without being installed. */
async function bundle(o: BuildOptions, t: DevText) {
  const sdk = sdkFolder(t);
  const esbuild = await import('esbuild').catch(() => {
    throw new IngleError('not_supported', t('noSdk'));
  });
  try {
    return await esbuild.build({
      ...{
        bundle: true,
        format: 'esm',
        platform: 'node',
        target: 'node20',
        logLevel: 'silent',
        metafile: true,
      },
      alias: { '@ingle/skill-sdk/test': join(sdk, 'test.js'), '@ingle/skill-sdk': join(sdk, 'index.js') },
      ...o,
    });
  } catch (e) {
    const errors = (e as { errors?: Message[] }).errors ?? [];
    const lines = errors.slice(0, 20).map(({ location: at, text }) => {
      const where = at ? `${at.file}:${at.line}:${at.column + 1}: ` : '';
      return `  ${plain(`${where}${text}`, 500)}`;
    });
    // One slip may be told for each place that imports the file.
    const why = [...new Set(lines)].join('\n');
    throw new IngleError('invalid_request', t('failed', { why: why || plain(String(e), 500) }));
  }
}

/** The manifest of a skill's folder, checked. @throws IngleError `not_found`, `invalid_request` */
export function manifestIn(folder: string, t: DevText): Manifest {
  const file = join(folder, 'manifest.json');
  if (!existsSync(file)) throw new IngleError('not_found', t('noManifest', { folder }));
  if (!existsSync(join(folder, 'skill.ts'))) throw new IngleError('not_found', t('noSource', { folder }));
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (e) {
    throw new IngleError('invalid_request', t('badJson', { file, why: plain((e as Error).message, 300) }));
  }
  return checkManifest(value);
}

/** What the one file exports, and what of Node's it does not find on a hub. */
function checkOutput({ outputs }: Metafile, folder: string, t: DevText): void {
  const [made] = Object.values(outputs);
  if (!made?.exports.includes('skill'))
    throw new IngleError('invalid_request', t('noSkill', { file: join(folder, 'skill.ts') }));
  const foreign = made.imports.filter((i) => i.external && !i.path.startsWith('node:')).map((i) => i.path);
  // Old names of Node's own modules have no "node:".
  const unknown = foreign.filter((path) => !process.getBuiltinModule?.(path));
  if (unknown.length > 0)
    throw new IngleError('invalid_request', t('foreign', { modules: unknown.join(', ') }));
}

/**
 * The bundle as CommonJS, which a hub starts sooner (firmware/skills/load.ts). One that waits at its top level, asks for
 * its own address or imports on demand stays the module it is.
 */
async function started(module: Uint8Array): Promise<string> {
  const text = Buffer.from(module).toString();
  if (/\bimport\s*(?:\.\s*meta\b|\()/.test(text)) return text;
  const { transform } = await import('esbuild');
  const made = await transform(text, {
    ...{ format: 'cjs', platform: 'node', target: 'node20', logLevel: 'silent' },
    // A module is strict.
    banner: "'use strict';",
  }).catch(() => undefined);
  return made?.code ?? text;
}

/**
 * Builds a skill into a folder: skill.js and manifest.json, each replaced whole.
 * @param o.entry code in place of skill.ts
 * @param o.manifest in place of the folder's
 */
export async function buildSkill(
  folder: string,
  out: string,
  t: DevText,
  o: { entry?: string; manifest?: Manifest } = {},
): Promise<{ manifest: Manifest; bytes: number }> {
  const manifest = manifestIn(folder, t);
  const app = await appIn(folder, manifest, t);
  const input: BuildOptions = o.entry
    ? { stdin: { contents: o.entry, resolveDir: folder, sourcefile: 'entry.ts', loader: 'ts' } }
    : { entryPoints: [join(folder, 'skill.ts')] };
  const { outputFiles, metafile } = await bundle(
    { ...input, write: false, outfile: join(out, 'skill.js') },
    t,
  );
  checkOutput(metafile!, folder, t);
  const code = await started(outputFiles![0]!.contents);
  const { $schema: _, ...given } = o.manifest ?? manifest;
  // What the app asks of other skills its owner reads in the manifest.
  const shown = app?.contracts
    ? { ...given, permissions: { ...given.permissions, contracts: app.contracts } }
    : given;
  mkdirSync(out, { recursive: true });
  await writeWhole(join(out, 'skill.js'), code, 0o644);
  if (app) await writeWhole(join(out, 'scenario.json'), app.text, 0o644);
  else rmSync(join(out, 'scenario.json'), { force: true });
  await writeWhole(join(out, 'manifest.json'), `${JSON.stringify(shown, null, 2)}\n`, 0o644);
  return { manifest, bytes: Buffer.byteLength(code) };
}

export async function build(what: string, say: Say, t: DevText): Promise<void> {
  const folder = resolve(what);
  const out = join(folder, 'dist');
  const { manifest, bytes } = await buildSkill(folder, out, t);
  const { id, version } = manifest;
  say.event({ folder: out, id, version, bytes });
  say.line(t('built', { out: join(what, 'dist'), id, version, size: Math.ceil(bytes / 1024) }));
}

/** Runs a skill's tests by Node's own runner, whose words go to the terminal. @throws IngleError when one fails */
export async function testSkill(what: string, say: Say, t: DevText): Promise<void> {
  const folder = resolve(what);
  manifestIn(folder, t);
  const files = readdirSync(folder).filter((f) => f.endsWith('.test.ts'));
  if (files.length === 0) throw new IngleError('not_found', t('noTests', { folder: what }));
  linkSdk(folder, sdkFolder(t));
  // Beside the sources, so that stacks and what a test reads are where its author looks for them.
  const out = mkdtempSync(join(folder, 'node_modules/.test-'));
  try {
    const entryPoints = files.map((f) => join(folder, f));
    await bundle({ entryPoints, outdir: out, outExtension: { '.js': '.mjs' }, sourcemap: 'inline' }, t);
    const built = readdirSync(out).map((f) => join(out, f));
    const runner = start(process.execPath, ['--enable-source-maps', '--test', ...built], {
      cwd: folder,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const code = await new Promise<number>((done) => runner.once('close', (c) => done(c ?? 1)));
    say.event({ folder, files, passed: code === 0 });
    if (code !== 0) throw new IngleError('invalid_request', t('testsFailed'));
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}
