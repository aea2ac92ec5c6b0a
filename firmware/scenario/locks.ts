// Locks of steps (mic, tts, any name): all of a step's at once or none, in the order they were asked for. Pure.
// Who holds locks asks for no more (plan.ts), and who waits holds none, so nobody can wait in a circle.

export interface LockTable {
  /** Asks for locks; true when they are held now, else the holder waits and `free` names it later. */
  ask(holder: string, names: readonly string[]): boolean;
  /** Gives up what a holder has or waits for. Answers who holds theirs from now on, in order. */
  free(holder: string): string[];
  /** Who stands in the way of a holder that waits: by lock, who has it or is before it. */
  before(holder: string): Record<string, string>;
}

export function openLocks(): LockTable {
  const held = new Map<string, string>();
  const of = new Map<string, readonly string[]>();
  /** Those that wait, the first first. */
  const waiting = new Map<string, readonly string[]>();

  function grant(): string[] {
    const granted: string[] = [];
    // What somebody further in front waits for is not taken before them.
    const promised = new Set<string>();
    for (const [holder, names] of waiting) {
      if (names.some((n) => held.has(n) || promised.has(n))) {
        for (const n of names) promised.add(n);
        continue;
      }
      waiting.delete(holder);
      of.set(holder, names);
      for (const n of names) held.set(n, holder);
      granted.push(holder);
    }
    return granted;
  }
  return {
    ask(holder, names) {
      if (of.has(holder)) return true;
      if (!waiting.has(holder)) waiting.set(holder, [...new Set(names)].sort());
      return grant().includes(holder);
    },
    free(holder) {
      waiting.delete(holder);
      for (const n of of.get(holder) ?? []) held.delete(n);
      of.delete(holder);
      return grant();
    },
    before(holder) {
      const out: Record<string, string> = {};
      const ahead: [string, readonly string[]][] = [];
      for (const one of waiting) {
        if (one[0] === holder) break;
        ahead.push(one);
      }
      for (const n of waiting.get(holder) ?? []) {
        const who = held.get(n) ?? ahead.find(([, w]) => w.includes(n))?.[0];
        if (who !== undefined) out[n] = who;
      }
      return out;
    },
  };
}
