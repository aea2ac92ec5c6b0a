// What root answers a hub, read by its shape; undefined for what is not of it. Pure.
import type { Certified, Enrolled, Issued, Joined } from '../protocol/enrolment.ts';
import { DEVICE_CODE_TTL } from '../protocol/limits.ts';
import { readCertificate } from './proof.ts';
import type { Identity } from './rows.ts';

/** What root offers to a hub's key; `note`: what the hub that led its subnet has signed. */
export type Offered = Identity & { note?: string };

/** Root's public keys (RFC 7517). */
export type RootKeys = { keys: Record<string, unknown>[] };

export interface DeviceCode {
  device_code: string;
  /** Seconds. */
  expires_in: number;
  /** Seconds since somebody took the code before, if somebody did. */
  taken_ago: number | undefined;
}

/** What has a name of root's answers, and may be anything. */
type Said<A> = { readonly [field in keyof A]?: unknown };

export function certificateOf({ certificate }: Said<Certified>) {
  if (typeof certificate !== 'string' || certificate.length > 4096) return undefined;
  try {
    return { certificate, ...readCertificate(certificate) };
  } catch {
    return undefined;
  }
}

export function offerOf(said: Said<Enrolled>, root_url: string): Offered | undefined {
  const { owner_id, subnet_id, hub_id, app_url, parted } = said;
  if (!isId(owner_id) || !isId(subnet_id) || !isId(hub_id) || !isOrigin(app_url)) return undefined;
  const note = typeof parted === 'string' && parted.length <= 512 ? { note: parted } : {};
  const certified = certificateOf(said);
  return certified && { ...certified, ...{ owner_id, subnet_id, hub_id, app_url }, root_url, ...note };
}

export function deviceCodeOf({ device_code, expires_in, taken_ago }: Said<Issued>): DeviceCode | undefined {
  if (typeof device_code !== 'string' || !/^\d{3}-?\d{3}$/.test(device_code)) return undefined;
  if (!Number.isSafeInteger(expires_in) || (expires_in as number) < 1) return undefined;
  return {
    device_code: device_code.replace(/^(\d{3})-?/, '$1-'),
    expires_in: Math.min(expires_in as number, DEVICE_CODE_TTL),
    taken_ago: typeof taken_ago === 'number' && taken_ago >= 0 ? taken_ago : undefined,
  };
}

export const hubIdOf = ({ hub_id }: Said<Joined>): string | undefined => (isId(hub_id) ? hub_id : undefined);

export const keysOf = (said: unknown): RootKeys | undefined =>
  Array.isArray((said as RootKeys | null)?.keys) ? (said as RootKeys) : undefined;

/** Ids go into files, logs and terminals: letters, digits, - and _ only. */
function isId(v: unknown): v is string {
  return typeof v === 'string' && /^[\w-]{1,64}$/.test(v);
}

/** The address of an application: an origin at which passkeys work. */
function isOrigin(v: unknown): v is string {
  if (typeof v !== 'string' || v.length > 256 || !URL.canParse(v)) return false;
  const { origin, protocol, hostname } = new URL(v);
  return (
    origin === v && (protocol === 'https:' || (protocol === 'http:' && /(^|\.)localhost$/.test(hostname)))
  );
}
