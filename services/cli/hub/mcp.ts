// `ingle mcp`: whether programs may use what skills offer, and what such a program is told. By the local API.
import type { mcpApi } from '../../../firmware/mcp/api.ts';
import type { Answer } from '../../../firmware/protocol/endpoint/endpoint.ts';
import type { Language } from '../../../firmware/text/i18n.ts';
import type { Say } from '../say.ts';
import { plain } from '../show.ts';
import { type At, jsonAsker } from './ask.ts';

type State = Answer<typeof mcpApi.state>;

const path = '/api/mcp/switch';

/** @param on undefined: it stays as it is */
export async function mcp(at: At, say: Say, language: Language, on?: boolean): Promise<void> {
  const ask = jsonAsker(at, say);
  if (on !== undefined) await ask('POST', path, { on });
  const state = await ask<State>('GET', path);
  say.event({ ...state });
  say.line(say.text(state.on ? 'mcpOn' : 'mcpOff'));
  if (state.on)
    say.line(say.text('mcpSetUp', { url: plain(state.url, 200), file: plain(state.token_file, 300) }));
  say.line(say.text(state.actions.length > 0 ? 'mcpTools' : 'mcpNoTools'));
  for (const a of state.actions)
    say.line(`  ${a.skill_id}.${a.id}  ${plain(a.docs?.[language] ?? a.doc, 500)}`);
}
