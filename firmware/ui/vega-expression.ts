// Expressions in a chart: arithmetic, comparisons and dates of a row. No pattern, no list, no loop, nothing that could
// make a text grow; what is not on the lists below is refused. Pure.

/** Characters of one expression. */
const LENGTH = 200;
/** Additions in one: of texts each makes a longer one. */
const ADDED = 4;

const functions = new Set(
  'abs ceil floor round sqrt pow exp log min max clamp if isNaN isFinite isValid isDate isNumber isString year month date day hours minutes seconds time toNumber toDate lower upper trim length'.split(
    ' ',
  ),
);
const names = new Set(['datum', 'true', 'false', 'null', 'PI', 'E']);
/** Ways from a value to the code behind it. */
const unsafe = /^(__|constructor$|prototype$|caller$|callee$|arguments$)/;

const token =
  /\s*(?:(?<number>\d+(?:\.\d+)?(?:e[+-]?\d{1,3})?)|(?<text>'[^'\\\n]*'|"[^"\\\n]*")|(?<name>[A-Za-z_$][\w$]*)|(?<sign>[=!]==?|[<>]=?|&&|\|\||[-+*/%!?:(),.[\]]))/y;

/**
 * Whether an expression of Vega (https://vega.github.io/vega/docs/expressions/) is a plain one. It looks at its words,
 * not at its grammar: what passes may still be none.
 */
export function isPlainExpression(text: unknown): text is string {
  if (typeof text !== 'string' || text.length > LENGTH) return false;
  let added = 0;
  /** What came before it, and whether a value has just ended there. */
  let before = '';
  let ended = false;
  token.lastIndex = 0;
  const end = text.trimEnd().length;
  while (token.lastIndex < end) {
    const found = token.exec(text)?.groups;
    if (!found) return false;
    const { number, text: quoted, name, sign } = found;
    const word = number ?? quoted ?? name ?? sign!;
    // A member that is worked out could have any name.
    if (before === '[' && number === undefined && quoted === undefined) return false;
    if (quoted !== undefined && unsafe.test(quoted.slice(1, -1))) return false;
    if (name !== undefined) {
      if (before === '.' ? unsafe.test(name) : !names.has(name) && !functions.has(name)) return false;
    }
    if (sign === '.' && !ended) return false;
    // A division where a value should begin would be a pattern.
    if (sign === '/' && !ended) return false;
    if (sign === '[' && !ended) return false;
    if (sign === '(' && ended) return false;
    if (before === '[key' && sign !== ']') return false;
    if (sign === '+' && ++added > ADDED) return false;
    const isCalled = name !== undefined && before !== '.' && functions.has(name);
    ended = sign === undefined ? !isCalled : sign === ')' || sign === ']';
    if (isCalled && text.slice(token.lastIndex).trimStart()[0] !== '(') return false;
    before = before === '[' ? '[key' : word;
  }
  return end > 0;
}
