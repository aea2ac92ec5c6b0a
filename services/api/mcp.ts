// Answers of firmware/mcp/api.ts: tools are asked for as the same caller would ask the skill's own path.
import { mcpApi } from '../../firmware/mcp/api.ts';
import type { Tools } from '../../firmware/mcp/serve.ts';
import { openBucket, rate, take } from '../../firmware/protocol/bucket.ts';
import { fromUtf8, utf8 } from '../../firmware/protocol/bytes.ts';
import { bind, type Handlers } from '../../firmware/protocol/endpoint/router.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { actionsOf } from '../../firmware/skills/actions.ts';
import { version } from '../../firmware/system/config.ts';
import { type Asked, type Dispatch, type LocalEndpoint, type Offer, usableBy } from './dispatch.ts';
import type { Response } from './http.ts';
import { ofJson } from './http.ts';
import type { Switch } from './switch.ts';

/** Messages at once, and a second. */
const most = rate(60, 10);

export function mcpEndpoints(
  o: Offer & { mcp: Switch; route: Dispatch['route']; url: () => string; token_file: string },
): LocalEndpoint[] {
  const bucket = openBucket(most, performance.now());

  function admit({ origin }: Asked): void {
    if (!o.mcp.get())
      throw new IngleError(
        'forbidden',
        'This is off. The owner turns it on in the settings of the application, or at the hub: ingle mcp on.',
      );
    if (origin !== undefined)
      throw new IngleError('forbidden', 'Pages of a browser may not ask here. Use a program without Origin.');
    if (!take(bucket, most, performance.now()))
      throw new IngleError('rate_limited', 'Too many messages. Try again in a second.', { retry_after: 1 });
  }

  const headersOf = ({ headers = {} }: Asked) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('mcp-')));

  const toolsOf = (asked: Asked): Tools => ({
    list: () => actionsOf(usableBy(o, asked.caller)),
    async call({ skill_id, id }, input) {
      const path = `/skills/${skill_id}/v1/actions/${id}`;
      const mine = { ...asked, headers: {}, method: 'POST', path, search: new URLSearchParams() };
      const { status, body = '' } = await o.route(mine, path).answer(mine, utf8(JSON.stringify(input)));
      const text = typeof body === 'string' ? body : fromUtf8(body);
      if (status >= 400) throw new IngleError('unavailable', `The skill refused: ${text.slice(0, 1000)}`);
      return text;
    },
  });

  const handlers: Handlers<typeof mcpApi, Asked, Response> = {
    async ask(asked) {
      admit(asked);
      const { answerMessage } = await import('../../firmware/mcp/serve.ts');
      const { status, body } = await answerMessage(asked.body, headersOf(asked), toolsOf(asked), version);
      return body ? { status, headers: ofJson, body } : { status };
    },
    state: () => ({
      on: o.mcp.get(),
      url: o.url(),
      token_file: o.token_file,
      actions: actionsOf(usableBy(o, null)),
    }),
    async turn({ body: { on } }) {
      await o.mcp.set(on);
      return { ok: true };
    },
  };
  return bind(mcpApi, handlers);
}
