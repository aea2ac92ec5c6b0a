import { contract } from '../system/contract.ts';

/** The messaging bot as a setup channel; it runs where the device maker or the owner has set a token. */
export const bot1 = contract({
  name: 'io.ingle.Bot1',
  bus: 'io.ingle.Bot1',
  path: '/io/ingle/Bot1',
  doc: 'Setup over a messenger.',
  methods: {
    Start: {
      doc: 'Opens the channel. `name`: how the bot is called in the messenger.',
      in: {},
      out: { name: 's' },
      errors: ['unavailable', 'not_supported'],
    },
    Stop: { doc: 'Closes the channel and lets go whoever is talking.', in: {}, out: {}, errors: [] },
    Status: {
      doc: 'Whether the channel is open, and the newest trouble.',
      in: {},
      out: { open: 'b', name: 's', error: 's' },
      errors: [],
    },
  },
  signals: {},
  properties: {},
});
