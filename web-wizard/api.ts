// The setup API of the access point, from the page's side.
import { fromBody } from '../firmware/protocol/errors.ts';

export interface Network {
  ssid: string;
  /** Percent. */
  signal: number;
  /** open, wpa2 or wpa3 */
  security: string;
}
export interface Device {
  id: string;
  name: string;
  usable: boolean;
}
export interface Status {
  state: string;
  online: boolean;
  ssid: string;
  error: string;
  reason: string;
  name: string;
  level: number | null;
}
export interface Pairing {
  link: string;
  device_code: string;
  secret: string;
  qr: { size: number; path: string };
}
export interface Tested {
  verdict: string;
  latency_ms: number;
}

/** @throws IngleError of the hub, or a TypeError when it does not answer at all */
export async function call<T>(path: string, body?: unknown): Promise<T> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), 35_000);
  try {
    const response = await fetch(`/api/${path}`, {
      signal: stop.signal,
      ...(body === undefined
        ? {}
        : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    if (!response.ok) throw fromBody(answer, response.status);
    return answer as T;
  } finally {
    clearTimeout(timer);
  }
}
