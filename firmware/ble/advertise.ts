// Advertising data (Bluetooth Core Supplement, Part A): both services fit, name in the scan response. Pure.
import { concat, fromHex, utf8 } from '../protocol/bytes.ts';
import { improvUuid } from '../setup/improv.ts';
import { setupUuid } from './service.ts';

const field = (type: number, data: Uint8Array) => concat(new Uint8Array([data.length + 1, type]), data);
const littleEndian = (uuid: string) => fromHex(uuid.replaceAll('-', '')).reverse();

/** Flags, Improv's service and its service data (state, capabilities): 31 bytes, as Improv asks for. */
export function advertisement(improvState: number, capabilities: number): Uint8Array {
  return concat(
    field(0x01, new Uint8Array([0x06])),
    field(0x07, littleEndian(improvUuid.service)),
    field(
      0x16,
      concat(fromHex(improvUuid.data).reverse(), new Uint8Array([improvState, capabilities, 0, 0, 0, 0])),
    ),
  );
}

/** Our setup service and as much of the name as fits. */
export function scanResponse(name: string): Uint8Array {
  let short = utf8(name).subarray(0, 11);
  // A cut inside a character would be no UTF-8.
  while (short.length > 0 && new TextDecoder().decode(short).endsWith('�')) short = short.subarray(0, -1);
  const whole = short.length === utf8(name).length;
  return concat(field(0x07, littleEndian(setupUuid.service)), field(whole ? 0x09 : 0x08, short));
}
