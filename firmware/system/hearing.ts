// Which signals of the bus this process hears: the daemon is asked once for each rule, however many hear it. No I/O here.
import { type Heard, type Match, matches, ruleText } from './match.ts';

/** @param daemon calls a method of the daemon's own */
export function openHearing(
  daemon: (member: string, signature: string, body: unknown[]) => Promise<unknown[]>,
) {
  const handlers = new Set<{ rule: Match; f: (s: Heard) => void }>();
  /** How many hear each rule. */
  const rules = new Map<string, number>();
  /** Unique names by the well-known ones that are listened to. */
  const owners = new Map<string, string>();

  async function match(rule: Match, f: (s: Heard) => void): Promise<() => Promise<void>> {
    const text = ruleText(rule);
    const handler = { rule, f };
    handlers.add(handler);
    const count = rules.get(text) ?? 0;
    rules.set(text, count + 1);
    if (count === 0) await daemon('AddMatch', 's', [text]);
    const wellKnown = rule.sender && !rule.sender.startsWith(':') && rule.sender !== 'org.freedesktop.DBus';
    const unwatch = wellKnown
      ? await watchName(rule.sender!, (owner) => owners.set(rule.sender!, owner))
      : undefined;
    return async () => {
      handlers.delete(handler);
      const left = (rules.get(text) ?? 1) - 1;
      rules.set(text, left);
      if (left === 0) await daemon('RemoveMatch', 's', [text]).catch(() => {});
      await unwatch?.();
    };
  }

  async function watchName(name: string, f: (owner: string) => void): Promise<() => Promise<void>> {
    const stop = await match(
      { sender: 'org.freedesktop.DBus', member: 'NameOwnerChanged', arg0: name },
      (s) => f(s.body[2] as string),
    );
    const owner = await daemon('GetNameOwner', 's', [name]).then(
      (b) => b[0] as string,
      () => '',
    );
    f(owner);
    return stop;
  }

  return {
    match,
    watchName,
    heard(m: Heard): void {
      for (const h of [...handlers]) if (matches(h.rule, m, owners)) h.f(m);
    },
  };
}
