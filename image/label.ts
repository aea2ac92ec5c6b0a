// What the label of one device says, and its files.
import { deflateSync } from 'node:zlib';
import { encode } from 'uqr';
import type { Device } from '../firmware/device/device.ts';
import { checkFactory, type Factory, wifiCode } from '../firmware/device/factory.ts';
import { IngleError } from '../firmware/protocol/errors.ts';
import { makePin, makePsk, ssidOf } from '../firmware/setup/secrets.ts';
import { labelSvg } from './label-svg.ts';

export interface Label {
  factory: Factory;
  /** Name of the access point; empty without secrets. */
  ssid: string;
  svg: string;
  /** The QR code alone, for printers that set the words themselves. */
  png: Buffer;
  text: string;
}

/** Serial number and fresh secrets of one device. @throws IngleError `invalid_request` for a serial number that is none */
export function newFactory(device: Device, serial: string): Factory {
  const secrets = device.label === 'none' ? { psk: '', pin: '' } : { psk: makePsk(), pin: makePin() };
  const { factory, issues } = checkFactory({ model: device.model, serial, ...secrets });
  if (issues.length > 0)
    throw new IngleError('invalid_request', issues.map((i) => `${i.path} ${i.says}`).join('\n'));
  return factory;
}

/** The label of one device. */
export function makeLabel(device: Device, factory: Factory): Label {
  const { serial } = factory;
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
  return { factory, ssid, svg: labelSvg(device.brand.name, rows, code), png: png(code), text: `${text}\n` };
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
