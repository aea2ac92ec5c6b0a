// A room between two ends of a sound card: 16-bit stereo at 48 kHz comes in, goes out through a sparse impulse
// response (`room`) or as it is (`wire`).
const kind = process.argv[2];
const rate = 48_000;
// A direct sound and reflections that die away (60 dB in 0.4 s), as dense as an emulated machine can bear.
const taps = [[0, 0.3]];
let seed = 7;
const random = () => {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return seed / 0x7fffffff;
};
if (kind === 'room')
  for (let i = 0; i < 60; i++) {
    const at = 0.003 + 0.25 * random() ** 2;
    taps.push([Math.round(at * rate), (random() < 0.5 ? -1 : 1) * 0.1 * 10 ** (-3 * (at / 0.4))]);
  }
const size = 1 << 15;
const past = new Float32Array(size);
let at = 0;
let odd = Buffer.alloc(0);
process.stdin.on('data', (piece) => {
  const all = odd.length ? Buffer.concat([odd, piece]) : piece;
  const frames = all.length >> 2;
  odd = Buffer.from(all.subarray(frames << 2));
  const out = Buffer.alloc(frames << 2);
  for (let n = 0; n < frames; n++) {
    past[at] = all.readInt16LE(n << 2);
    let sum = 0;
    for (const [delay, gain] of taps) sum += gain * past[(at - delay) & (size - 1)];
    at = (at + 1) & (size - 1);
    const v = Math.max(-32768, Math.min(32767, Math.round(sum)));
    out.writeInt16LE(v, n << 2);
    out.writeInt16LE(v, (n << 2) + 2);
  }
  process.stdout.write(out);
});
process.stdin.on('end', () => process.exit(0));
