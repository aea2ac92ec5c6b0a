// The secrets this hub holds, so that none of them leaves it by their value.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setup1 } from '../../../firmware/setup/contract.ts';
import { peekStore } from '../../../firmware/system/store.ts';
import type { Place } from './facts.ts';

/** Every secret that can be read here; what cannot be is left to the shapes secrets have. */
export async function heldSecrets(p: Place): Promise<string[]> {
  const found: string[] = [];
  const add = (...values: (string | undefined)[]) => {
    for (const v of values) if (v) found.push(v);
  };
  add(p.config.label?.psk, p.config.label?.pin, p.config.bot.token, p.config.console_secret);
  for (const file of ['api/token', 'api/document.key'])
    try {
      add(readFileSync(join(p.data, file), 'utf8').trim());
    } catch {}
  try {
    const rows = await peekStore<{ psk: string }>(join(p.data, 'wifi', 'wifi.db'), 'SELECT psk FROM network');
    add(...rows.map((r) => r.psk));
  } catch {}
  // Only where setup runs: a journal is no reason to start it.
  if (p.bus && (await p.bus.listNames().catch((): string[] => [])).includes(setup1.bus))
    try {
      const s = await p.bus.client(setup1).Secrets({}, 5000);
      add(s.psk, s.pin);
    } catch {}
  return found;
}

/** The logs of a house of `npm start`: name and path. */
export function logsOf(folder: string): [name: string, path: string][] {
  return readdirSync(folder)
    .filter((name) => /\.log(\.1)?$/.test(name))
    .sort()
    .map((name) => [name.replace(/[^\w.-]/g, '_'), join(folder, name)]);
}
