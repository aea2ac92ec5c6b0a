// Suites of many checks on one machine.
import type { Test } from 'uvu';
import { journal } from './hub.ts';
import type { Vm } from './lab.ts';

export interface Lab {
  vm: Vm;
}
export type CheckOf<T> = (name: string, run: (c: T) => Promise<void>) => void;
export type Check = CheckOf<Lab>;

/** A measured value, on a line of its own: the runner of the tests writes dots before it. */
export const figure = (name: string, value: string | number) => console.log(`\nFIGURE ${name} ${value}`);

/**
 * Names the checks of a suite on a machine; one that fails says so at once, as such a suite is long.
 * @param o.chain each stands on those before it: after one that fails the others are not tried
 */
export function checksOf<T extends Lab>(
  test: Test<T>,
  why: string | undefined,
  o: { chain?: boolean } = {},
): CheckOf<T> {
  let broken = '';
  return (name, run) => {
    if (why) return test.skip(name, run);
    test(name, async (c) => {
      if (broken) throw new Error(`not tried, as this failed before: ${broken}`);
      const began = Date.now();
      try {
        await run(c);
      } catch (e) {
        if (o.chain) broken = name;
        c.vm?.failed();
        const said = await journal(c.vm).catch(() => '');
        console.log(`failed: ${name}\n${(e as Error).message}\n${said}\n${c.vm?.console().slice(-3000)}`);
        throw e;
      } finally {
        console.log(`\n${((Date.now() - began) / 1000).toFixed(1)} s  ${name}`);
      }
    });
  };
}
