// What a benchmark needs before it starts, by what it imports.
import { graphOf, reached } from '../imports.mjs';

/**
 * @param sources path to text, all of the tree
 * @returns its own files and those of the labs it uses, for test/needs.mjs, and whether it runs what is built
 */
export function wantsOf(sources, file) {
  const all = [...reached(graphOf(sources), file)];
  return {
    files: all.filter((f) => /^test\/(bench|lab)\//.test(f)),
    bundles: all.some(
      (f) => f === 'test/lab/house.ts' || f === 'test/lab/program.ts' || f === 'test/size.ts',
    ),
  };
}
