// A skill's page made one text: the scripts, styles and images that it names below its skill's /v1/ui/ are put into it, as
// a page in a frame loads nothing itself. What it names elsewhere stays as it is and is not loaded. Pure, in linear time.
import { toBase64url } from '../../protocol/bytes.ts';
import { isPagePath, withTicket } from '../../protocol/skill-page.ts';

/** What of a page is fetched: files beside it, and bytes of all together. */
export const assetBounds = { files: 32, bytes: 2 * 1024 * 1024 } as const;

const images: Record<string, string> = {
  ...{ svg: 'image/svg+xml', png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg' },
  ...{ gif: 'image/gif', webp: 'image/webp' },
};

/** The path below /v1/ui/ that an address in the page `page` means; null for one elsewhere. */
export function assetPath(page: string, address: string): string | null {
  const own = address.startsWith('/v1/ui/');
  const steps = own ? [] : page.split('/').slice(0, -1);
  for (const step of (own ? address.slice('/v1/ui/'.length) : address).split('/')) {
    if (step === '.') continue;
    if (step !== '..') steps.push(step);
    else if (steps.pop() === undefined) return null;
  }
  const path = steps.join('/');
  return isPagePath(path) ? path : null;
}

interface Tag {
  name: string;
  attributes: Map<string, string>;
  start: number;
  end: number;
  /** Where the element ends, for one whose text is not markup. */
  after: number;
}

const lower = (text: string) => text.replace(/[A-Z]/g, (c) => c.toLowerCase());
const isSpace = (c: string | undefined) => c !== undefined && ' \t\n\f\r'.includes(c);
const texts = ['script', 'style', 'textarea', 'title', 'xmp', 'iframe', 'noembed', 'noframes'];

/** One step through the attributes of a tag, from behind its name to behind its `>`; null where it never ends. */
function attributesAt(html: string, from: number): { attributes: Map<string, string>; end: number } | null {
  const attributes = new Map<string, string>();
  let at = from;
  while (at < html.length) {
    while (isSpace(html[at]) || html[at] === '/') at++;
    if (html[at] === '>') return { attributes, end: at + 1 };
    const name = at;
    // An equals sign at the front is part of the name.
    for (at++; at < html.length && !isSpace(html[at]) && !'/>='.includes(html[at]!); ) at++;
    const key = lower(html.slice(name, at));
    while (isSpace(html[at])) at++;
    let value = '';
    if (html[at] === '=') {
      for (at++; isSpace(html[at]); ) at++;
      const quote = html[at];
      if (quote === '"' || quote === "'") {
        const close = html.indexOf(quote, at + 1);
        if (close < 0) return null;
        value = html.slice(at + 1, close);
        at = close + 1;
      } else {
        const begin = at;
        while (at < html.length && !isSpace(html[at]) && html[at] !== '>') at++;
        value = html.slice(begin, at);
      }
    }
    if (!attributes.has(key)) attributes.set(key, value);
  }
  return null;
}

/** The tags that begin an element, in their order. What follows a part that never ends is none. */
function* tagsOf(html: string): Generator<Tag> {
  const small = lower(html);
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', at)) {
    if (html.startsWith('<!--', at)) {
      const end = html.indexOf('-->', at + 2);
      if (end < 0) return;
      at = end + 3;
      continue;
    }
    let end = at + 1;
    while (/[a-z0-9]/.test(small[end] ?? '')) end++;
    const name = small.slice(at + 1, end);
    if (!/^[a-z]/.test(name)) {
      at++;
      continue;
    }
    const tag = attributesAt(html, end);
    if (!tag) return;
    let after = tag.end;
    if (texts.includes(name)) {
      const close = small.indexOf(`</${name}`, tag.end);
      const closed = close < 0 ? -1 : html.indexOf('>', close);
      if (closed < 0) return;
      after = closed + 1;
    }
    yield { name, attributes: tag.attributes, start: at, end: tag.end, after };
    at = after;
  }
}

interface Asset {
  kind: 'script' | 'style' | 'image';
  path: string;
  tag: Tag;
}

function* assetsIn(html: string, page: string): Generator<Asset> {
  for (const tag of tagsOf(html)) {
    const a = tag.attributes;
    const address = a.get(tag.name === 'link' ? 'href' : 'src');
    const path = address === undefined ? null : assetPath(page, address.trim());
    if (path === null) continue;
    if (tag.name === 'script') yield { kind: 'script', path, tag };
    else if (tag.name === 'link' && /(?:^|\s)stylesheet(?:\s|$)/i.test(a.get('rel') ?? ''))
      yield { kind: 'style', path, tag };
    else if (tag.name === 'img' && typeOf(path)) yield { kind: 'image', path, tag };
  }
}

const typeOf = (path: string): string | undefined => {
  const ending = lower(path.slice(path.lastIndexOf('.') + 1));
  return Object.hasOwn(images, ending) ? images[ending] : undefined;
};

/** The files that a page names below its skill's /v1/ui/, each once, the first of them where there are too many. */
export function assetsOf(html: string, page: string): string[] {
  const paths = new Set<string>();
  for (const { path } of assetsIn(html, page)) if (paths.size < assetBounds.files) paths.add(path);
  return [...paths];
}

/** The tag of an element with other attributes. A name that could end the tag is none that counts here. */
function tagWith(name: string, tag: Tag, without: readonly string[], more: Record<string, string> = {}) {
  const kept = [...tag.attributes].filter(([k]) => !without.includes(k) && /^[a-z_:][\w:.-]*$/.test(k));
  // What stands in a source is escaped there already, but for the quotes it was in.
  const written = [...kept, ...Object.entries(more)].map(([k, v]) => `${k}="${v.replace(/"/g, '&quot;')}"`);
  return `<${[name, ...written].join(' ')}>`;
}

const base64 = (bytes: Uint8Array) => {
  const text = toBase64url(bytes).replace(/-/g, '+').replace(/_/g, '/');
  return text.padEnd(Math.ceil(text.length / 4) * 4, '=');
};

/**
 * The page with its files in it, and its ticket where its script finds it: `<meta name="ingle-ticket">`.
 * @param files by path; one that is missing is left out of the page
 * @param ticket in base64url
 */
export function wholePage(
  html: string,
  page: string,
  files: ReadonlyMap<string, Uint8Array>,
  ticket: string,
): string {
  const textOf = (path: string) => new TextDecoder().decode(files.get(path));
  const parts: string[] = [];
  const deferred: string[] = [];
  let from = 0;
  for (const { kind, path, tag } of assetsIn(html, page)) {
    parts.push(html.slice(from, tag.start));
    from = tag.after;
    if (!files.has(path)) continue;
    if (kind === 'image') {
      const src = `data:${typeOf(path)};base64,${base64(files.get(path)!)}`;
      parts.push(tagWith('img', tag, ['src', 'srcset'], { src }));
    } else if (kind === 'style') {
      const style = tagWith('style', tag, ['href', 'rel', 'integrity', 'crossorigin']);
      parts.push(`${style}${textOf(path).replace(/<\/(?=style)/gi, '<\\/')}</style>`);
    } else {
      const open = tagWith('script', tag, ['src', 'defer', 'async', 'integrity', 'crossorigin']);
      // Neither ends the element, and in a string or a pattern both mean what they did.
      const text = textOf(path)
        .replace(/<\/(?=script)/gi, '<\\/')
        .replace(/<!--/g, '<\\!--');
      const script = `${open}${text}</script>`;
      // A script within the page runs where it stands; one that wants the whole page before it stands last.
      if (tag.attributes.has('defer') && !tag.attributes.has('async')) deferred.push(script);
      else parts.push(script);
    }
  }
  return withTicket([...parts, html.slice(from), ...deferred].join(''), ticket);
}
