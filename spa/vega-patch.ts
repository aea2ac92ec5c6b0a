// Puts a drawing into the page: what is at its place already stays there and gets what has changed of it.
import { allowed, attributes } from './vega-allowed.ts';
import type { Element_ } from './vega-svg.ts';

/** How long a turn may put elements in, milliseconds; to lay them out takes about as long again. */
const TURN = 8;
/** The page has shown what it got. */
const frame = () => new Promise((done) => requestAnimationFrame(done));

let count = 0;

function change(it: SVGElement, [, , to, text]: Element_): void {
  for (const { name } of [...it.attributes])
    if (attributes.has(name) && !Object.hasOwn(to, name)) it.removeAttribute(name);
  for (const [name, value] of Object.entries(to)) {
    if (it.getAttribute(name) === value) continue;
    // The page's policy takes no style from text.
    if (name === 'style') it.style.cssText = value;
    else it.setAttribute(name, value);
  }
  if (text !== '' && (it.firstElementChild || it.textContent !== text)) it.textContent = text;
}

/** Draws into a box, some of the drawing between two frames, for as long as it is not `isGone`. */
export function patcher(box: Element): (parts: readonly unknown[], isGone: () => boolean) => Promise<void> {
  const own = `vega${++count}-`;
  return async (parts, isGone) => {
    /** The elements that the next one may lie in, each with what stands where its next child comes. */
    const open: { in: Element; next: ChildNode | null }[] = [{ in: box, next: box.firstChild }];
    const close = (depth: number) => {
      while (open.length > depth)
        for (let { next } = open.pop()!; next; ) {
          const gone = next;
          next = gone.nextSibling;
          gone.remove();
        }
    };
    let hasRoot = false;
    const put = (given: unknown) => {
      const depth = Number.isInteger(Object(given)[0]) ? Number(Object(given)[0]) : -1;
      // One drawing, whatever follows it.
      if (depth < 0 || (depth === 0 && hasRoot)) return;
      close(depth + 1);
      const to = allowed(given, own);
      const place = to && open[depth];
      if (!place) return;
      hasRoot = true;
      const { next } = place;
      const stays = next?.nodeName === to[1] ? (next as SVGElement) : undefined;
      const it = stays ?? document.createElementNS('http://www.w3.org/2000/svg', to[1]);
      change(it, to);
      if (!stays && next) next.replaceWith(it);
      else if (!stays) place.in.append(it);
      place.next = it.nextSibling;
      open.push({ in: it, next: to[3] === '' ? it.firstChild : null });
    };
    let began = performance.now();
    for (const one of parts.flat()) {
      if (isGone()) return;
      put(one);
      if (performance.now() - began < TURN) continue;
      await frame();
      began = performance.now();
    }
    if (!isGone()) close(0);
  };
}
