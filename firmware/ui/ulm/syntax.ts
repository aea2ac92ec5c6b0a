// What ULM adds to CommonMark's syntax, as rules of markdown-it: directive lines, action links, bindings. Pure.
import markdownIt, { type MarkdownIt, type StateInline, type Token } from 'markdown-it';

/** `:::card Title`, or `:::` alone, which closes. */
export interface DirectiveLine {
  /** Empty where the line closes. */
  name: string;
  args: string;
}
export interface ActionLink {
  label: string;
  id: string;
  args: string;
}

const action =
  /\[((?:[^[\]\\\n]|\\.){1,200})\]\(@action:([A-Za-z][\w.-]{0,63})((?:[ \t]+[\w-]{1,64}=(?:"[^"\n]{0,400}"|[^\s()"]{1,400})){0,16})[ \t]*\)/y;
const binding = /\{\{([^{}\n]{1,512})\}\}/y;

/** An inline rule for what a regular expression finds where the text stands. */
function rule(pattern: RegExp, type: string, meta: (m: RegExpExecArray) => Record<string, unknown>) {
  return (state: StateInline, silent: boolean): boolean => {
    pattern.lastIndex = state.pos;
    const m = pattern.exec(state.src);
    if (!m) return false;
    if (!silent) {
      const token = state.push(type, '', 0);
      token.content = m[0];
      token.meta = meta(m);
    }
    state.pos += m[0].length;
    return true;
  };
}

function parser(): MarkdownIt {
  // HTML is text. Which links may be followed is decided where the tree is made, so here each is one.
  const md = markdownIt('commonmark', { html: false, maxNesting: 64 });
  md.validateLink = () => true;
  md.normalizeLink = (url) => url;
  md.block.ruler.before(
    'fence',
    'directive',
    (state, line, _end, silent) => {
      if (state.sCount[line]! - state.blkIndent >= 4) return false;
      const text = state.src.slice(state.bMarks[line]! + state.tShift[line]!, state.eMarks[line]!);
      const m = /^:{3,}[ \t]*(?:([A-Za-z][\w-]{0,31})(?=[\s{]|$)(.*))?$/.exec(text.trimEnd());
      if (!m) return false;
      if (silent) return true;
      const token = state.push('directive', '', 0);
      token.meta = { name: m[1] ?? '', args: (m[2] ?? '').trim() } satisfies DirectiveLine;
      token.map = [line, line + 1];
      state.line = line + 1;
      return true;
    },
    { alt: ['paragraph', 'reference', 'blockquote', 'list'] },
  );
  md.inline.ruler.before(
    'link',
    'action',
    rule(
      action,
      'action',
      (m) => ({ label: m[1]!.replace(/\\(.)/g, '$1'), id: m[2]!, args: m[3]! }) satisfies ActionLink,
    ),
  );
  md.inline.ruler.before(
    'link',
    'binding',
    rule(binding, 'binding', (m) => ({ of: m[1]! })),
  );
  return md;
}

let made: MarkdownIt | undefined;

/** A block with what is in it. */
export interface Block {
  token: Token;
  children: Block[];
}

/** The blocks of a text. Sources of the same length take about the same time: markdown-it has no slow corner of any size. */
export function blocksOf(text: string): Block[] {
  made ??= parser();
  const top: Block[] = [];
  const stack = [top];
  for (const token of made.parse(text, {})) {
    if (token.nesting === -1) {
      stack.pop();
      continue;
    }
    const block: Block = { token, children: [] };
    stack.at(-1)!.push(block);
    if (token.nesting === 1) stack.push(block.children);
  }
  return top;
}
