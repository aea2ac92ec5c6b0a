// The Model Context Protocol (modelcontextprotocol.io, 2025-06-18) on the local API: skills' actions as tools.
import * as T from 'typebox';
import { ok } from '../system/api.ts';
import { localArea } from '../system/local-api.ts';

export const mcpApi = localArea({
  ask: {
    method: 'POST',
    path: '/api/mcp',
    who: 'household',
    doc: 'One message of the Model Context Protocol (streamable HTTP, without sessions and streams); its tools are the actions of the skills the caller may use. Off until the owner turns it on.',
    body: 'raw',
    errors: ['forbidden', 'too_large'],
  },
  turn: {
    method: 'POST',
    path: '/api/mcp/switch',
    who: 'elevated',
    doc: 'Lets programs use the actions of skills over /api/mcp, or no longer.',
    body: T.Object({ on: T.Boolean() }, { additionalProperties: false }),
    answer: ok,
  },
});
