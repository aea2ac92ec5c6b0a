// One text for equal JSON. Pure; runs in browsers.

/** JSON with sorted keys: equal content gives equal text. */
export function canonical(value: unknown): string {
  if (value === undefined) return '';
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map((v) => canonical(v ?? null)).join(',')}]`;
  const of = value as Record<string, unknown>;
  const keys = Object.keys(of).sort();
  return `{${keys.map((k) => `${JSON.stringify(k)}:${canonical(of[k] ?? null)}`).join(',')}}`;
}
