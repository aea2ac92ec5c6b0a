// The label as it is printed: 62 x 29 mm, the size of common address labels. Words shrink and wrap until they fit, and
// whatever font a printer takes, none runs beyond its place. Pure.
import { encode } from 'uqr';

/** Millimetres. Words stand right of the QR code, values right of their names. */
const label = { width: 62, height: 29 };
const words = { left: 29, right: 60.5, top: 1.6, bottom: 27.6 };
const valueLeft = 40.5;
/** Smaller letters are not read without glasses (2 mm, 5.7 points). */
const least = { title: 2.2, value: 2 };
const most = { title: 4, value: 2.8 };
/** Advance of a letter of a monospaced font, as a share of its size (Courier, DejaVu and Liberation Mono). */
const mono = 0.602;
/** From a line to the next, as a share of the letters' size. */
const leading = 1.16;
/** Between two rows at most, in millimetres. */
const mostGap = 1.3;

interface Line {
  text: string;
  x: number;
  size: number;
  /** Width in millimetres it is made to have, where a font's own could be too wide. */
  width?: number;
  style: string;
}
interface Row {
  height: number;
  lines: (Line & { y: number })[];
}

const segments = new Intl.Segmenter('en', { granularity: 'grapheme' });
const graphemes = (text: string) => [...segments.segment(text)].map((s) => s.segment);
/** East Asian letters and pictures are as wide as they are high. */
const isWide = (g: string) =>
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60]|\p{Extended_Pictographic}/u.test(
    g,
  );
/** Advance of a letter in a bold font without serifs, rather too much than too little. */
function advance(g: string): number {
  if (isWide(g)) return 1.3;
  if (/[WMmw@%ЖМФШЩЫЮжмфшщыю]/.test(g)) return 1.15;
  if (/[ijlI.,:;'|! -]/.test(g)) return 0.45;
  return /\p{Ll}|\p{N}/u.test(g) ? 0.72 : 0.86;
}
const widthOf = (text: string, of: (g: string) => number) =>
  graphemes(text).reduce((sum, g) => sum + of(g), 0);

/** In two: at the break nearest to the middle that leaves lines of `most` width, else in the middle. */
function halves(text: string, most: number, of: (g: string) => number): [string, string] {
  const all = graphemes(text);
  const middle = all.length / 2;
  const cut = (at: number): [string, string] => [all.slice(0, at).join('').trimEnd(), all.slice(at).join('')];
  const breaks = all
    .flatMap((g, i) => (/[ -]/.test(g) && i < all.length - 1 ? [i + 1] : []))
    .sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
  const found = breaks.map(cut).find((lines) => lines.every((l) => widthOf(l, of) <= most));
  return found ?? cut(Math.ceil(middle));
}

/** A text in one line, or two where one would be too small. */
function fitted(
  text: string,
  room: number,
  sizes: { least: number; most: number; one: number },
  of: (g: string) => number,
): { size: number; lines: string[] } {
  const sizeFor = (lines: string[]) => room / Math.max(...lines.map((l) => widthOf(l, of)));
  const one = sizeFor([text]);
  if (one >= sizes.one) return { size: Math.min(sizes.most, one), lines: [text] };
  const lines = halves(text, room / sizes.least, of);
  return { size: Math.max(sizes.least, Math.min(sizes.one, sizeFor(lines))), lines };
}

function rowOf(
  x: number,
  text: string,
  f: { size: number; lines: string[] },
  style: string,
  of: (g: string) => number,
): Row {
  const room = words.right - x;
  const lines = f.lines.map((line, i) => ({
    text: line,
    x,
    size: f.size,
    style,
    // A monospaced line gets the width it should have; another one only where it might be too wide.
    ...(of === title ? {} : { width: Math.min(room, widthOf(line, of) * f.size) }),
    y: f.size * (0.92 + i * leading),
  }));
  if (of === title && text)
    for (const l of lines) if (widthOf(l.text, of) * f.size > room + 0.01) Object.assign(l, { width: room });
  return { height: f.size * (leading * f.lines.length), lines };
}
const title = advance;
const value = (g: string) => (isWide(g) ? 2 * mono : mono);

/**
 * The label as SVG.
 * @param rows what stands beside the code: name and value
 * @param code what the QR code holds
 */
export function labelSvg(name: string, rows: readonly (readonly [string, string])[], code: string): string {
  const head = rowOf(
    words.left,
    name,
    fitted(name, words.right - words.left, { ...bounds('title'), one: 2.9 }, title),
    'font-weight="bold"',
    title,
  );
  const body = rows.map(([key, text]) => {
    const f = fitted(text, words.right - valueLeft, { ...bounds('value'), one: 2.2 }, value);
    const row = rowOf(valueLeft, text, f, 'font-family="monospace" font-weight="bold"', value);
    row.lines.unshift({ text: key, x: words.left, size: 2.2, style: '', y: row.lines[0]!.y });
    return row;
  });
  const all = shrunk([head, ...body]);
  const room = words.bottom - words.top - heightOf(all);
  const gap = Math.max(0, Math.min(mostGap, room / (all.length - 1)));
  let top = words.top;
  const texts: string[] = [];
  for (const row of all) {
    for (const l of row.lines) texts.push(textOf(l, top));
    top += row.height + gap;
  }
  const { size, data } = encode(code, { ecc: 'M', border: 2 });
  let path = '';
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) if (data[y]?.[x]) path += `M${x} ${y}h1v1h-1z`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${label.width}mm" height="${label.height}mm" viewBox="0 0 ${label.width} ${label.height}" font-family="sans-serif">
<rect width="${label.width}" height="${label.height}" fill="#fff"/>
<svg x="1.5" y="1.5" width="26" height="26" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><path d="${path}"/></svg>
${texts.join('\n')}
</svg>
`;
}

const heightOf = (rows: readonly Row[]) => rows.reduce((sum, r) => sum + r.height, 0);

/** Rows that are too high together, all smaller by the same share. */
function shrunk(rows: readonly Row[]): readonly Row[] {
  const share = (words.bottom - words.top) / heightOf(rows);
  if (share >= 1) return rows;
  return rows.map((r) => ({
    height: r.height * share,
    lines: r.lines.map((l) => ({
      ...l,
      size: l.size * share,
      y: l.y * share,
      ...(l.width === undefined ? {} : { width: l.width * share }),
    })),
  }));
}

const bounds = (what: 'title' | 'value') => ({ least: least[what], most: most[what] });
const escaped = (t: string) => t.replace(/[<>&"]/g, (c) => `&#${c.charCodeAt(0)};`);

function textOf(l: Line & { y: number }, top: number): string {
  const mm = (n: number) => String(Number(n.toFixed(2)));
  const width = l.width === undefined ? '' : ` textLength="${mm(l.width)}" lengthAdjust="spacingAndGlyphs"`;
  const style = l.style ? ` ${l.style}` : '';
  return `<text x="${mm(l.x)}" y="${mm(top + l.y)}" font-size="${mm(l.size)}"${style}${width}>${escaped(l.text)}</text>`;
}
