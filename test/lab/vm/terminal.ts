// A person at the machine's serial line.
import type { Vm } from './lab.ts';

/** A menu whose question waits for its answer. */
export const menu = /What next\?[\s\S]*\n> /;

/** Waits until the line has said `text` (after byte `from`); what it said since. */
export async function sees(vm: Vm, text: string | RegExp, from = 0, timeoutMs = 240_000): Promise<string> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const said = vm.console().slice(from);
    if (typeof text === 'string' ? said.includes(text) : text.test(said)) return said;
    if (Date.now() > end) throw new Error(`the line does not say ${text}; its end is\n${said.slice(-2000)}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Types, and waits for what that makes the line say. */
export async function types(vm: Vm, keys: string, text: string | RegExp, timeoutMs?: number) {
  const from = vm.console().length;
  vm.type(keys);
  return sees(vm, text, from, timeoutMs);
}

/** Chooses an entry of the menu that stands on the line. */
export async function chooses(vm: Vm, entry: string, text: string | RegExp, timeoutMs?: number) {
  const said = vm.console();
  const number = [...said.matchAll(/^ {2}(\d+)\. (.*?)\r?$/gm)].findLast((m) => m[2] === entry)?.[1];
  if (!number) throw new Error(`the menu has no "${entry}":\n${said.slice(-2000)}`);
  return types(vm, `${number}\r`, text, timeoutMs);
}
