// What is said between the application and a skill's page in its frame. The page asks its own skill alone, and whoever
// says too much is not heard any more.
import { openBucket, rate, take } from '../firmware/protocol/bucket.ts';
import { fromUtf8, utf8 } from '../firmware/protocol/bytes.ts';
import { fromBody, IngleError, toIngleError } from '../firmware/protocol/errors.ts';
import { isTicket, ownPath, pageBounds, readSaid, type Said } from '../firmware/ui/page/messages.ts';
import { reached } from './current.ts';
import { isDark } from './theme.ts';

type Request = Extract<Said, { type: 'request' }>;

const speed = rate(pageBounds.burst, pageBounds.perSecond);
/** Until an answer is there, milliseconds. */
const WAIT = 30_000;

export interface TalkEvents {
  /** The page has shown its ticket. */
  greeted(): void;
  resize(asked: { w: number | undefined; h: number | undefined }): void;
  /** It is over: the page never said hello, or said too much. */
  shut(why: 'silent' | 'flood'): void;
}

/** @throws IngleError */
async function answerTo(
  skill: string,
  { method, api, body }: Request,
  signal: AbortSignal,
): Promise<unknown> {
  const path = ownPath(skill, api);
  if (path === null) throw new IngleError('forbidden', 'A page asks its own skill alone.');
  const posted = method === 'POST' && {
    headers: { 'content-type': 'application/json', 'idempotency-key': `f${crypto.randomUUID()}` },
    body: utf8(JSON.stringify(body ?? {})),
  };
  const r = await reached()
    .tunnel()
    .request({ method, path, signal, ...posted });
  const text = fromUtf8(await r.body(pageBounds.answer));
  const isJson = r.headers['content-type']?.startsWith('application/json');
  let json: unknown = null;
  try {
    if (isJson) json = JSON.parse(text);
  } catch {}
  if (r.status >= 400) throw fromBody(json, r.status);
  return isJson ? json : text;
}

/**
 * Talks with the page in `frame` until `close`.
 * @param context what the page is told with its hello, and again once it changes
 */
export function talk(
  frame: HTMLIFrameElement,
  skill: string,
  ticket: string,
  on: TalkEvents,
  context: () => Record<string, string | number>,
): { close(): void } {
  const stop = new AbortController();
  const bucket = openBucket(speed, performance.now());
  const open = new Set<string | number>();
  let known = false;
  let told = '';
  // It is on an origin of its own, which no address names.
  const post = (message: object) => frame.contentWindow?.postMessage(message, '*');
  const tell = () => {
    const now = { type: 'context', theme: isDark() ? 'dark' : 'light', ...context() };
    const text = JSON.stringify(now);
    if (!known || told === text) return;
    told = text;
    post(now);
  };
  const soon = () => setTimeout(tell);
  const shut = (why: 'silent' | 'flood') => {
    close();
    on.shut(why);
  };
  const hello = setTimeout(() => shut('silent'), pageBounds.hello);

  async function request(said: Request): Promise<void> {
    const { id } = said;
    const ended = new AbortController();
    const end = () => ended.abort();
    const timer = setTimeout(end, WAIT);
    stop.signal.addEventListener('abort', end);
    let answer: object;
    try {
      if (open.has(id)) throw new IngleError('conflict', 'A request of this id is under way.');
      if (open.size >= pageBounds.open)
        throw new IngleError('rate_limited', `At most ${pageBounds.open} requests at once.`);
      open.add(id);
      answer = await answerTo(skill, said, ended.signal)
        .then((body) => ({ body }))
        .finally(() => open.delete(id));
    } catch (e) {
      answer = { error: toIngleError(e).body() };
    } finally {
      clearTimeout(timer);
      stop.signal.removeEventListener('abort', end);
    }
    if (!stop.signal.aborted) post({ type: 'answer', id, ...answer });
  }

  function onMessage({ source, origin, data }: MessageEvent): void {
    if (!source || source !== frame.contentWindow || origin !== 'null') return;
    if (!take(bucket, speed, performance.now())) {
      shut('flood');
      return;
    }
    const said = readSaid(data);
    // Until it has shown its ticket it says nothing else.
    const isHello = said?.type === 'hello' && isTicket(said.ticket, ticket);
    if (!known && !isHello) return;
    switch (said?.type) {
      case 'hello':
        clearTimeout(hello);
        known = true;
        told = '';
        tell();
        on.greeted();
        break;
      case 'resize':
        on.resize(said);
        break;
      case 'request':
        void request(said);
        break;
      case 'refused':
        post({ type: 'answer', id: said.id, error: said.error.body() });
    }
  }

  const sized = new ResizeObserver(soon);
  const styled = new MutationObserver(soon);
  const dark = matchMedia('(prefers-color-scheme: dark)');
  addEventListener('message', onMessage);
  dark.addEventListener('change', soon);
  sized.observe(frame);
  // Where a person has chosen the theme or the language.
  styled.observe(document.documentElement, { attributes: true, attributeFilter: ['style', 'lang'] });
  function close(): void {
    clearTimeout(hello);
    stop.abort();
    removeEventListener('message', onMessage);
    dark.removeEventListener('change', soon);
    sized.disconnect();
    styled.disconnect();
    known = false;
  }
  return { close };
}
