// What the envelope of an impulse response tells: its peaks, its floor, the room after the direct sound. Pure.
// Times are indices of the envelope; it is periodic.

const arrival = {
  /** How long before the strongest reflection the direct sound is looked for. */
  earliest_s: 0.06,
  /** Weakest direct sound, as a share of the highest peak: side lobes stay below a hundredth, a band's edges below a tenth. */
  share: 0.16,
  /** A reflection that took five metres more is hardly 9 dB louder: what is weaker so long before is noise. */
  far_s: 0.015,
  far_share: 0.35,
  /** What is this near before a peak, and weaker than this share of it, is its side lobe: devices bend phases. */
  lobe_s: 0.0006,
  lobe_share: 0.35,
  /** Times the root of the mean power of the noise before: noise of 60 ms gets there once in 10,000 times. */
  above: 3.8,
  /** The stretch right before a peak, less its own rise, and how far it must stand out: changing gains smear loud peaks. */
  before_s: 0.025,
  skirt_s: 0.001,
  near: 5,
  /** Noise alone is so much louder in some stretches than on the whole, as power. */
  swing: 1.5,
} as const;

/** Mean power between two indices. */
export function meanPower(e: Float64Array, from: number, to: number): number {
  let sum = 0;
  let n = 0;
  for (let i = Math.round(from); i < to; i++, n++) sum += e[(i + e.length) % e.length]! ** 2;
  return n > 0 ? sum / n : 0;
}

/** Power between two indices above a floor that is taken off each. */
export function sumPower(e: Float64Array, from: number, to: number, floor: number): number {
  let sum = 0;
  for (let i = Math.round(from); i < to; i++) sum += e[(i + e.length) % e.length]! ** 2 - floor;
  return sum;
}

export function medianOf(e: Float64Array, from: number, to: number): number {
  const some: number[] = [];
  for (let i = from; i <= to; i += 4) some.push(e[i]!);
  const sorted = Float64Array.from(some).sort();
  return sorted[sorted.length >> 1] ?? 0;
}

export function highestOf(e: Float64Array, from: number, to: number): number {
  let highest = from;
  for (let i = from; i <= to; i++) if (e[i]! > e[highest]!) highest = i;
  return highest;
}

/** The highest value within `first` .. `last` that is not within `from` .. `to`. */
export function highestOutside(
  e: Float64Array,
  first: number,
  last: number,
  from: number,
  to: number,
): number {
  let most = 0;
  for (let i = first; i <= last; i++) if ((i < from || i > to) && e[i]! > most) most = e[i]!;
  return most;
}

/**
 * The direct sound: the earliest peak that stands out of what comes right before it. A reflection may be louder, so the
 * highest peak says no more than where to look. `hidden` is the height, as a share of the highest peak, below which
 * a direct sound would not have been seen.
 */
export function firstArrival(
  e: Float64Array,
  highest: number,
  first: number,
  step: number,
): { direct: number; hidden: number } {
  const from = Math.max(first, highest - Math.round(arrival.earliest_s / step));
  const before = Math.round(arrival.before_s / step);
  const skirt = Math.round(arrival.skirt_s / step);
  const noise = meanPower(e, from - 0.24 / step, from);
  const silent = arrival.above * Math.sqrt(noise);
  const far = arrival.far_s / step;
  const lobe = Math.round(arrival.lobe_s / step);
  let most = Math.max(silent, arrival.share * e[highest]!);
  // Mean power of the stretch before each point: it moves along with it.
  let near = sumPower(e, from - skirt - before, from - skirt, 0);
  for (let i = from; i < highest; i++) {
    const level = arrival.near * Math.sqrt(Math.max(0, near / before - arrival.swing * noise));
    if (level > most) most = level;
    const share = highest - i > far ? arrival.far_share : arrival.share;
    const least = Math.max(level, silent, share * e[highest]!);
    const peak = e[i]! >= least && e[i]! >= e[i - 1]! && e[i]! > e[i + 1]!;
    if (peak && e[i]! >= arrival.lobe_share * e[highestOf(e, i, i + lobe)]!)
      return { direct: i, hidden: most / e[highest]! };
    near += at(e, i - skirt) ** 2 - at(e, i - skirt - before) ** 2;
  }
  return { direct: highest, hidden: most / e[highest]! };
}

function at(e: Float64Array, i: number): number {
  return e[(i + e.length) % e.length]!;
}

/** Vertex of the parabola through the logarithms around a peak: exact for a Gaussian one. */
export function refine(e: Float64Array, i: number): number {
  const log = (k: number) => Math.log(e[(k + e.length) % e.length]! + 1e-300);
  const a = log(i - 1);
  const b = log(i);
  const c = log(i + 1);
  const curve = a - 2 * b + c;
  return curve < 0 ? i + Math.max(-0.5, Math.min(0.5, (0.5 * (a - c)) / curve)) : i;
}

/**
 * Energy from 4 to 120 ms after the direct sound over that of the direct sound, least and most, decibels. Noise that
 * comes and goes may be stronger there than before, so its share is bounded by the quietest and the loudest stretch.
 */
export function tailOf(
  e: Float64Array,
  direct: number,
  step: number,
  first: number,
  last: number,
): [number, number] {
  const length = Math.round(0.116 / step);
  const stretches: number[] = [];
  for (let at = direct - 0.02 / step - length; at > direct - 0.5 / step; at -= length / 2)
    stretches.push(meanPower(e, at, at + length));
  for (let at = Math.max(first, direct + 0.8 / step); at + length < last; at += length / 2)
    stretches.push(meanPower(e, at, at + length));
  const loud = 1.6 * Math.max(...stretches);
  const quiet = 0.5 * Math.min(...stretches);
  const near = 0.0015 / step;
  const direct_ = Math.max(1e-30, sumPower(e, direct - near, direct + near, quiet));
  const from = direct + 0.004 / step;
  const db = (floor: number) =>
    10 * Math.log10(Math.max(1e-9, sumPower(e, from, from + length, floor) / direct_));
  return [db(loud), db(quiet)];
}
