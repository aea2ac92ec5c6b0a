// Which front end a view is for, by what it says of itself. Those that are rarely asked for are loaded when they are.
import type { FrontEnd, Problem, Tree } from './tree.ts';
import { compileV0 } from './v0/compile.ts';

export interface Compiled {
  tree: Tree;
  problems: readonly Problem[];
}

interface Kind {
  name: string;
  is(source: Readonly<Record<string, unknown>>): boolean;
  load(): FrontEnd | Promise<FrontEnd>;
}

/** What is none of these is taken for ui/v0, which says what is wrong with it. */
const kinds: readonly Kind[] = [
  { name: 'ui/v0', is: ({ schema }) => schema === 'ui/v0' || schema === 'ui/v0.1', load: () => compileV0 },
];

const kindOf = (source: Readonly<Record<string, unknown>>): Kind =>
  kinds.find((k) => k.is(source)) ?? kinds[0]!;

/** The front end a view is for, without its version. */
export const frontEndOf = (source: Readonly<Record<string, unknown>>): string => kindOf(source).name;

/** Compiles a view of whatever kind. Total, as front ends are. */
export async function compile(source: Readonly<Record<string, unknown>>): Promise<Compiled> {
  return (await kindOf(source).load())(source);
}
