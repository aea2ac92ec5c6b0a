// What the page of installed skills asks of the hub.
import type { Answer } from '../firmware/protocol/endpoint/endpoint.ts';
import type { packagesApi } from '../firmware/skills/packages-api.ts';
import type { servicesApi } from '../firmware/supervisor/api.ts';
import { reached } from './current.ts';

export type Listed = Answer<typeof packagesApi.list>;
export type Installed = Listed['skills'][number];
export type LogLines = Answer<typeof servicesApi.logs>['lines'];
export type Kept = Installed['prepared'][number];

/** Largest package the hub takes, MiB. */
export const MOST_MIB = 8;
/** A step of the upload that is told, bytes. */
const STEP = 64 * 1024;

const at = (skill_id: string) => `/api/skills/${encodeURIComponent(skill_id)}`;

/** The hub's orders. @throws IngleError what it answered, `unavailable` when it is not reached */
export const hub = {
  list: () => reached().request<Listed>('GET', '/api/skills'),
  activate: (id: string, version: string) =>
    reached().request<Installed>('POST', `${at(id)}/activate`, { version }),
  rollback: (id: string) => reached().request<Installed>('POST', `${at(id)}/rollback`, {}),
  remove: (id: string) => reached().request('DELETE', at(id)),
  discard: (id: string, version: string) =>
    reached().request('DELETE', `${at(id)}/prepared/${encodeURIComponent(version)}`),
  trust: (key: string, name: string, id: string) =>
    reached().request('POST', '/api/skills/publishers', { key, name, ids: [id] }),
  /** What its process said last, oldest first. */
  async log(id: string): Promise<LogLines> {
    const ask = <R>(path: string) => reached().request<R>('GET', `/api/services${path}`);
    const { services } = await ask<Answer<typeof servicesApi.list>>('');
    const unit = services.find((s) => s.skill_id === id)?.unit;
    if (!unit) return [];
    return (await ask<Answer<typeof servicesApi.logs>>(`/${encodeURIComponent(unit)}/logs?lines=100`)).lines;
  },
  /** Sends a package; `sent` is told how much of it has gone, 0 to 1. */
  prepare(bytes: Uint8Array, sent: (share: number) => void) {
    async function* pieces() {
      for (let i = 0; i < bytes.length; i += STEP) {
        sent(i / bytes.length);
        yield bytes.subarray(i, i + STEP);
      }
      sent(1);
    }
    return reached().request<Answer<typeof packagesApi.prepare>>('POST', '/api/skills/prepare', pieces());
  },
};

/** Whether the hub is at something that ends by itself. */
export const isMoving = ({ state }: Installed) =>
  state === 'trial' || state === 'returning' || state === 'removing';

/** Prepared versions a person may still want: those that are neither a way back nor known to fail. */
export const offered = (s: Installed): Kept[] =>
  s.prepared.filter((p) => p.version !== s.previous && p.version !== s.trying);
