// Where a link of a document may lead: https, mailto, or within the application. Pure.
import type { Act } from './tree.ts';

type Go = Extract<Act, { do: 'go' }>;

/** Longer addresses are no link. */
const MAX_URL = 2048;

/** The parameters of a query as they are written, at most 32. */
function paramsOf(search: URLSearchParams): Go['params'] {
  const entries = [...search].slice(0, 32);
  return entries.length > 0 ? { object: Object.fromEntries(entries) } : undefined;
}

/**
 * What a tap on a link does: `https://…` and `mailto:…` outside, `skill:<id>` another skill, `page:<name>?a=b`, a name or
 * a path another page of the application. Everything else, `javascript:` before all, is null: the link is its text.
 */
export function linkOf(address: string): Go | null {
  if (address.length > MAX_URL) return null;
  for (const c of address) if (c <= ' ' || c === '\\' || (c >= '\u007f' && c <= '\u009f')) return null;
  if (/^https:\/\//i.test(address)) {
    if (!URL.canParse(address)) return null;
    const url = new URL(address);
    // A name before the host is read as the host by people.
    return url.protocol === 'https:' && url.username === '' && url.password === ''
      ? { do: 'go', href: url.href }
      : null;
  }
  if (/^mailto:[^<>"]+$/i.test(address)) return { do: 'go', href: `mailto:${address.slice(7)}` };
  const skill = /^skill:([a-z][a-z0-9_-]{0,63})$/.exec(address);
  if (skill) return { do: 'go', skill: skill[1]! };
  const page = /^(?:page:)?(\/?[A-Za-z0-9][\w./-]{0,199}|\/)(?:\?([^#]*))?(?:#.*)?$/.exec(address);
  if (!page) return null;
  const params = paramsOf(new URLSearchParams(page[2] ?? ''));
  return { do: 'go', page: page[1]!, ...(params ? { params } : {}) };
}
