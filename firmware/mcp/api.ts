// The Model Context Protocol (modelcontextprotocol.io, 2025-06-18) on the local API: skills' actions as tools.
import * as T from 'typebox';
import { listedAction } from '../skills/actions.ts';
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
  state: {
    method: 'GET',
    path: '/api/mcp/switch',
    who: 'owner',
    doc: 'Whether programs may use the actions of skills, which these are, and what such a program has to be told.',
    answer: T.Object({
      on: T.Boolean(),
      url: T.String({ description: 'The address, as programs on the hub itself reach it.' }),
      token_file: T.String({
        description:
          'Where the service token lies that the program sends as X-Service-Token. It opens the whole local API, and goes on doing so when this is off.',
      }),
      actions: T.Array(listedAction, { description: 'What local control may use now.' }),
    }),
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
