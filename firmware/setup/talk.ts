// How a person is talked with: on a line, in a messenger, in a test.

/** A channel a person talks through. Each throws `Left` when the person is gone. */
export interface Talk {
  say(text: string): Promise<void>;
  /** Offers options; settles with the index chosen. */
  choose(question: string, options: string[]): Promise<number>;
  ask(question: string, secret?: boolean): Promise<string>;
}

/** The person has left (line hung up, Ctrl-C, silence). */
export class Left extends Error {}
