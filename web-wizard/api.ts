// The setup API of the access point, from the page's side.
import type { Answer } from '../firmware/protocol/endpoint/endpoint.ts';
import { fromBody } from '../firmware/protocol/errors.ts';
import type { pageApi } from '../firmware/setup/page-api.ts';

export type Network = Answer<typeof pageApi.networks>['networks'][number];
export type Device = Answer<typeof pageApi.devices>['sinks'][number];
export type Pairing = Answer<typeof pageApi.pairing>;
export type Tested = Answer<typeof pageApi.test>;
/** What the pages read of `status`, whose detail is the ladder's. */
export interface Status extends Pick<Answer<typeof pageApi.status>, 'state' | 'level'> {
  online: boolean;
  ssid: string;
  error: string;
  reason: string;
  name: string;
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
