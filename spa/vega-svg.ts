// SVG as Vega writes it, taken apart into data: what crosses from the thread that draws to the page is no markup. Pure.

/** An element, how deep it lies below the `svg`, which is at 0, and its text if it has no elements in it. */
export type Element_ = [depth: number, tag: string, attributes: Record<string, string>, text: string];

/** Elements and characters of a part: a page takes one between two frames. */
const [ELEMENTS, CHARACTERS] = [250, 100_000];
/** Elements of a drawing. 6,000 marks are at most some 36,000, where each has a group of its own. */
const MOST = 50_000;

const token = /<(\/?)([a-zA-Z]+)((?: [\w:-]+="[^"<>]*")*)(\/?)>|([^<>]+)/y;
const attribute = / ([\w:-]+)="([^"]*)"/g;
const escaped: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#x9': '\t',
  '#xA': '\n',
  '#xD': '\r',
};
const plain = (text: string) => text.replace(/&([\w#]+);/g, (all, name: string) => escaped[name] ?? all);

/**
 * The elements of a drawing in the order they stand in, part by part.
 * @throws SyntaxError for what Vega does not write, RangeError for a drawing beyond all bounds
 */
export function* partsOf(svg: string): Generator<Element_[]> {
  let part: Element_[] = [];
  let [depth, count, size] = [0, 0, 0];
  for (token.lastIndex = 0; token.lastIndex < svg.length; ) {
    const [all, isEnd, tag, attributes, isWhole, text] = token.exec(svg) ?? [];
    if (all === undefined) throw new SyntaxError('This is no drawing.');
    size += all.length;
    if (text !== undefined) {
      const last = part.at(-1);
      if (last) last[3] = plain(text);
    } else if (isEnd) depth--;
    else {
      if (part.length === ELEMENTS || size > CHARACTERS) {
        yield part;
        [part, size] = [[], all.length];
      }
      if (++count > MOST) throw new RangeError('A drawing has too many elements.');
      const given = [...attributes!.matchAll(attribute)].map(([, name, value]) => [name, plain(value!)]);
      part.push([depth, tag!, Object.fromEntries(given), '']);
      if (!isWhole) depth++;
    }
  }
  yield part;
}
