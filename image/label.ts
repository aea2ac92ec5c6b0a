// The factory part of one device and its label.
//   npm run image -- label --device <device> --serial <serial> [--out <folder>] [--into <disk or image>]
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { deflateSync } from 'node:zlib';
import { encode } from 'uqr';
import type { Device } from '../firmware/device/device.ts';
import { checkFactory, type Factory, factoryJson, wifiCode } from '../firmware/device/factory.ts';
import { IngleError } from '../firmware/protocol/errors.ts';
import { makePin, makePsk, ssidOf } from '../firmware/setup/secrets.ts';
import { must } from '../firmware/system/exec.ts';
import { findDevice, readDevice } from './device.ts';

export interface Label {
  factory: Factory;
  /** Name of the access point; empty without secrets. */
  ssid: string;
  svg: string;
  /** The QR code alone, for printers that set the words themselves. */
  png: Buffer;
  text: string;
}

/** Label and factory part of one device. @throws IngleError `invalid_request` for a serial number that is none */
export function makeLabel(device: Device, serial: string): Label {
  const secrets = device.label === 'none' ? { psk: '', pin: '' } : { psk: makePsk(), pin: makePin() };
  const { factory, issues } = checkFactory({ model: device.model, serial, ...secrets });
  if (issues.length > 0)
    throw new IngleError('invalid_request', issues.map((i) => `${i.path} ${i.says}`).join('\n'));
  const ssid = factory.psk === '' ? '' : ssidOf(device.brand.name, serial);
  const rows: [string, string][] = [
    ['Model', device.model],
    ['Serial', serial],
    ...(ssid === ''
      ? []
      : ([
          ['Wi-Fi', ssid],
          ['Password', factory.psk],
          ['PIN', factory.pin],
        ] as [string, string][])),
  ];
  const code = ssid === '' ? serial : wifiCode(ssid, factory.psk);
  const text = [device.brand.name, ...rows.map(([k, v]) => `${`${k}:`.padEnd(10)}${v}`), code].join('\n');
  return { factory, ssid, svg: svg(device.brand.name, rows, code), png: png(code), text: `${text}\n` };
}

/** 62 x 29 mm, the size of common address labels. */
function svg(name: string, rows: readonly [string, string][], code: string): string {
  const esc = (t: string) => t.replace(/[<>&"]/g, (c) => `&#${c.charCodeAt(0)};`);
  const { size, data } = encode(code, { ecc: 'M', border: 2 });
  let path = '';
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) if (data[y]?.[x]) path += `M${x} ${y}h1v1h-1z`;
  const lines = rows.map(
    ([k, v], i) =>
      `<text x="29" y="${10.5 + i * 4}" font-size="2.4">${esc(k)}</text>` +
      `<text x="42" y="${10.5 + i * 4}" font-size="2.8" font-family="monospace" font-weight="bold" textLength="${Math.min(18.5, v.length * 1.7).toFixed(1)}" lengthAdjust="spacingAndGlyphs">${esc(v)}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="62mm" height="29mm" viewBox="0 0 62 29" font-family="sans-serif">
<rect width="62" height="29" fill="#fff"/>
<svg x="1.5" y="1.5" width="26" height="26" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><path d="${path}"/></svg>
<text x="29" y="6" font-size="4" font-weight="bold">${esc(name)}</text>
${lines.join('\n')}
</svg>
`;
}

/** A QR code as PNG (ISO/IEC 15948): grey, 1 bit, 8 pixels a module. */
function png(code: string): Buffer {
  const scale = 8;
  const { size, data } = encode(code, { ecc: 'M', border: 4 });
  const side = size * scale;
  const row = Math.ceil(side / 8);
  const raw = Buffer.alloc((row + 1) * side);
  for (let y = 0; y < side; y++)
    for (let x = 0; x < side; x++) {
      const dark = data[Math.floor(y / scale)]?.[Math.floor(x / scale)] ?? false;
      if (!dark) raw[y * (row + 1) + 1 + (x >> 3)]! |= 0x80 >> (x & 7);
    }
  const chunk = (type: string, body: Buffer) => {
    const out = Buffer.alloc(body.length + 12);
    out.writeUInt32BE(body.length, 0);
    out.write(type, 4, 'latin1');
    body.copy(out, 8);
    out.writeUInt32BE(crc32(out.subarray(4, 8 + body.length)), 8 + body.length);
    return out;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  head[8] = 1;
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(raw, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** CRC of PNG's chunks (ISO/IEC 15948, annex D). */
function crc32(bytes: Uint8Array): number {
  let c = -1;
  for (const b of bytes) {
    c ^= b;
    for (let i = 0; i < 8; i++) c = (c >>> 1) ^ (c & 1 ? 0xedb88320 : 0);
  }
  return ~c >>> 0;
}

/** Writes the file system of the factory partition (erofs, root's alone) to `out`. */
export async function factoryImage(factory: Factory, out: string): Promise<void> {
  const tree = `${out}.d`;
  rmSync(tree, { recursive: true, force: true });
  mkdirSync(tree, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(join(tree, 'factory.json'), factoryJson(factory), { mode: 0o600 });
    await must('mkfs.erofs', ['-T0', '--all-root', '--quiet', out, tree]);
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

/**
 * Writes a factory part into the partition `ingle-factory` of a disk or disk image; what was there is gone.
 * @throws IngleError `not_found` when it has none, `too_large` when the part does not fit
 */
export async function writeInto(disk: string, part: Buffer): Promise<void> {
  const table = JSON.parse((await must('sfdisk', ['--json', disk])).toString()) as {
    partitiontable: { sectorsize?: number; partitions?: { name?: string; start: number; size: number }[] };
  };
  const { sectorsize = 512, partitions = [] } = table.partitiontable;
  const found = partitions.find((p) => p.name === 'ingle-factory');
  if (!found)
    throw new IngleError('not_found', `${disk} has no partition "ingle-factory"; flash the image first.`);
  const size = found.size * sectorsize;
  if (part.length > size)
    throw new IngleError('too_large', `The factory part has ${part.length} bytes, the partition ${size}.`);
  const fd = openSync(disk, 'r+');
  try {
    const whole = Buffer.concat([part], size);
    writeSync(fd, whole, 0, size, found.start * sectorsize);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** `npm run image -- label …` */
export async function runLabel(top: string, args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      device: { type: 'string', default: 'generic' },
      serial: { type: 'string' },
      out: { type: 'string' },
      into: { type: 'string' },
    },
  });
  const { serial } = values;
  if (!serial) throw new IngleError('invalid_request', 'label wants --serial <serial number of the device>.');
  const { device } = readDevice(findDevice(top, values.device));
  const label = makeLabel(device, serial);
  const out = resolve(values.out ?? join(top, 'dist', 'label', `${device.model}-${serial}`));
  mkdirSync(out, { recursive: true, mode: 0o700 });
  const put = (name: string, data: string | Buffer) => writeFileSync(join(out, name), data, { mode: 0o600 });
  put('factory.json', factoryJson(label.factory));
  put('label.svg', label.svg);
  put('label.png', label.png);
  put('label.txt', label.text);
  await factoryImage(label.factory, join(out, 'factory.img'));
  if (values.into) await writeInto(values.into, readFileSync(join(out, 'factory.img')));
  process.stdout.write(`${label.text}\n${out}\n`);
  if (values.into)
    process.stderr.write(`Written to ${values.into}. Erase this folder once the label is printed.\n`);
}
