// `ingle account …`: what root keeps of the owner's account. This command line signs in there by itself, once its owner
// has let it in on the page of access (RFC 8628, ARCHITECTURE D177); it needs no hub.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Asked, Became, Entry, OwnedHub, Passkey, SignIn } from '../../../firmware/protocol/account.ts';
import { fromBody, IngleError, toIngleError } from '../../../firmware/protocol/errors.ts';
import { type Language, translator } from '../../../firmware/text/i18n.ts';
import { spaAccountTexts } from '../../../firmware/text/spa-account.ts';
import type { Command } from '../args.ts';
import type { Say } from '../say.ts';
import { plain, when } from '../show.ts';

export type AccountCommand = Extract<Command, `account ${string}`>;

/** What is kept between two commands: where it is signed in, and by what. */
interface Kept {
  root: string;
  token: string;
}
/** How long root may take to answer, milliseconds. */
const ANSWER = 20_000;

/** In the folder of the person's configuration (XDG base directories). */
const keptIn = (env: NodeJS.ProcessEnv): string =>
  join(env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config'), 'ingle', 'account.json');

/** Only its person may read it, at no moment anybody else. */
function keep(file: string, kept: Kept): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  rmSync(`${file}.new`, { force: true });
  writeFileSync(`${file}.new`, `${JSON.stringify(kept)}\n`, { mode: 0o600, flag: 'wx', flush: true });
  renameSync(`${file}.new`, file);
}

/** @throws IngleError `unauthenticated` when nothing is kept */
function read(file: string, say: Say): Kept {
  try {
    const { root, token } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Kept>;
    if (typeof root === 'string' && typeof token === 'string') return { root, token };
  } catch {}
  throw new IngleError('unauthenticated', say.text('accountFirst'));
}

/** What this computer calls itself, as root takes names. */
const nameOfHere = () =>
  hostname()
    .replace(/[^\p{L}\p{N} ._@-]/gu, '-')
    .replace(/^[^\p{L}\p{N}]+/u, '')
    .slice(0, 64) || 'cli';

/** Whatever is said there anybody on the way could read. @throws IngleError `invalid_request` */
function checkedRoot(given: string, say: Say): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isHere = /^(localhost|.*\.localhost|127\.[\d.]+|\[::1\])$/.test(url?.hostname ?? '');
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isHere)) return url.origin;
  throw new IngleError('invalid_request', say.text('accountRoot', { root: plain(given) }));
}

type Ask = <R>(method: string, path: string, body?: object) => Promise<R>;

/** @throws IngleError what root said, `unavailable` when it did not answer */
function asker(root: string, say: Say, token?: string): Ask {
  return async <R>(method: string, path: string, body?: object) => {
    let text: string;
    let status: number;
    try {
      const r = await fetch(root + path, {
        method,
        headers: {
          ...(token ? { authorization: `Bearer ${token}` } : {}),
          ...(body ? { 'content-type': 'application/json' } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
        redirect: 'error',
        signal: AbortSignal.timeout(ANSWER),
      });
      status = r.status;
      text = await r.text();
    } catch {
      throw new IngleError('unavailable', say.text('accountAway', { root }));
    }
    let said: unknown = text;
    try {
      said = JSON.parse(text);
    } catch {}
    if (status === 200) return said as R;
    const e = fromBody(said, status);
    if (e.code === 'unauthenticated') throw new IngleError(e.code, say.text('accountFirst'));
    throw new IngleError(e.code, plain(e.message, 1000), e.details);
  };
}

const whyNot = {
  forbidden: 'accountDenied',
  ticket_spent: 'accountSpent',
  invalid_device_code: 'accountLate',
} as const;

/** Asks to be let in, and waits until the owner has answered. */
async function login(root: string, name: string, file: string, say: Say): Promise<void> {
  const ask = asker(root, say);
  const asked = await ask<Asked>('POST', '/v1/command-line', { name });
  const { user_code, verification_uri, expires_in } = asked;
  say.event({ event: 'code', user_code, verification_uri, expires_in, name });
  say.line(say.text('accountOpen', { page: plain(verification_uri), code: plain(user_code), name }));
  say.line(say.text('accountWait', { minutes: Math.round(expires_in / 60) }));
  const until = Date.now() + expires_in * 1000;
  for (let interval = asked.interval; ; ) {
    await pause(interval * 1000);
    try {
      const body = { device_code: asked.device_code };
      const r = await ask<Became>('POST', '/v1/command-line/token', body);
      // Whatever else root may say, only a token ends the wait, and so does its time.
      if (r.state !== 'allowed') {
        if (Date.now() > until) throw new IngleError('invalid_device_code', say.text('accountLate'));
        continue;
      }
      keep(file, { root, token: r.token });
      say.event({ event: 'signed_in', root, name, expires_at: r.expires_at });
      return say.line(say.text('accountIn', { name, until: when(r.expires_at) }));
    } catch (cause) {
      const e = toIngleError(cause);
      if (e.code in whyNot) throw new IngleError(e.code, say.text(whyNot[e.code as keyof typeof whyNot]));
      // Root may be away for a moment, or want to be asked less often.
      if (e.code === 'rate_limited') interval += Number(e.details?.['retry_after'] ?? interval);
      else if (e.code !== 'unavailable') throw e;
      if (Date.now() > until) throw new IngleError('timeout', say.text('accountLate'));
    }
  }
}

/** The rows of root's answers as a person reads them, in the words of the page of access. */
function shower(language: Language) {
  const words = translator(spaAccountTexts, language);
  const line = (...parts: (string | false | null)[]) => parts.filter(Boolean).join(', ');
  const keyName = (p: Passkey) => plain(p.name) || words('passkey_of', { day: when(p.created_at) });
  const hubName = (h: OwnedHub) => plain(h.name) || h.hub_id;
  return {
    signIn: (s: SignIn, keys: readonly Passkey[]) => {
      const by = keys.find((p) => p.browser_key_id === s.browser_key_id);
      const name = plain(s.name || s.command) || (by ? keyName(by) : words('browser'));
      return `${s.id}  ${line(
        name,
        s.command !== '' && words('command_line'),
        s.current && words('here'),
        s.guest && words('guest'),
        s.connected ? words('open_now') : words('seen', { when: when(s.last_seen_at) }),
        s.place !== '' && words('from', { place: plain(s.place) }),
      )}`;
    },
    passkey: (p: Passkey) =>
      `${p.browser_key_id}  ${line(
        keyName(p),
        p.current && words('here'),
        p.guest && words('guest'),
        words('used', { when: when(p.last_used_at) }),
        p.sign_count_went_back !== null && words('went_back', { when: when(p.sign_count_went_back) }),
      )}`,
    hub: (h: OwnedHub) =>
      `${h.hub_id}  ${line(
        hubName(h),
        words(h.online ? 'online' : 'offline'),
        h.last_seen_at ? words('seen', { when: when(h.last_seen_at) }) : words('unseen'),
        h.certificate_expires_at !== null && words('certificate', { day: when(h.certificate_expires_at) }),
        h.keys_changed_at !== null && words('keys', { day: when(h.keys_changed_at) }),
      )}`,
    entry(e: Entry, keys: readonly Passkey[], hubs: readonly OwnedHub[]) {
      const keyOf = (id: string) => {
        const p = keys.find((k) => k.browser_key_id === id);
        return p ? keyName(p) : words('former');
      };
      const nameOf = (id: string) => {
        const h = hubs.find((one) => one.hub_id === id);
        return h ? hubName(h) : id.startsWith('bk_') ? keyOf(id) : plain(id);
      };
      const deed = e.what as keyof (typeof spaAccountTexts)['en'];
      const name = plain(e.name) || (e.about && nameOf(e.about));
      const who = e.by_command
        ? words('by_command', { name: plain(e.by_command) })
        : e.by_hub
          ? words('by_hub', { name: nameOf(e.by_hub) })
          : e.browser_key_id
            ? keyOf(e.browser_key_id)
            : words('by_browser');
      const what = Object.hasOwn(spaAccountTexts.en, deed) ? words(deed, { name }) : plain(e.what);
      return `${when(e.at)}  ${line(what, who, plain(e.place))}`;
    },
  };
}

export interface AccountOptions {
  arguments: readonly string[];
  values: Readonly<Record<string, string>>;
  env: NodeJS.ProcessEnv;
  /** The root of the hub hereabouts. */
  root(): Promise<string>;
}

export async function account(
  command: AccountCommand,
  o: AccountOptions,
  say: Say,
  language: Language,
): Promise<void> {
  const file = keptIn(o.env);
  if (command === 'account login') {
    const root = checkedRoot(o.values['root'] ?? (await o.root()), say);
    return login(root, o.values['name'] ?? nameOfHere(), file, say);
  }
  const kept = read(file, say);
  const ask = asker(checkedRoot(kept.root, say), say, kept.token);
  const at = (path: string, id = '') => `/v1/owner/${path}${id && `/${encodeURIComponent(id)}`}`;
  const show = shower(language);
  const [id = '', name = ''] = o.arguments;
  const done = (what: Record<string, unknown>) => {
    say.event(what);
    say.line(say.text('accountDone'));
  };
  const passkeys = async () => (await ask<{ credentials: Passkey[] }>('GET', at('credentials'))).credentials;
  const hubs = async () => (await ask<{ hubs: OwnedHub[] }>('GET', at('hubs'))).hubs;
  /** People name a passkey by the shorter of its two ids. @throws IngleError `not_found` */
  const passkeyId = async () => {
    const found = (await passkeys()).find((p) => p.browser_key_id === id || p.id === id);
    if (!found) throw new IngleError('not_found', say.text('accountNoPasskey', { id: plain(id) }));
    return found.id;
  };
  const list = <R extends object>(rows: readonly R[], line: (row: R) => string): void => {
    for (const row of rows) {
      say.event({ ...(row as Record<string, unknown>) });
      say.line(line(row));
    }
  };
  switch (command) {
    case 'account logout':
      await ask('POST', at('logout'), {}).catch((e) => {
        if (toIngleError(e).code !== 'unauthenticated') throw e;
      });
      rmSync(file, { force: true });
      say.event({ signed_out: true });
      return say.line(say.text('accountOut'));
    case 'account sign-ins list': {
      const [{ sessions }, keys] = await Promise.all([
        ask<{ sessions: SignIn[] }>('GET', at('sessions')),
        passkeys(),
      ]);
      return list(sessions, (s) => show.signIn(s, keys));
    }
    case 'account sign-ins rename':
      await ask('PATCH', at('sessions', id), { name });
      return done({ renamed: id, name });
    case 'account sign-ins revoke':
      await ask('DELETE', at('sessions', id));
      return done({ revoked: id });
    case 'account passkeys list':
      return list(await passkeys(), show.passkey);
    case 'account passkeys rename':
      await ask('PATCH', at('credentials', await passkeyId()), { name });
      return done({ renamed: id, name });
    case 'account passkeys remove':
      await ask('DELETE', at('credentials', await passkeyId()));
      return done({ removed: id });
    case 'account hubs list':
      return list(await hubs(), show.hub);
    case 'account hubs rename':
      await ask('PATCH', at('hubs', id), { name });
      return done({ renamed: id, name });
    case 'account trail': {
      const [{ entries, before }, keys, own] = await Promise.all([
        ask<{ entries: Entry[]; before: number | null }>('GET', at('audit')),
        passkeys(),
        hubs(),
      ]);
      list(entries, (e) => show.entry(e, keys, own));
      if (before !== null) say.line(say.text('accountOlder'));
      return;
    }
    case 'account trail export': {
      const lines = await ask<string | object>('GET', at('audit/export'));
      // A single line comes as what it says.
      const rows =
        typeof lines === 'string' ? lines.trimEnd().split('\n').filter(Boolean) : [JSON.stringify(lines)];
      return list(
        rows.map((row) => JSON.parse(row) as object),
        (row) => JSON.stringify(row),
      );
    }
  }
}
