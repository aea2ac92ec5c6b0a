// Small checks that name the path of what is wrong and say what is allowed. Pure; used for device and factory files.

/** One thing that is wrong: where (`brand.colours.light`, `channels[1]`), and what is allowed there. */
export interface Issue {
  path: string;
  says: string;
}

/** Reads a value at a path, or notes an issue and answers something of the right shape. */
export type Check<T> = (value: unknown, path: string, issues: Issue[]) => T;
type Of<C> = C extends Check<infer T> ? T : never;

const shown = (v: unknown) => (JSON.stringify(v) ?? String(v)).slice(0, 60);

/** A string that fits `form`; absent, it is `absent` (undefined: it must be there). */
export function text(form: RegExp, allowed: string, absent?: string): Check<string> {
  return (v, path, issues) => {
    if (v === undefined && absent !== undefined) return absent;
    if (v === undefined) issues.push({ path, says: `is missing: ${allowed}` });
    else if (typeof v !== 'string') issues.push({ path, says: `is ${shown(v)}, not a text: ${allowed}` });
    else if (!form.test(v)) issues.push({ path, says: `is ${shown(v)}: ${allowed}` });
    else return v;
    return absent ?? '';
  };
}

/** A value that also has no `fault`: what it says of one that is wrong. */
export function where(of: Check<string>, fault: (value: string) => string | undefined): Check<string> {
  return (v, path, issues) => {
    const before = issues.length;
    const value = of(v, path, issues);
    const says = issues.length === before ? fault(value) : undefined;
    if (says) issues.push({ path, says: `is ${shown(v)}: ${says}` });
    return value;
  };
}

export function oneOf<const T extends string>(allowed: readonly T[], absent?: T): Check<T> {
  return (v, path, issues) => {
    if (v === undefined && absent !== undefined) return absent;
    if (!allowed.includes(v as T))
      issues.push({
        path,
        says: `${v === undefined ? 'is missing' : `is ${shown(v)}`}: one of ${allowed.join(', ')}`,
      });
    return v as T;
  };
}

export function flag(absent: boolean): Check<boolean> {
  return (v, path, issues) => {
    if (v === undefined) return absent;
    if (typeof v !== 'boolean') issues.push({ path, says: `is ${shown(v)}: true or false` });
    return v as boolean;
  };
}

/** A list without doubles; absent, it is `absent`. */
export function list<T>(of: Check<T>, absent: readonly T[] = []): Check<T[]> {
  return (v, path, issues) => {
    if (v === undefined) return [...absent];
    if (!Array.isArray(v)) {
      issues.push({ path, says: `is ${shown(v)}, not a list` });
      return [...absent];
    }
    const seen = new Set<unknown>();
    v.forEach((one, i) => {
      if (seen.has(one)) issues.push({ path: `${path}[${i}]`, says: `is ${shown(one)} twice` });
      seen.add(one);
    });
    return v.map((one, i) => of(one, `${path}[${i}]`, issues));
  };
}

/** An object of known fields; absent, each field is asked as absent. */
export function object<F extends Record<string, Check<unknown>>>(
  fields: F,
): Check<{ [K in keyof F]: Of<F[K]> }> {
  return (v, path, issues) => {
    const at = (key: string) => (path === '' ? key : `${path}.${key}`);
    const plain = v !== null && typeof v === 'object' && !Array.isArray(v);
    if (v !== undefined && v !== null && !plain)
      issues.push({ path, says: `is ${shown(v)}, not a group of ${Object.keys(fields).join(', ')}` });
    const given = (plain ? v : {}) as Record<string, unknown>;
    for (const key of Object.keys(given))
      if (!Object.hasOwn(fields, key))
        issues.push({ path: at(key), says: `is not known: allowed are ${Object.keys(fields).join(', ')}` });
    return Object.fromEntries(
      Object.entries(fields).map(([key, check]) => [
        key,
        check(Object.hasOwn(given, key) ? (given[key] ?? undefined) : undefined, at(key), issues),
      ]),
    ) as { [K in keyof F]: Of<F[K]> };
  };
}
