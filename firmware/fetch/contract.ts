import { contract } from '../system/contract.ts';

/**
 * What skills may fetch. Who asks is told by the bus: the owner of a slot's name. Notices go out here as well, so that
 * the local API itself has no way to the internet.
 */
export const fetch1 = contract({
  name: 'io.ingle.Fetch1',
  bus: 'io.ingle.Fetch1',
  path: '/io/ingle/Fetch1',
  doc: "Fetches for skills, which have no network: over https, from the hosts that the skill's manifest names. Brings notices to the push services of browsers.",
  methods: {
    Fetch: {
      doc: 'One GET or POST. Redirects are followed to hosts of the manifest; `url` is the last one. The answer is at most 1 MiB and here within 15 s. A skill has 4 at once and 60 a minute.',
      in: { url: 's', method: 's', headers: 'a{ss}', body: 'ay' },
      out: { status: 'q', url: 's', headers: 'a{ss}', body: 'ay' },
      errors: ['invalid_request', 'forbidden', 'rate_limited', 'too_large', 'timeout', 'unavailable'],
    },
    FetchFrom: {
      doc: 'The same for scenarios, for ingle-scenario alone: from the hosts it names. All scenarios together have 4 at once and 60 a minute.',
      in: { url: 's', method: 's', headers: 'a{ss}', body: 'ay', hosts: 'as' },
      out: { status: 'q', url: 's', headers: 'a{ss}', body: 'ay' },
      errors: ['invalid_request', 'forbidden', 'rate_limited', 'too_large', 'timeout', 'unavailable'],
    },
    Push: {
      doc: 'One POST to a push service, for the local API alone: over https, to a public address. Nothing is followed, and of the answer only the status is handed on. 8 go on at once.',
      in: { url: 's', headers: 'a{ss}', body: 'ay' },
      out: { status: 'q' },
      errors: ['invalid_request', 'forbidden', 'rate_limited', 'too_large', 'timeout', 'unavailable'],
    },
  },
  signals: {},
  properties: {},
});
