// The local API of setup, for the owner's application and programs on the hub.
import { ok, some } from '../system/api.ts';
import { localArea } from '../system/local-api.ts';

export const setupApi = localArea({
  status: {
    method: 'GET',
    path: '/api/setup',
    who: 'owner',
    doc: 'Where first-run setup stands, as every channel sees it.',
    answer: some,
  },
  restart: {
    method: 'POST',
    path: '/api/setup/restart',
    who: 'elevated',
    doc: 'Starts setup again.',
    answer: ok,
    errors: ['conflict', 'assertion_required', 'forbidden'],
  },
});
