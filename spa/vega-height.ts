// How tall a Vega-Lite chart stands, known before what draws it is there.
import type { Of } from './drawing.ts';

/** CSS pixels: of the drawing where its specification has no height, and at least and at most. */
const [USUAL, LEAST, MOST] = [240, 80, 480];
/** What stands below it, and the gap to that (styles.css). */
const BELOW = 52;

export function drawingHeight({ spec }: Of<'vega'>): number {
  const height = spec['height'];
  return typeof height === 'number' && Number.isFinite(height)
    ? Math.round(Math.max(LEAST, Math.min(MOST, height)))
    : USUAL;
}

export const vegaHeight = (n: Of<'vega'>): number => drawingHeight(n) + BELOW;
