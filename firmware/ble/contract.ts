import { contract } from '../system/contract.ts';

/** The BLE setup channel: opened and closed by setup. */
export const ble1 = contract({
  name: 'io.ingle.Ble1',
  bus: 'io.ingle.Ble1',
  path: '/io/ingle/Ble1',
  doc: 'The BLE setup service, and Improv beside it.',
  methods: {
    Start: {
      doc: 'Advertises both services. It ends by itself after idle_timeout seconds without a central. `unlabelled`: the maker has printed no PIN on the device, so Improv applications need no approval while the hub was never set up.',
      in: { idle_timeout: 'u', unlabelled: 'b' },
      out: { name: 's' },
      errors: ['unavailable', 'conflict'],
    },
    Stop: { doc: 'Stops advertising and disconnects whoever is there.', in: {}, out: {}, errors: [] },
    Approve: {
      doc: 'Lets an Improv application in for two minutes, or until it leaves: somebody pressed the button of the hub or asked for it on a console.',
      in: {},
      out: {},
      errors: ['conflict'],
    },
    Status: {
      doc: 'Whether it advertises, and how many centrals are connected.',
      in: {},
      out: { advertising: 'b', centrals: 'u', address: 's' },
      errors: [],
    },
  },
  signals: {
    Ended: { doc: 'The channel closed: stopped, idle, or adapter.', args: { reason: 's' } },
  },
  properties: {},
});
