// Suites of many checks on one machine.
import type { Test } from 'uvu';
import type { Vm } from './lab.ts';

export interface Lab {
  vm: Vm;
}
export type Check = (name: string, run: (c: Lab) => Promise<void>) => void;

/** A measured value, on a line of its own: the runner of the tests writes dots before it. */
export const figure = (name: string, value: string | number) => console.log(`\nFIGURE ${name} ${value}`);

/** Names the checks of a suite on a machine; one that fails says so at once, as such a suite is long. */
export function checksOf(test: Test<Lab>, why: string | undefined): Check {
  return (name, run) => {
    if (why) return test.skip(name, run);
    test(name, async (c) => {
      const began = Date.now();
      try {
        await run(c);
      } catch (e) {
        console.log(`failed: ${name}\n${(e as Error).message}`);
        throw e;
      } finally {
        console.log(`\n${((Date.now() - began) / 1000).toFixed(1)} s  ${name}`);
      }
    });
  };
}
