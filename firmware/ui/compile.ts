// Which front end a view is for, by what it says of itself. Those that are rarely asked for are loaded when they are.
import { treeText } from '../text/tree.ts';
import type { Problem, Tree } from './tree.ts';
import type { Tools, Want } from './usdl/page.ts';
import { compileV0 } from './v0/compile.ts';

export interface Compiled {
  tree: Tree;
  problems: readonly Problem[];
}

type Source = Readonly<Record<string, unknown>>;
interface Kind {
  name: string;
  is(source: Source): boolean;
  compile(source: Source): Compiled | Promise<Compiled>;
}

/** Compiles, and once more with the libraries that turned out to be wanted. */
async function withTools(run: (tools: Tools) => Compiled & { wants: readonly Want[] }): Promise<Compiled> {
  const { wants, ...first } = run({});
  if (wants.length === 0) return first;
  const markdown = wants.includes('markdown') ? await import('./ulm/markdown.ts') : undefined;
  const query = wants.includes('queryFault') ? await import('./query.ts') : undefined;
  const { tree, problems } = run({ ...markdown, ...query });
  return { tree, problems };
}

const isVersion = (v: unknown, name: string) => typeof v === 'string' && v.startsWith(`${name}/`);

/** What is none of these is taken for ui/v0, which says what is wrong with it. */
const kinds: readonly Kind[] = [
  {
    name: 'ui/v0',
    is: ({ schema }) => schema === 'ui/v0' || schema === 'ui/v0.1',
    compile: compileV0,
  },
  {
    name: 'usdl',
    is: ({ version }) => isVersion(version, 'usdl'),
    async compile(source) {
      const { usdl } = await import('./usdl/document.ts');
      return withTools((tools) => usdl(source, tools));
    },
  },
  {
    // A page in a frame has its text of level 1 beside it.
    name: 'umf',
    is: ({ umf }) => typeof umf === 'string',
    compile: async (source) => (await import('./umf.ts')).umf(source),
  },
  {
    name: 'ulm',
    is: ({ ulm }) => typeof ulm === 'string',
    compile: async (source) => (await import('./ulm/document.ts')).ulm(source),
  },
  {
    name: 'a2ui',
    is: ({ a2ui }) => typeof a2ui === 'string' || Array.isArray(a2ui),
    async compile(source) {
      const { a2ui } = await import('./a2ui/document.ts');
      return withTools((tools) => a2ui(source, tools));
    },
  },
];

const kindOf = (source: Source): Kind => kinds.find((k) => k.is(source)) ?? kinds[0]!;

/** The front end a view is for, without its version. */
export const frontEndOf = (source: Source): string => kindOf(source).name;

/** A page without a word would look like one that is broken. */
function neverBlank(tree: Tree): Tree {
  const { header = [], main, aside = [], modal = [], toast = [] } = tree;
  if ([header, main, aside, modal, toast].some((nodes) => nodes.length > 0)) return tree;
  return { ...tree, main: [{ is: 'text', of: [treeText('nothing')] }] };
}

/** Compiles a view of whatever kind. Total, as front ends are. */
export async function compile(source: Source): Promise<Compiled> {
  const { tree, problems } = await kindOf(source).compile(source);
  return { tree: neverBlank(tree), problems };
}
