// Reads a device file: YAML, checked, with every fault named by file, line, path and what is allowed there.
//   npm run image -- device <name or file>     checks it and prints the device.json it makes
//   npm run image -- secret                    asks for a console secret and prints its hash
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { checkDevice, type Device } from '../firmware/device/device.ts';
import { IngleError } from '../firmware/protocol/errors.ts';
import { hashSecret } from '../firmware/setup/console-secret.ts';

export interface DeviceFile {
  /** The file's name without its ending. */
  name: string;
  file: string;
  device: Device;
  /** CAs trusted for updates, PEM, as the device file names them; empty: the builder's own. */
  keyring: string;
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
  const { device, faults } = parseDevice(readFileSync(file, 'utf8'), file);
  const pem: string[] = [];
  for (const key of device.update.keys) {
    const at = join(dirname(file), key);
    if (!existsSync(at)) faults.push(`${file}: update.keys: there is no ${at}`);
    else if (!/-----BEGIN CERTIFICATE-----/.test(readFileSync(at, 'utf8')))
      faults.push(`${file}: update.keys: ${at} holds no certificate`);
    else if (/PRIVATE KEY-----/.test(readFileSync(at, 'utf8')))
      faults.push(`${file}: update.keys: ${at} holds a private key, which belongs in no image`);
    else pem.push(readFileSync(at, 'utf8').trim());
  }
  if (faults.length > 0) throw new IngleError('invalid_request', faults.join('\n'), { faults });
  const keyring = pem.length > 0 ? `${pem.join('\n')}\n` : '';
  return { name: basename(file).replace(/\.ya?ml$/, ''), file, device, keyring };
}

/** The device of a YAML text, and its faults as `file:line: path: what is wrong`. */
export function parseDevice(text: string, file: string): { device: Device; faults: string[] } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, version: '1.2' });
  const at = (offset: number) => `${file}:${lines.linePos(offset).line}`;
  const faults = [...document.errors, ...document.warnings].map(
    (e) => `${at(e.pos[0])}: ${e.message.split('\n')[0]!.replace(/ at line .*/, '')}`,
  );
  const { device, issues } = checkDevice(faults.length > 0 ? {} : document.toJS({ maxAliasCount: 0 }));
  if (faults.length === 0)
    for (const { path, says } of issues)
      faults.push(`${at(offsetOf(document.contents, path))}: ${path === '' ? '' : `${path} `}${says}`);
  return { device, faults };
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
