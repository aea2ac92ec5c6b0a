// The hub's buttons: what a press means by its length, and one to talk by. Reads Linux input events (linux/input.h, 64-bit layout). Pure.

/** Bytes of one `struct input_event`: two 64-bit times, type, code, value. */
const EVENT = 24;
const EV_KEY = 1;
/** KEY_RESTART, KEY_SETUP, KEY_WPS_BUTTON, KEY_CONFIG, BTN_0: what makers wire a button to. */
const keys: ReadonlySet<number> = new Set([0x198, 0x8d, 0x211, 0xab, 0x100]);
/** KEY_VOICECOMMAND, KEY_ASSISTANT: the hub listens, as after its phrase. */
const talkKeys: ReadonlySet<number> = new Set([0x246, 0x247]);

/** Shorter is somebody brushing past. */
const APPROVE_MS = 200;
const RESTART_MS = 3_000;
const RESET_MS = 15_000;

export type Press = 'none' | 'approve' | 'restart' | 'reset' | 'talk';

/** What a press of `ms` milliseconds asks for. */
export function meaning(ms: number): Press {
  if (ms >= RESET_MS) return 'reset';
  if (ms >= RESTART_MS) return 'restart';
  return ms >= APPROVE_MS ? 'approve' : 'none';
}

/**
 * Whether a device has one of our buttons at all.
 * @param capabilities its `capabilities/key` in sysfs: hexadecimal words of 64 bits, the lowest last
 */
export function hasButton(capabilities: string): boolean {
  const words = capabilities.trim().split(/\s+/).reverse();
  return [...keys, ...talkKeys].some((key) => {
    const word = words[key >> 6] ?? '';
    return /^[0-9a-f]+$/.test(word) && ((BigInt(`0x${word}`) >> BigInt(key & 63)) & 1n) === 1n;
  });
}

/** Turns the bytes of an input device, whatever the pieces, into presses: to talk at once, others at their release. */
export function buttonReader(onPress: (press: Press) => void): (piece: Buffer) => void {
  let held = Buffer.alloc(0);
  const down = new Map<number, number>();
  return (piece) => {
    held = Buffer.concat([held, piece]);
    let at = 0;
    for (; held.length - at >= EVENT; at += EVENT) {
      const time = Number(held.readBigInt64LE(at)) * 1000 + Number(held.readBigInt64LE(at + 8)) / 1000;
      const [type, code, value] = [
        held.readUInt16LE(at + 16),
        held.readUInt16LE(at + 18),
        held.readInt32LE(at + 20),
      ];
      if (type === EV_KEY && value === 1 && talkKeys.has(code)) onPress('talk');
      if (type !== EV_KEY || !keys.has(code)) continue;
      const since = down.get(code);
      if (value === 1) down.set(code, time);
      else if (value === 0 && since !== undefined) {
        down.delete(code);
        onPress(meaning(time - since));
      }
    }
    held = held.subarray(at);
  };
}
