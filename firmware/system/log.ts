// Logs: one line an event, journald's priorities in front, so `journalctl -p` works (sd-daemon(3)).
import { inspect } from 'node:util';

export type Level = 'error' | 'warn' | 'notice' | 'info' | 'debug';
const priority: Record<Level, number> = { error: 3, warn: 4, notice: 5, info: 6, debug: 7 };

export type Log = Record<Level, (message: string, fields?: Record<string, unknown>) => void>;

/** Names whose values are never written. */
const secret =
  /secret|psk|password|token|jwt|private|credential|proof|ticket|^pin$|^key$|cookie|authorization/i;

/** A logger of one part; fields are printed as `name=value`, secrets as `name=…`. */
export function logger(part: string): Log {
  // Read here and not with the module, which a snapshot holds from another process.
  const least = priority[(process.env['INGLE_LOG'] as Level) ?? 'info'] ?? 6;
  // systemd sets JOURNAL_STREAM when stderr goes to the journal.
  const journal = process.env['JOURNAL_STREAM'] !== undefined;
  const write =
    (level: Level) =>
    (message: string, fields: Record<string, unknown> = {}) => {
      if (priority[level] > least) return;
      const tail = Object.entries(fields)
        .map(([k, v]) => ` ${k}=${secret.test(k) ? '…' : show(v)}`)
        .join('');
      const head = journal ? `<${priority[level]}>` : `${new Date().toISOString()} ${level} `;
      process.stderr.write(`${head}${part}: ${message}${tail}\n`);
    };
  return {
    error: write('error'),
    warn: write('warn'),
    notice: write('notice'),
    info: write('info'),
    debug: write('debug'),
  };
}

function show(v: unknown): string {
  if (v instanceof Error) return JSON.stringify(v.message);
  if (typeof v === 'string') return /^[\w.:/@+-]+$/.test(v) ? v : JSON.stringify(v.slice(0, 500));
  return inspect(v, { breakLength: Number.POSITIVE_INFINITY, depth: 3 });
}
