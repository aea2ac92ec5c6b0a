// Root's log: one line an event on stderr, as text with journald's priorities in front where systemd reads it, or as JSON.

type Level = 'error' | 'warn' | 'notice' | 'info' | 'debug';
const priority: Record<Level, number> = { error: 3, warn: 4, notice: 5, info: 6, debug: 7 };
const least = priority[(process.env['INGLE_LOG'] as Level) ?? 'info'] ?? 6;
const journal = process.env['JOURNAL_STREAM'] !== undefined;

let isJson = false;

/** From now on lines are JSON objects (`{"time", "level", "message", ...fields}`), or text. */
export function logAs(form: 'json' | 'text'): void {
  isJson = form === 'json';
}

/** Names whose values are never written. */
const secret = /secret|token|jwt|private|credential|proof|code|frame|^key$|cookie|authorization|^sid$/i;

/** Writes one line; fields as `name=value`, secrets as `name=…`. A sid is shortened by the caller with `short`. */
export function log(level: Level, message: string, fields: Record<string, unknown> = {}): void {
  if (priority[level] > least) return;
  if (isJson) {
    process.stderr.write(`${jsonLine(level, message, fields)}\n`);
    return;
  }
  const tail = Object.entries(fields)
    .map(([k, v]) => ` ${k}=${secret.test(k) ? '…' : show(v)}`)
    .join('');
  const head = journal ? `<${priority[level]}>` : `${new Date().toISOString()} ${level} `;
  // What somebody else named may not begin a line of its own.
  process.stderr.write(`${head}root: ${`${message}${tail}`.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')}\n`);
}

function jsonLine(level: Level, message: string, fields: Record<string, unknown>): string {
  const clean = Object.entries(fields).map(([k, v]) => [k, secret.test(k) ? '…' : plain(v)]);
  // A field never takes the place of what every line has.
  return JSON.stringify({ ...Object.fromEntries(clean), time: new Date().toISOString(), level, message });
}

/** As JSON has it, bounded as in text. */
function plain(v: unknown): unknown {
  if (typeof v === 'number' || typeof v === 'boolean' || v === null) return v;
  if (v instanceof Error) return v.stack ?? v.message;
  return typeof v === 'string' ? v.slice(0, 500) : show(v);
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
