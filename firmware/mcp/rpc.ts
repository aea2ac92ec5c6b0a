// Messages of the Model Context Protocol (modelcontextprotocol.io, 2025-06-18): JSON-RPC 2.0, one a request. Pure.
import * as T from 'typebox';
import { checked } from '../protocol/endpoint/check.ts';
import { toIngleError } from '../protocol/errors.ts';
import { parseObject } from '../protocol/json.ts';
import type { ListedAction } from '../skills/actions.ts';

/** Versions whose messages are those taken here; the first is offered to who asks for another. */
const versions = ['2025-06-18', '2025-11-25', '2025-03-26'];

const message = T.Object({
  jsonrpc: T.Literal('2.0'),
  id: T.Optional(T.Union([T.String({ maxLength: 128 }), T.Integer()])),
  method: T.String({ maxLength: 100 }),
  params: T.Optional(T.Object({})),
});
const calling = T.Object({
  name: T.String({ maxLength: 100 }),
  arguments: T.Optional(T.Object({})),
});

export interface Tools {
  /** Those the caller may use now. */
  list(): ListedAction[];
  /** The answer as text. @throws IngleError why there is none */
  call(tool: ListedAction, input: object): Promise<string>;
}

const nameOf = (a: ListedAction) => `${a.skill_id}.${a.id}`;
const said = (text: string) => ({ content: [{ type: 'text', text }] });
const wrong = (code: number, message: string) => ({ error: { code, message } });

const toolOf = (a: ListedAction) => ({
  name: nameOf(a),
  title: a.title,
  description: a.doc,
  inputSchema: a.input,
  annotations: { title: a.title, readOnlyHint: a.safe },
});

/** What goes wrong in a tool is told to the model, which may try again. */
async function call(params: object, tools: Tools) {
  try {
    const { name, arguments: input = {} } = checked(calling, params);
    const tool = tools.list().find((a) => nameOf(a) === name);
    if (!tool) return wrong(-32602, 'There is no such tool for you. Ask for tools/list.');
    return { result: said(await tools.call(tool, input)) };
  } catch (cause) {
    return { result: { ...said(toIngleError(cause).message), isError: true } };
  }
}

async function answerTo(method: string, params: Record<string, unknown>, tools: Tools, version: string) {
  if (method === 'initialize') {
    const asked = params['protocolVersion'];
    const protocolVersion = versions.find((v) => v === asked) ?? versions[0];
    return {
      result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'ingle', version } },
    };
  }
  if (method === 'ping') return { result: {} };
  if (method === 'tools/list') return { result: { tools: tools.list().map(toolOf) } };
  if (method === 'tools/call') return call(params, tools);
  return wrong(-32601, 'The hub offers initialize, ping, tools/list and tools/call.');
}

/**
 * The answer to a message; nothing to one without an id.
 * @throws IngleError `invalid_request` for what is no message, batches too
 */
export async function answerMessage(body: Uint8Array | string, tools: Tools, version: string) {
  const { id, method, params = {} } = checked(message, parseObject(body));
  if (id === undefined) return undefined;
  return {
    jsonrpc: '2.0',
    id,
    ...(await answerTo(method, params as Record<string, unknown>, tools, version)),
  };
}
