// A notice on its way to one browser: what it says, sealed for that browser, signed as this hub's. Pure but for random
// numbers. RFC 8030 (Web Push), 8188 and 8291 (encryption), 8292 (VAPID).
import { createECDH, createHash } from 'node:crypto';
import ece from 'http_ece';
import { SignJWT } from 'jose';
import { IngleError } from '../protocol/errors.ts';
import { inLanguage, type Language } from '../text/i18n.ts';
import type { Told } from '../ui/topic-names.ts';
import type { VapidKey } from './vapid.ts';

/** A browser that wants notices (W3C Push API, PushSubscription). */
export interface Subscription {
  endpoint: string;
  /** P-256, uncompressed, base64url. */
  p256dh: string;
  /** 16 bytes, base64url. */
  auth: string;
  language: Language;
}

/** What the browser shows, as its service worker reads it. */
export interface Notice {
  title: string;
  body: string;
  tag?: string;
  /** Where a tap leads, a path of the application. */
  path: string;
  language: Language;
}

/** How long a push service keeps a notice for a browser that is away, seconds: it waits behind the bell as well. */
const TTL = 24 * 3600;
/** How long a signature is good, seconds; RFC 8292 allows a day. */
const SIGNED_FOR = 12 * 3600;
/** Characters: encrypted, all of it stays under the 4,096 bytes that every push service takes (RFC 8030, 7.2). */
const LONG = { title: 100, body: 400, tag: 160 } as const;

const curve = 'prime256v1';

/** @throws IngleError `invalid_request` for a key that is no point of the curve */
export function checkSubscription({ p256dh, endpoint }: Pick<Subscription, 'p256dh' | 'endpoint'>): void {
  if (!URL.canParse(endpoint)) throw new IngleError('invalid_request', 'The endpoint is no address.');
  try {
    const ecdh = createECDH(curve);
    ecdh.generateKeys();
    ecdh.computeSecret(Buffer.from(p256dh, 'base64url'));
  } catch {
    throw new IngleError('invalid_request', 'That is no key of the curve P-256.');
  }
}

/**
 * What a skill has told, as one browser shows it; the skill's name stands above it, so that none speaks as the hub.
 * @param of the skill's name by language, where a tap leads, and what the reader reads
 */
export function noticeOf(
  { skill_id, payload }: Pick<Told, 'skill_id' | 'payload'>,
  of: { title: Readonly<Record<string, string>>; path: string; language: Language },
): Notice {
  const { path, language } = of;
  const words = (text: unknown) =>
    (typeof text === 'string' ? text : inLanguage({ i18n: text }, language)) ?? '';
  const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const { tag } = payload as { tag?: unknown };
  return {
    title: cut(words(of.title) || skill_id, LONG.title),
    body: cut([payload['title'], payload['body']].map(words).filter(Boolean).join('\n'), LONG.body),
    ...(typeof tag === 'string' ? { tag: `${skill_id}:${tag}`.slice(0, LONG.tag) } : {}),
    path,
    language,
  };
}

export interface PushRequest {
  url: string;
  headers: Record<string, string>;
  body: Uint8Array;
}

/**
 * The request that brings a notice to a push service.
 * @param contact whom the service may turn to: `mailto:` or `https:`
 * @param now Unix seconds
 */
export async function pushRequest(
  to: Subscription,
  notice: Notice,
  { key, contact, now }: { key: VapidKey; contact: string; now: number },
): Promise<PushRequest> {
  const sender = createECDH(curve);
  sender.generateKeys();
  const body = ece.encrypt(Buffer.from(JSON.stringify(notice)), {
    version: 'aes128gcm',
    privateKey: sender,
    dh: to.p256dh,
    authSecret: to.auth,
  });
  const token = await new SignJWT({ aud: new URL(to.endpoint).origin, sub: contact, exp: now + SIGNED_FOR })
    .setProtectedHeader({ typ: 'JWT', alg: 'ES256' })
    .sign(key.privateKey);
  return {
    url: to.endpoint,
    headers: {
      authorization: `vapid t=${token}, k=${key.publicKey}`,
      'content-encoding': 'aes128gcm',
      'content-type': 'application/octet-stream',
      ttl: String(TTL),
      urgency: 'normal',
      // A newer one takes the place of one that still waits (RFC 8030, 5.4: at most 32 characters).
      ...(notice.tag
        ? { topic: createHash('sha256').update(notice.tag).digest('base64url').slice(0, 32) }
        : {}),
    },
    body,
  };
}
