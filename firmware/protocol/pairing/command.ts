// What a passkey signs when it lets a command line in (root/command-lines.ts).

/**
 * The context of a word for root (assertion.ts) that lets in one command line, by one session. No sid has a blank, so
 * who signed in has not said this, nor the other way round.
 */
export const commandContext = (sid: string, id: string): string => `command line ${id} by ${sid}`;
