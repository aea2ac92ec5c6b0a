// Where a setting comes from: its flag, else INGLE_ROOT_* of the environment, else its key in the file of the
// configuration. Whoever reads one is told of a mistake by the name under which it was given.
import { readFileSync, statSync } from 'node:fs';

export interface Settings<Name extends string> {
  /** A text; `otherwise` where none is given, or an empty one. @throws Error with a sentence for the operator */
  text(name: Name, otherwise: string): string;
  /** As `text`, but '' counts as given. @throws Error */
  maybeEmpty(name: Name, otherwise: string): string;
  /** Texts with commas between them, or an array in the file. @throws Error */
  list(name: Name): string[];
  /** A whole number from 0 to `most`. @throws Error */
  whole(name: Name, otherwise: number, most: number): number;
  /** The setting as its operator knows it: `--port`, `--port (INGLE_ROOT_PORT)`, `"port" in /etc/root.json`. */
  said(name: Name): string;
}

const PREFIX = 'INGLE_ROOT_';
const variable = (name: string) => PREFIX + name.toUpperCase().replaceAll('-', '_');

/** The variable that names the file; the file itself cannot. */
export const CONFIG_VARIABLE = `${PREFIX}CONFIG`;

/**
 * @param names of all settings
 * @param flags as the command line has them
 * @param file path of a JSON object whose keys are the names; '' for none
 * @throws Error with a sentence for the operator: an unknown variable or key, or a file that cannot be used
 */
export function openSettings<Name extends string>(
  names: readonly Name[],
  flags: Readonly<Record<string, string | boolean | undefined>>,
  env: NodeJS.ProcessEnv,
  file: string,
): Settings<Name> {
  const known = new Set([CONFIG_VARIABLE, ...names.map(variable)]);
  // A misspelt variable that is passed over would start root on another database than its operator meant.
  for (const name of Object.keys(env))
    if (name.startsWith(PREFIX) && !known.has(name))
      throw new Error(`${name} in the environment is no setting of root. --help lists all.`);
  const keys = file === '' ? {} : keysOf(file, names);

  /** What was given, and what its operator calls it. */
  function given(name: Name): { value: unknown; said: string; isFile?: true } {
    const [flag, inEnv] = [flags[name], env[variable(name)]];
    if (flag !== undefined) return { value: flag, said: `--${name}` };
    if (inEnv !== undefined) return { value: inEnv, said: `--${name} (${variable(name)})` };
    if (Object.hasOwn(keys, name)) return { value: keys[name], said: `"${name}" in ${file}`, isFile: true };
    return { value: undefined, said: `--${name}` };
  }
  function maybeEmpty(name: Name, otherwise: string): string {
    const { value = otherwise, said } = given(name);
    if (typeof value !== 'string') throw new Error(`${said} must be a string.`);
    return value;
  }
  const text = (name: Name, otherwise: string) => maybeEmpty(name, otherwise) || otherwise;
  return {
    said: (name) => given(name).said,
    text,
    maybeEmpty,
    list(name) {
      const { value, said } = given(name);
      const all: unknown[] = Array.isArray(value) ? value : text(name, '').split(',');
      if (!all.every((a) => typeof a === 'string')) throw new Error(`${said} must be a list of strings.`);
      return all.map((a) => a.trim()).filter((a) => a !== '');
    },
    whole(name, otherwise, most) {
      const { value, said, isFile } = given(name);
      // JSON has numbers; a flag and a variable are texts, and an empty one is none.
      const n = isFile ? value : Number(value || otherwise);
      if (typeof n !== 'number' || !Number.isInteger(n) || n < 0 || n > most)
        throw new Error(`${said} must be a whole number from 0 to ${most}.`);
      return n;
    },
  };
}

/** The file's object. @throws Error naming file and key; no value of the file is in it */
function keysOf(file: string, names: readonly string[]): Record<string, unknown> {
  let words: string;
  let mode: number;
  try {
    mode = statSync(file).mode;
    words = readFileSync(file, 'utf8');
  } catch (e) {
    throw new Error(`The configuration ${file} cannot be read (${(e as NodeJS.ErrnoException).code}).`);
  }
  let keys: unknown;
  try {
    keys = JSON.parse(words);
  } catch {
    // The parser's own words repeat what stands in the file.
    throw new Error(`The configuration ${file} is not JSON.`);
  }
  if (typeof keys !== 'object' || keys === null || Array.isArray(keys))
    throw new Error(`The configuration ${file} must be a JSON object: {"port": 8080}.`);
  for (const [key, value] of Object.entries(keys)) {
    if (!names.includes(key))
      throw new Error(
        `${JSON.stringify(key.slice(0, 40))} in ${file} is no setting of root. --help lists all.`,
      );
    if ((mode & 0o077) !== 0 && hasPassword(value))
      throw new Error(
        `"${key}" in ${file} holds a password, and others may open the file: chmod 600 ${file}`,
      );
  }
  return keys as Record<string, unknown>;
}

/** Whether it is an address that holds a password. */
function hasPassword(value: unknown): boolean {
  return typeof value === 'string' && URL.canParse(value) && new URL(value).password !== '';
}
