// What of a drawing the page takes: elements and attributes that only show. Pure.
import type { Element_ } from './vega-svg.ts';

const tags = new Set(
  'svg g path rect line text tspan defs clipPath linearGradient radialGradient stop pattern'.split(' '),
);
/** Attributes of a drawing; those that others gave its elements are theirs. */
export const attributes: ReadonlySet<string> = new Set([
  ...'class style id display opacity transform vector-effect pointer-events clip-path'.split(' '),
  ...'fill fill-opacity stroke stroke-opacity stroke-width stroke-linecap stroke-linejoin'.split(' '),
  ...'stroke-dasharray stroke-dashoffset stroke-miterlimit offset stop-color'.split(' '),
  ...'width height viewBox preserveAspectRatio d x y x1 y1 x2 y2 dx dy cx cy r fx fy fr'.split(' '),
  ...'text-anchor dir font-family font-size font-style font-variant font-weight'.split(' '),
]);

/** Names of Vega's marks: others are those of the page's own style. */
const isClass = /^(marks|background|foreground|(mark|role)-[\w-]+)$/;
const isId = /^\w+$/;
/** Functions of CSS that lead nowhere: turns and colours. */
const functions =
  /^(translate|rotate|scale|rgba?|hsla?|hwb|(ok)?lab|(ok)?lch|color|color-mix|light-dark|var|calc|min|max|clamp)$/i;
/** With a backslash CSS writes any name. */
const isPlain = (value: string) =>
  !value.includes('\\') && [...value.matchAll(/([\w-]*)\s*\(/g)].every(([, name]) => functions.test(name!));

/** The value that an attribute gets; undefined for none. @param own is put before each id, as a page has several drawings */
function valueFor(name: string, value: unknown, own: string): string | undefined {
  if (typeof value !== 'string' || !attributes.has(name)) return undefined;
  if (name === 'id') return isId.test(value) ? own + value : undefined;
  if (name === 'style') return /^mix-blend-mode: [a-z-]+;$/.test(value) ? value : undefined;
  if (name === 'class')
    return value
      .split(' ')
      .filter((one) => isClass.test(one))
      .join(' ');
  const part = /^url\(#(\w+)\)$/.exec(value)?.[1];
  if (part !== undefined) return `url(#${own}${part})`;
  return isPlain(value) ? value : undefined;
}

/**
 * @param given an `Element_`, or whatever else came
 * @returns a copy of what may be shown of it; undefined where that is nothing, and so nothing that is in it either
 */
export function allowed(given: unknown, own: string): Element_ | undefined {
  if (!Array.isArray(given)) return undefined;
  const [depth, tag, of, text] = given as unknown[];
  if (!Number.isInteger(depth) || Number(depth) < 0 || typeof tag !== 'string' || !tags.has(tag))
    return undefined;
  // One drawing, and none in it.
  if ((tag === 'svg') !== (depth === 0)) return undefined;
  const entries = Object.entries(Object(of) as object).flatMap(([name, value]) => {
    const kept = valueFor(name, value, own);
    return kept === undefined ? [] : [[name, kept] as const];
  });
  return [depth as number, tag, Object.fromEntries(entries), typeof text === 'string' ? text : ''];
}
