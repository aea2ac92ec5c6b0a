// Root's log: one line an event on stderr, journald's priorities in front where systemd reads it.

type Level = 'error' | 'warn' | 'notice' | 'info' | 'debug';
const priority: Record<Level, number> = { error: 3, warn: 4, notice: 5, info: 6, debug: 7 };
const least = priority[(process.env['INGLE_LOG'] as Level) ?? 'info'] ?? 6;
const journal = process.env['JOURNAL_STREAM'] !== undefined;

/** Names whose values are never written. */
const secret = /secret|token|jwt|private|credential|proof|code|frame|^key$|cookie|authorization|^sid$/i;

/** Writes one line; fields as `name=value`, secrets as `name=…`. A sid is shortened by the caller with `short`. */
export function log(level: Level, message: string, fields: Record<string, unknown> = {}): void {
  if (priority[level] > least) return;
  const tail = Object.entries(fields)
    .map(([k, v]) => ` ${k}=${secret.test(k) ? '…' : show(v)}`)
    .join('');
  const head = journal ? `<${priority[level]}>` : `${new Date().toISOString()} ${level} `;
  process.stderr.write(`${head}root: ${message}${tail}\n`);
}

/** The first characters of an id: enough to follow it, too few to use it. */
export function short(id: string): string {
  return `${id.slice(0, 6)}…`;
}

function show(v: unknown): string {
  if (v instanceof Error) return JSON.stringify(v.stack ?? v.message);
  if (typeof v === 'string' && /^[\w.:/@+…-]+$/.test(v)) return v;
  return JSON.stringify(v)?.slice(0, 500) ?? String(v);
}
