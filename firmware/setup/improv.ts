// Improv Wi-Fi (improv-wifi.com, BLE and Serial specifications 1.x): codec, and what a device answers. Pure.
import { concat, fromUtf8, utf8 } from '../protocol/bytes.ts';

export const improvUuid = {
  service: '00467768-6228-2272-4663-277478268000',
  state: '00467768-6228-2272-4663-277478268001',
  error: '00467768-6228-2272-4663-277478268002',
  command: '00467768-6228-2272-4663-277478268003',
  result: '00467768-6228-2272-4663-277478268004',
  capabilities: '00467768-6228-2272-4663-277478268005',
  /** 16-bit UUID of the service data in advertisements. */
  data: '4677',
} as const;

export const improvState = { authorize: 1, authorized: 2, provisioning: 3, provisioned: 4 } as const;
export const improvError = {
  none: 0,
  invalid: 1,
  unknown_command: 2,
  unable_to_connect: 3,
  not_authorized: 4,
  unknown: 0xff,
} as const;

/** Serial packet types. */
export const packetType = { state: 1, error: 2, command: 3, result: 4 } as const;

export type ImprovCommand =
  | { command: 'wifi'; ssid: string; psk: string }
  | { command: 'identify' }
  | { command: 'state' }
  | { command: 'info' }
  | { command: 'scan' };

/** Numbers of the commands; 2 means `identify` over BLE and `state` over serial. */
export const commandNumber = { wifi: 1, identify: 2, state: 2, info: 3, scan: 4 } as const;

const sum = (bytes: Uint8Array): number => bytes.reduce((a, b) => (a + b) & 0xff, 0);

/** Reads `[command, length, data...]`; undefined when it is malformed, 'unknown' when it is no command we know. */
function readCommand(b: Uint8Array, serial: boolean): ImprovCommand | 'unknown' | undefined {
  const data = b.subarray(2);
  if (b.length < 2 || b[1] !== data.length) return undefined;
  if (b[0] === 1) {
    const strings = readStrings(data);
    const [ssid, psk] = strings ?? [];
    return strings?.length === 2 ? { command: 'wifi', ssid: ssid!, psk: psk! } : undefined;
  }
  if (b[0] === 2) return { command: serial ? 'state' : 'identify' };
  if (b[0] === 3) return { command: 'info' };
  if (b[0] === 4) return { command: 'scan' };
  return 'unknown';
}

function readStrings(data: Uint8Array): string[] | undefined {
  const out: string[] = [];
  let at = 0;
  while (at < data.length) {
    const length = data[at]!;
    if (at + 1 + length > data.length) return undefined;
    try {
      out.push(fromUtf8(data.subarray(at + 1, at + 1 + length)));
    } catch {
      return undefined;
    }
    at += 1 + length;
  }
  return out;
}

/** A BLE RPC command with its checksum byte. */
export function readBleCommand(packet: Uint8Array): ImprovCommand | 'unknown' | undefined {
  if (packet.length < 3 || sum(packet.subarray(0, -1)) !== packet[packet.length - 1]) return undefined;
  return readCommand(packet.subarray(0, -1), false);
}

/** `[command, length, (length string)*]`; strings that do not fit into 255 bytes are left out whole. */
function resultBody(command: number, strings: readonly string[]): Uint8Array {
  const parts: Uint8Array[] = [];
  let length = 0;
  for (const s of strings) {
    const bytes = utf8(s);
    if (bytes.length > 255 || length + 1 + bytes.length > 255) break;
    parts.push(new Uint8Array([bytes.length]), bytes);
    length += 1 + bytes.length;
  }
  return concat(new Uint8Array([command, length]), ...parts);
}

/** A BLE RPC result with its checksum. */
export function bleResult(command: number, strings: readonly string[]): Uint8Array {
  const body = resultBody(command, strings);
  return concat(body, new Uint8Array([sum(body)]));
}

const header = utf8('IMPROV');

/** A whole serial packet, newline behind it. */
export function serialPacket(type: number, data: Uint8Array): Uint8Array {
  const body = concat(header, new Uint8Array([1, type, data.length]), data);
  return concat(body, new Uint8Array([sum(body), 0x0a]));
}

export function serialResult(command: number, strings: readonly string[]): Uint8Array {
  return serialPacket(packetType.result, resultBody(command, strings));
}

export type SerialInput =
  | { kind: 'text'; bytes: Uint8Array }
  | { kind: 'command'; command: ImprovCommand }
  | { kind: 'error'; error: number };

/**
 * Parts the bytes of a serial line into Improv packets and everything else, whatever the pieces they come in.
 * A line that looks like a packet and is none is answered with the error Improv names; its bytes are dropped.
 */
export function serialSplitter(): (piece: Uint8Array) => SerialInput[] {
  let held = new Uint8Array(0);
  // A packet is followed by a newline that is not typed text; it may come in the next piece.
  let newline = false;
  return (piece) => {
    const out: SerialInput[] = [];
    const text: number[] = [];
    const flush = () => {
      if (text.length > 0) out.push({ kind: 'text', bytes: new Uint8Array(text.splice(0)) });
    };
    const b = concat(held, piece);
    let at = 0;
    while (at < b.length) {
      if (newline) {
        newline = false;
        if (b[at] === 0x0a && ++at === b.length) break;
      }
      const same = prefix(b, at);
      if (same === 0) {
        text.push(b[at++]!);
        continue;
      }
      const known = b.length - at;
      if (same < header.length) {
        if (same === known) break;
        text.push(b[at++]!);
        continue;
      }
      if (known < 9) break;
      const length = b[at + 8]!;
      if (known < 10 + length) break;
      flush();
      const packet = b.subarray(at, at + 10 + length);
      out.push(readPacket(packet));
      at += packet.length;
      newline = true;
    }
    flush();
    held = b.slice(at);
    return out;
  };
}

/** How many bytes at `at` agree with the header, up to what is there. */
function prefix(b: Uint8Array, at: number): number {
  let n = 0;
  while (n < header.length && at + n < b.length && b[at + n] === header[n]) n++;
  return n;
}

function readPacket(packet: Uint8Array): SerialInput {
  const [version, type] = [packet[6], packet[7]];
  const good = version === 1 && type === packetType.command && sum(packet.subarray(0, -1)) === packet.at(-1);
  if (!good) return { kind: 'error', error: improvError.invalid };
  const command = readCommand(packet.subarray(9, -1), true);
  if (command === undefined) return { kind: 'error', error: improvError.invalid };
  if (command === 'unknown') return { kind: 'error', error: improvError.unknown_command };
  return { kind: 'command', command };
}
