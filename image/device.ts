// Reads a device file: YAML, checked, with every fault named by file, line, path and what is allowed there.
//   npm run image -- device <name or file>     checks it and prints the device.json it makes
//   npm run image -- secret                    asks for a console secret and prints its hash
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from 'yaml';
import { checkDevice, type Device } from '../firmware/device/device.ts';
import { IngleError } from '../firmware/protocol/errors.ts';
import { hashSecret } from '../firmware/setup/console-secret.ts';
import { suite } from './packages.ts';

export interface DeviceFile {
  /** The file's name without its ending. */
  name: string;
  file: string;
  device: Device;
  /** CAs trusted for updates, PEM, as the device file names them; empty: the builder's own. */
  keyring: string;
  /** Where the value of a path stands, `file:line`. */
  at(path: string): string;
}

/** Where the root has the device's description. */
export const devicePath = 'usr/share/ingle/device.json';

/** The file of `wanted`: a path, or the name of one in image/devices. @throws IngleError `not_found` */
export function findDevice(top: string, wanted: string): string {
  const folder = join(top, 'image/devices');
  const tries = [join(folder, `${wanted}.yaml`), resolve(wanted)];
  const found = tries.find((f) => /\.ya?ml$/.test(f) && existsSync(f));
  if (found) return found;
  const names = readdirSync(folder).filter((f) => f.endsWith('.yaml'));
  throw new IngleError(
    'not_found',
    `There is no device "${wanted}". Give a .yaml file, or one of: ${names.map((f) => basename(f, '.yaml')).join(', ')}.`,
  );
}

/** @throws IngleError `invalid_request` with a line for every fault */
export function readDevice(file: string): DeviceFile {
  const { device, faults, at: lineOf } = parseDevice(readFileSync(file, 'utf8'), file);
  const pem: string[] = [];
  for (const [i, key] of device.update.keys.entries()) {
    const at = join(dirname(file), key);
    const path = `update.keys[${i}]`;
    if (!existsSync(at)) faults.push(`${lineOf(path)}: ${path}: there is no ${at}`);
    else if (!/-----BEGIN CERTIFICATE-----/.test(readFileSync(at, 'utf8')))
      faults.push(`${lineOf(path)}: ${path}: ${at} holds no certificate`);
    else if (/PRIVATE KEY-----/.test(readFileSync(at, 'utf8')))
      faults.push(`${lineOf(path)}: ${path}: ${at} holds a private key, which belongs in no image`);
    else pem.push(readFileSync(at, 'utf8').trim());
  }
  if (faults.length > 0) throw new IngleError('invalid_request', faults.join('\n'), { faults });
  const keyring = pem.length > 0 ? `${pem.join('\n')}\n` : '';
  return { name: basename(file).replace(/\.ya?ml$/, ''), file, device, keyring, at: lineOf };
}

/** Bytes and open brackets of a device file: ten times what one with every field has. More would take the reader minutes. */
const most = { bytes: 16 * 1024, depth: 100, faults: 50 };

/** What is too much of a text to be read at all, or undefined. */
function excess(text: string): string | undefined {
  const bytes = Buffer.byteLength(text);
  if (bytes > most.bytes) return `a device file has at most ${most.bytes} bytes; this one has ${bytes}`;
  // Groups and lists open by a bracket each, or by a sign at the start of a line.
  if ((text.match(/[[{]/g)?.length ?? 0) > 2 * most.depth || /^([ \t]*[-?:][ \t]){100}/m.test(text))
    return `a device file is at most ${most.depth} groups deep`;
  return undefined;
}

/**
 * The device of a YAML text, its faults as `file:line: path: what is wrong`, and where a path's value stands
 * (`file:line`). A text of any making is judged within a second.
 */
export function parseDevice(
  text: string,
  file: string,
): { device: Device; faults: string[]; at(path: string): string } {
  const lines = new LineCounter();
  const tooMuch = excess(text);
  // Keys are compared below, as the library compares each with each.
  const document = parseDocument(tooMuch ? '' : text, {
    lineCounter: lines,
    version: '1.2',
    uniqueKeys: false,
    // Each fault would get a copy of its line, however long that is.
    prettyErrors: false,
  });
  const lineOf = (offset: number) => `${file}:${lines.linePos(offset).line || 1}`;
  const at = (path: string) => lineOf(offsetOf(document.contents, path));
  const faults = tooMuch
    ? [`${file}:1: ${tooMuch}`]
    : [...document.errors, ...document.warnings].map(
        (e) => `${lineOf(e.pos[0])}: ${e.message.split('\n')[0]!}`,
      );
  if (faults.length === 0)
    faults.push(...strange(document).map(([offset, says]) => `${lineOf(offset)}: ${says}`));
  const { device, issues } = checkDevice(faults.length > 0 ? {} : document.toJS({ maxAliasCount: 0 }));
  if (faults.length === 0)
    for (const { path, says } of issues.slice(0, most.faults))
      faults.push(`${at(path)}: ${path === '' ? '' : `${path} `}${says}`);
  if (issues.length > most.faults) faults.push(`${file}: and ${issues.length - most.faults} more`);
  return { device, faults: faults.slice(0, most.faults + 1), at };
}

/** What YAML allows and a device file has not: aliases, by which ten lines may mean a billion, and a key twice. */
function strange(document: Document): [offset: number, says: string][] {
  const out: [number, string][] = [];
  visit(document, {
    Alias: (_, node) =>
      void out.push([
        node.range?.[0] ?? 0,
        `*${node.source} is an alias: write its value out, a device file has none`,
      ]),
    Map: (_, node) => {
      const seen = new Set<unknown>();
      for (const { key } of node.items) {
        const name = isScalar(key) ? key.value : key;
        if (seen.has(name))
          out.push([(key as Node).range?.[0] ?? 0, `${name} stands there twice: keys are unique`]);
        seen.add(name);
      }
    },
  });
  return out;
}

/** Where the value of a path stands; of one that is not there, its nearest group. */
function offsetOf(root: Node | null, path: string): number {
  let node: unknown = root;
  let offset = 0;
  for (const part of path.split(/[.[\]]+/).filter(Boolean)) {
    let next: unknown;
    if (isSeq(node)) next = node.items[Number(part)];
    else if (isMap(node)) {
      const pair = node.items.find((p) => isScalar(p.key) && String(p.key.value) === part);
      const key = pair?.key as Node | undefined;
      offset = key?.range?.[0] ?? offset;
      next = pair?.value;
    }
    if (!next) break;
    if (isSeq(node)) offset = (next as Node).range?.[0] ?? offset;
    node = next;
  }
  return offset;
}

/**
 * What a build says of packages and modules that do not exist, as faults of the device file that names them.
 * @param e with `details.packages` or `details.modules`; any other is given back
 */
export function faultsOf(d: DeviceFile, e: unknown): unknown {
  if (!(e instanceof IngleError)) return e;
  const faults: string[] = [];
  for (const field of ['packages', 'firmware', 'modules'] as const) {
    const unknown = e.details?.[field === 'modules' ? 'modules' : 'packages'];
    for (const [i, name] of d.device[field].entries())
      if (Array.isArray(unknown) && unknown.includes(name)) {
        const what =
          field === 'modules' ? 'the kernel has no such module' : `Debian ${suite} has no such package`;
        faults.push(`${d.at(`${field}[${i}]`)}: ${field}[${i}] is ${JSON.stringify(name)}: ${what}`);
      }
  }
  return faults.length > 0 ? new IngleError('invalid_request', faults.join('\n'), { faults }) : e;
}

/** The text of device.json: one top-level field a line, as shell scripts of the boot read it too. */
export function deviceJson(device: Device): string {
  const fields = Object.entries(device).map(([k, v]) => `  ${JSON.stringify(k)}: ${JSON.stringify(v)}`);
  return `{\n${fields.join(',\n')}\n}\n`;
}

/** `npm run image -- device …` and `-- secret`. */
export async function runDevice(top: string, args: readonly string[]): Promise<void> {
  const { device, keyring } = readDevice(findDevice(top, args[0] ?? 'generic'));
  const cas = keyring.match(/BEGIN CERTIFICATE/g)?.length ?? 0;
  process.stderr.write(`The device file is good${cas > 0 ? `; ${cas} CAs are trusted for updates` : ''}.\n`);
  process.stdout.write(deviceJson(device));
}

/** Reads a secret from stdin and prints its hash for `console.secret`. @throws IngleError `invalid_request` */
export async function runSecret(): Promise<void> {
  if (process.stdin.isTTY) process.stderr.write('Console secret, then Enter: ');
  let given = '';
  for await (const piece of process.stdin) {
    given += String(piece);
    if (given.includes('\n')) break;
  }
  const secret = given.split(/\r?\n/)[0] ?? '';
  if (secret.length < 6)
    throw new IngleError('invalid_request', 'A console secret has at least 6 characters.');
  process.stdout.write(`${await hashSecret(secret)}\n`);
}
