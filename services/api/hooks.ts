// /api/hooks/* and the path that takes their messages.
import { hooksApi } from '../../firmware/hooks/api.ts';
import type { Hook, Hooks } from '../../firmware/hooks/hooks.ts';
import { utf8 } from '../../firmware/protocol/bytes.ts';
import { bind, type Handlers } from '../../firmware/protocol/endpoint/router.ts';
import type { Asked, LocalEndpoint } from './dispatch.ts';
import type { Response } from './http.ts';

const shown = <H extends Hook>(hook: H) => ({ ...hook, url: `/hooks/${hook.id}` });

export function hookEndpoints(hooks: Hooks): LocalEndpoint[] {
  const handlers: Handlers<typeof hooksApi, Asked, Response> = {
    add: async ({ body: { name, topic } }) => shown(await hooks.add(name, topic)),
    list: async () => ({ hooks: (await hooks.list()).map(shown) }),
    async remove({ params }) {
      await hooks.remove(params.id);
      return { ok: true };
    },
    rotate: ({ params }) => hooks.rotate(params.id),
    async receive({ params, headers = {}, body }) {
      await hooks.receive(params.id, headers, typeof body === 'string' ? utf8(body) : body);
      return { ok: true };
    },
  };
  return bind(hooksApi, handlers);
}
