// I-Regexp (RFC 9485) in time linear in the text: patterns and texts of documents are anybody's, and the engine of
// JavaScript takes exponential time for some. Thompson's construction: all states at once, one character a step. Pure.

/** One step of a pattern: takes a character and goes on, or goes on in two ways. */
type State =
  | { takes: (c: string) => boolean; next: number }
  | { either: readonly number[] }
  /** Goes on at one end of the text alone: `^` and `$`, which RFC 9485 leaves out and JSONPath's suite has. */
  | { at: '^' | '$'; next: number };

/** States of one pattern; a repetition counts as often as it repeats. */
const MAX_STATES = 2000;
const MAX_NESTING = 32;

/** One atom that is a single character; JavaScript says which characters it takes. */
const single =
  /\.|\[(?:\\(?:[pP]\{[^}]*\}|.)|[^\]\\])*\]|\\[pP]\{[A-Za-z&]{1,20}\}|\\[ntr()*+.?[\\\]{|}$^-]|[^()*+.?[\\\]{|}]/uy;
const quantity = /[*+?]|\{(\d{1,4})(,(\d{1,4})?)?\}/y;

type Tree =
  | { takes: (c: string) => boolean }
  | { at: '^' | '$' }
  | { all: Tree[] }
  | { any: Tree[] }
  | { of: Tree; least: number; most: number };

function taker(atom: string): (c: string) => boolean {
  if (atom === '.') return (c) => c !== '\n' && c !== '\r';
  if ([...atom].length === 1) return (c) => c === atom;
  const re = new RegExp(`^${atom.replace(/^\\-$/, '-')}$`, 'u');
  return (c) => re.test(c);
}

function parse(pattern: string): Tree | null {
  let at = 0;
  const branch = (depth: number): Tree | null => {
    const any: Tree[] = [];
    do {
      const all: Tree[] = [];
      while (at < pattern.length && pattern[at] !== '|' && pattern[at] !== ')') {
        let piece: Tree | null;
        if (pattern[at] === '(') {
          at++;
          piece = depth < MAX_NESTING ? branch(depth + 1) : null;
          if (!piece || pattern[at++] !== ')') return null;
        } else {
          single.lastIndex = at;
          const m = single.exec(pattern);
          if (!m) return null;
          at = single.lastIndex;
          piece = m[0] === '^' || m[0] === '$' ? { at: m[0] } : { takes: taker(m[0]) };
        }
        quantity.lastIndex = at;
        const q = quantity.exec(pattern);
        if (q) {
          at = quantity.lastIndex;
          const least = q[1] ? Number(q[1]) : q[0] === '+' ? 1 : 0;
          const most = q[0] === '?' ? 1 : q[1] ? (q[3] ? Number(q[3]) : q[2] ? Infinity : least) : Infinity;
          if (least > most) return null;
          piece = { of: piece, least, most };
        }
        all.push(piece);
      }
      any.push({ all });
    } while (pattern[at] === '|' && ++at);
    return { any };
  };
  const tree = branch(0);
  return tree && at === pattern.length ? tree : null;
}

/** The states of a tree, whose end is state 0; null where they are too many. */
function statesOf(tree: Tree): { states: State[]; start: number } | null {
  const states: State[] = [{ either: [] }];
  const add = (s: State) => {
    if (states.length > MAX_STATES) throw new RangeError();
    return states.push(s) - 1;
  };
  const build = (t: Tree, next: number): number => {
    if ('takes' in t || 'at' in t) return add({ ...t, next });
    if ('all' in t) return t.all.reduceRight((n, one) => build(one, n), next);
    if ('any' in t)
      return t.any.length === 1
        ? build(t.any[0]!, next)
        : add({ either: t.any.map((one) => build(one, next)) });
    let end = next;
    if (t.most === Infinity) {
      const ways: number[] = [next];
      end = add({ either: ways });
      ways.push(build(t.of, end));
    } else for (let n = t.least; n < t.most; n++) end = add({ either: [next, build(t.of, end)] });
    for (let n = 0; n < t.least; n++) end = build(t.of, end);
    return end;
  };
  try {
    return { start: build(tree, 0), states };
  } catch (e) {
    if (e instanceof RangeError) return null;
    throw e;
  }
}

/**
 * A pattern as a test of texts: the whole text (`match`), or any part of it (`search`).
 * @param spend is called with the steps taken, and may throw to end them
 * @returns null where the pattern is no I-Regexp, or too large
 */
export function iregexp(
  pattern: string,
): ((text: string, whole: boolean, spend?: (steps: number) => void) => boolean) | null {
  let tree: Tree | null;
  try {
    tree = pattern.length > 1000 ? null : parse(pattern);
  } catch (e) {
    // A class or property that JavaScript does not know.
    if (e instanceof SyntaxError) return null;
    throw e;
  }
  const machine = tree && statesOf(tree);
  if (!machine) return null;
  const { states, start } = machine;
  return (text, whole, spend = () => {}) => {
    const characters = [...text];
    let now = new Set<number>();
    /** What can be reached from a state without a character, before the character at `i`. */
    const enter = (set: Set<number>, first: number, i: number) => {
      const list = [first];
      for (let s = list.pop(); s !== undefined; s = list.pop()) {
        if (set.has(s)) continue;
        set.add(s);
        const state = states[s]!;
        if ('either' in state) list.push(...state.either);
        else if ('at' in state && (state.at === '^' ? i === 0 : i === characters.length))
          list.push(state.next);
      }
    };
    enter(now, start, 0);
    for (const [i, c] of characters.entries()) {
      if (!whole && now.has(0)) return true;
      spend(now.size);
      const then = new Set<number>();
      for (const s of now) {
        const state = states[s]!;
        if ('takes' in state && state.takes(c)) enter(then, state.next, i + 1);
      }
      if (!whole) enter(then, start, i + 1);
      else if (then.size === 0) return false;
      now = then;
    }
    return now.has(0);
  };
}
