// uvu as test files get it (compile.mjs): it forgets why a `before` or `after` failed and what an error was caused by, and
// a suite ends at an error with details that are no text. Here all of that is told.
import { inspect } from 'node:util';
import { suite as quiet, test as quietTest, type Test } from 'uvu';

// biome-ignore lint/suspicious/noExplicitAny: any suite's context
type Step = (context: any) => unknown;

/** @param told makes of an error what uvu gets */
const watched = (step: Step, told: (e: unknown) => unknown) => async (context: unknown) => {
  try {
    await step(context);
  } catch (e) {
    throw told(e);
  }
};

/** An error as uvu can tell it: what it has beside its message becomes its cause. */
function whole(e: unknown): unknown {
  if (e instanceof Error && !('details' in e || e.cause !== undefined)) return e;
  if (e instanceof Error && e.name.startsWith('Assertion')) return e;
  return new Error(e instanceof Error ? e.message : String(e), { cause: e });
}
function tellCause(e: unknown): unknown {
  const error = whole(e);
  if (error instanceof Error && error.cause !== undefined)
    error.stack += `\ncaused by ${inspect(error.cause)}`;
  return error;
}

function loud<T>(test: Test<T>): Test<T> {
  const add = (name: string, check: Step) =>
    test(
      name,
      watched(check, (e) => {
        const told = tellCause(e);
        // uvu tells it when all tests have run, and a file that is stopped comes to no end.
        console.error(
          `\n  not passed: ${name}: ${told instanceof Error ? told.stack?.slice(0, 1500) : told}`,
        );
        return told;
      }),
    );
  const mine = Object.assign(add, test) as Test<T>;
  for (const when of ['before', 'after'] as const) {
    const hook = test[when];
    const told = (step: Step) =>
      hook(
        watched(step, (e) => {
          console.error(`   FAIL  ${when} the tests`, e);
          return e;
        }),
      );
    mine[when] = Object.assign(told, hook);
  }
  return mine;
}

export const suite: typeof quiet = (name, context) => loud(quiet(name, context));
export const test = loud(quietTest);
