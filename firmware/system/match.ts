// Which signals somebody asked for: as a match rule for the daemon, and once more on arrival. Pure.

/** A heard signal, its body as dbus-next gives it. */
export interface Heard {
  sender: string;
  path: string;
  interface: string;
  member: string;
  body: unknown[];
}

/** What to listen for; every given part must match. `arg0` and `arg0namespace` are matched by the daemon. */
export interface Match {
  sender?: string;
  path?: string;
  interface?: string;
  member?: string;
  arg0?: string;
  arg0namespace?: string;
}

/** The rule in the daemon's words (D-Bus specification, "Match Rules"). */
export function ruleText(rule: Match): string {
  const parts = ["type='signal'"];
  for (const [k, v] of Object.entries(rule))
    if (v !== undefined) parts.push(`${k}='${v.replace(/'/g, "'\\''")}'`);
  return parts.join(',');
}

/** Whether a signal that arrived is one of `rule`; `owners` tells who owns a well-known sender now. */
export function matches(rule: Match, m: Heard, owners: Map<string, string>): boolean {
  const arg0 = typeof m.body[0] === 'string' ? m.body[0] : undefined;
  return (
    (rule.sender === undefined || rule.sender === m.sender || owners.get(rule.sender) === m.sender) &&
    (rule.path === undefined || rule.path === m.path) &&
    (rule.interface === undefined || rule.interface === m.interface) &&
    (rule.member === undefined || rule.member === m.member) &&
    (rule.arg0 === undefined || rule.arg0 === arg0) &&
    (rule.arg0namespace === undefined ||
      rule.arg0namespace === arg0 ||
      (arg0?.startsWith(rule.arg0namespace + '.') ?? false))
  );
}
