// What a tile tells of its skill: a value, a spark line, a sentence; and how old that is, where it may be.
import { html } from 'htm/preact';
import type { Glance } from '../firmware/ui/glance.ts';
import { ago, shown } from './text.ts';

/** Older than this a glance says so by itself, milliseconds. */
const OLD = 15 * 60_000;
const W = 100;
const H = 32;

/** A line through the numbers, from side to side and from the lowest to the highest. */
function path(points: readonly number[]): string {
  const low = Math.min(...points);
  const span = Math.max(...points) - low || 1;
  return points
    .map(
      (y, i) =>
        `${i ? 'L' : 'M'}${((i / (points.length - 1)) * W).toFixed(1)} ${(H - ((y - low) / span) * H).toFixed(1)}`,
    )
    .join('');
}

/** @param live what is shown is as the hub has it now */
export function Told({ of, live }: { of: Glance | undefined; live: boolean }) {
  // Its place is kept, so that no name moves once there is something to tell.
  if (!of) return html`<span class="told" />`;
  const { value, spark, alert } = of;
  const line = alert ?? of.line;
  const now = value !== undefined && shown(value);
  const isOld = !live || Date.now() - of.at > OLD;
  return html`<span class=${`told${alert ? ' wants' : ''}`}>
    ${
      (now || spark) &&
      html`<span class="now">${now && html`<strong style=${`--n:${now.length}`}>${now}</strong>`}${
        spark &&
        html`<svg class="spark" viewBox=${`-1 -2 ${W + 2} ${H + 4}`} preserveAspectRatio="none" aria-hidden="true"><path d=${path(spark)} /></svg>`
      }</span>`
    }
    <span class="line">${line !== undefined && shown(line)}${isOld && html`<span class="age" data-age>${line !== undefined && ' · '}${ago(of.at)}</span>`}</span>
  </span>`;
}
