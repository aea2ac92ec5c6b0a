// Codes and QR as a terminal shows them. Pure.
import { encode } from 'uqr';
import type { Say } from './say.ts';

/** `482913` and `507226` as people read them: two groups of 3+3. */
export function grouped(...codes: string[]): string {
  return codes.map((c) => c.replace(/^(\d{3})-?(\d{3})$/, '$1-$2')).join(' ');
}

/**
 * A QR code (ISO/IEC 18004) in half blocks. With `colour` it sets black on white itself, so that it reads on dark and
 * light terminals; without, its light modules are the drawn ones, for the dark terminals most people have.
 */
export function qr(text: string, colour: boolean): string {
  const { data, size } = encode(text, { ecc: 'L', border: 2 });
  const dark = (x: number, y: number) => data[y]?.[x] ?? false;
  const rows: string[] = [];
  for (let y = 0; y < size; y += 2) {
    let row = '';
    for (let x = 0; x < size; x++) {
      const top = dark(x, y) === colour;
      const bottom = (y + 1 < size && dark(x, y + 1)) === colour;
      row += top && bottom ? '█' : top ? '▀' : bottom ? '▄' : ' ';
    }
    rows.push(colour ? `\x1b[38;5;16;48;5;231m${row}\x1b[0m` : row);
  }
  return rows.join('\n');
}

/** A pairing link to scan; of an address that no other device has, why there is none and how to get one. */
export function scanned(link: string, colour: boolean, say: Pick<Say, 'text'>): string {
  const { hostname, port } = new URL(link);
  const local =
    hostname === 'localhost' || hostname.endsWith('.localhost') || /^127\.|^\[::1\]$/.test(hostname);
  return local ? `${say.text('localOnly', { port: port || '80' })}\n` : qr(link, colour);
}

/** Minutes and seconds, `9:05`. */
export function clock(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')}`;
}

/** Text of another party without control characters, so that a label cannot drive the terminal. */
export function plain(text: string, most = 80): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it removes
  return text.replace(/[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, '').slice(0, most);
}

/** Unix seconds as a local date and time; a dash for 0. */
export function when(seconds: bigint | number): string {
  const d = new Date(Number(seconds) * 1000);
  if (Number(seconds) === 0 || Number.isNaN(d.getTime())) return '-';
  const two = (n: number) => String(n).padStart(2, '0');
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${two(d.getHours())}:${two(d.getMinutes())}`;
}
