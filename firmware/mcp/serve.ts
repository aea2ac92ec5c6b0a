// Messages of the Model Context Protocol, answered by its own SDK: one a request, and nothing is kept of it. Loaded when
// the first one comes, as it is 10 MB in memory.
import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { IngleError, toIngleError } from '../protocol/errors.ts';
import { parseObject } from '../protocol/json.ts';
import type { ListedAction } from '../skills/actions.ts';

/** Headers in which the protocol says again what is in its message; the SDK holds one against the other. */
export type McpHeaders = Readonly<Record<string, string>>;

export interface Tools {
  /** Those the caller may use now. */
  list(): ListedAction[];
  /** The answer as text. @throws IngleError why there is none */
  call(tool: ListedAction, input: object): Promise<string>;
}

export interface Answer {
  status: number;
  /** JSON-RPC; '' for none. */
  body: string;
}

const nameOf = (a: ListedAction) => `${a.skill_id}.${a.id}`;
const said = (text: string) => ({ content: [{ type: 'text' as const, text }] });

const toolOf = (a: ListedAction) => ({
  name: nameOf(a),
  title: a.title,
  description: a.doc,
  // Manifests are held against the schema of such a schema (firmware/skills/actions.ts).
  inputSchema: a.input as { type: 'object' },
  annotations: { title: a.title, readOnlyHint: a.safe },
});

function serverOf(tools: Tools, version: string): Server {
  const server = new Server({ name: 'ingle', version }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools: tools.list().map(toolOf) }));
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: input = {} } }) => {
    const tool = tools.list().find((a) => nameOf(a) === name);
    if (!tool)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        'There is no such tool for you. Ask for tools/list.',
      );
    try {
      return said(await tools.call(tool, input));
    } catch (cause) {
      // What goes wrong in a tool is told to the model, which may try again.
      return { ...said(toIngleError(cause).message), isError: true };
    }
  });
  return server;
}

/** What no JSON-RPC message is. */
const noMessage: readonly unknown[] = [ProtocolErrorCode.InvalidRequest, ProtocolErrorCode.ParseError];

/**
 * The answer to a message, of the revision 2026-07-28 or of an earlier one that begins with `initialize`.
 * @throws IngleError `invalid_request` for what is no message, batches too
 */
export async function answerMessage(
  body: Uint8Array | string,
  headers: McpHeaders,
  tools: Tools,
  version: string,
): Promise<Answer> {
  const parsedBody = parseObject(body);
  const request = new Request('http://localhost/api/mcp', {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
  });
  const server = serverOf(tools, version);
  async function earlier() {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    return transport.handleRequest(request, { parsedBody });
  }
  try {
    const answer = (await isLegacyRequest(request, parsedBody))
      ? await earlier()
      : // A subscription would be a stream without an end, and there is nothing to tell in it.
        await createMcpHandler(() => server, { legacy: 'reject', maxSubscriptions: 0 }).fetch(request, {
          parsedBody,
        });
    const text = await answer.text();
    if (answer.status >= 400) refuse(text);
    return { status: answer.status, body: text };
  } finally {
    await server.close();
  }
}

/** @throws IngleError unless what was refused is a message, whose sender looks for JSON-RPC in the answer */
function refuse(text: string): void {
  const { error } = parseObject(text) as { error?: { code?: unknown; message?: unknown } };
  if (noMessage.includes(error?.code)) throw new IngleError('invalid_request', String(error?.message));
}
