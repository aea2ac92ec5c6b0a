// The answers that are not yet given.

export function openUnderway() {
  let count = 0;
  let waiting: (() => void)[] = [];
  return {
    begin: (): void => void count++,
    end(): void {
      if (--count > 0) return;
      for (const done of waiting) done();
      waiting = [];
    },
    none: () => new Promise<void>((resolve) => (count === 0 ? resolve() : waiting.push(resolve))),
  };
}
