// What the settings ask of the hub.
import type { mcpApi } from '../firmware/mcp/api.ts';
import type { browsersApi } from '../firmware/people/browsers-api.ts';
import type { Answer } from '../firmware/protocol/endpoint/endpoint.ts';
import { reached } from './current.ts';

export type Browser = Answer<typeof browsersApi.list>['browsers'][number];
export type Programs = Answer<typeof mcpApi.state>;
export type Invitation = Answer<typeof browsersApi.invite>;

/** The hub's orders. @throws IngleError what it answered, `unavailable` when it is not reached */
export const hub = {
  browsers: async () =>
    (await reached().request<Answer<typeof browsersApi.list>>('GET', '/api/browsers')).browsers,
  invite: () => reached().request<Invitation>('POST', '/api/browsers/invite', {}),
  forget: (id: string) => reached().request('DELETE', `/api/browsers/${id}`),
  name: (value: string) => reached().request('POST', '/api/node/name', { value }),
  place: (name: string) => reached().request<{ name: string }>('POST', '/skills/weather/v1/place', { name }),
  programs: () => reached().request<Programs>('GET', '/api/mcp/switch'),
  letPrograms: (on: boolean) => reached().request('POST', '/api/mcp/switch', { on }),
};
