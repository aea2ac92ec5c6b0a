// Loads a slot's skill from its bundle, and what stands in for one that is not there or does not load.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';
import { IngleError, toIngleError } from '../protocol/errors.ts';
import type { Config } from '../system/config.ts';
import type { Implementation } from '../system/contract.ts';
import type { skill1 } from './contract.ts';
import type { Manifest } from './manifest.ts';
import type { HubSkill } from './skill.ts';
import type { Slot } from './slots.ts';
import { bundleOf, manifestOf } from './table.ts';

/** Time a bundle may take to load, milliseconds. */
const LOAD_MS = 15_000;

/** Loads a bundle by its path. */
export type Load = (file: string) => Promise<unknown>;

type Run = (
  this: object,
  exports: object,
  require: NodeJS.Require,
  module: { exports: object },
  ...at: [string, string]
) => void;

/**
 * What a bundle exports. CommonJS is run here: Node's loader takes 10 of the 80 ms in which a skill wakes (D116). What
 * does not compile as that is a module, or as wrong as Node will say.
 */
export async function loadBundle(path: string): Promise<unknown> {
  const file = resolve(path);
  let run: Run;
  try {
    const names = ['exports', 'require', 'module', '__filename', '__dirname'];
    // Node before 20.12 has no way to import() from here.
    const importModuleDynamically = vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER;
    const options = { filename: file, importModuleDynamically };
    // A line for a shell is none of a function's.
    const text = readFileSync(file, 'utf8').replace(/^\ufeff?#!/, '//');
    run = vm.compileFunction(text, names, options) as Run;
  } catch (e) {
    if (!(e instanceof SyntaxError)) throw e;
    return import(pathToFileURL(file).href);
  }
  const module = { exports: {} };
  run.call(module.exports, module.exports, createRequire(file), module, file, dirname(file));
  return module.exports;
}

/**
 * The manifest and the code of a slot's skill. The manifest is the file's, never what the code says.
 * @throws IngleError when the bundle is not there, is another's, or has no skill; the code's own error when it throws
 */
export async function loadSkill(
  c: Pick<Config, 'skills' | 'data'>,
  slot: Slot,
  load: Load = loadBundle,
): Promise<{ manifest: Manifest; skill: HubSkill }> {
  const manifest = manifestOf(c, slot);
  const file = join(bundleOf(c, slot), 'skill.js');
  if (!existsSync(file)) throw new IngleError('not_found', `The skill "${slot.skill_id}" has no skill.js.`);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const e = new IngleError('timeout', `The skill "${slot.skill_id}" does not finish loading.`);
    timer = setTimeout(() => reject(e), LOAD_MS);
  });
  const { skill } = (await Promise.race([load(file), late]).finally(() => clearTimeout(timer))) as {
    skill?: Partial<HubSkill>;
  };
  if (typeof skill?.start !== 'function')
    throw new IngleError('invalid_request', `The bundle of "${slot.skill_id}" exports no skill.`);
  return { manifest, skill: skill as HubSkill };
}

/** What a skill answers; that its process leaves is the process's own. */
export type Answers = Omit<Implementation<typeof skill1>, 'Leave'>;

/** Serves what is still being made: calls wait for it. */
export function later(ready: Promise<Answers>): Answers {
  return {
    Manifest: async (...a) => (await ready).Manifest(...a),
    Attach: async (...a) => (await ready).Attach(...a),
    Watch: async (...a) => (await ready).Watch(...a),
    Due: async (...a) => (await ready).Due(...a),
    Kept: async (...a) => (await ready).Kept(...a),
    Told: async (...a) => (await ready).Told(...a),
    Request: async (...a) => (await ready).Request(...a),
  };
}

/** Serves a slot without a skill that works: whoever asks hears why. */
export function refusing(cause: unknown): Answers {
  const refuse = () => {
    throw toIngleError(cause);
  };
  return {
    Manifest: refuse,
    Attach: refuse,
    Watch: refuse,
    Due: refuse,
    Kept: refuse,
    Told: refuse,
    Request: refuse,
  };
}
