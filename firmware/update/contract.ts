import { contract } from '../system/contract.ts';

/** What is known beside the state. Times are Unix seconds. */
const detail = {
  dict: {
    channel: 's',
    /** 0: never. */
    checked_at: 'd',
    /** Size in bytes. */
    'offer?': { dict: { version: 's', size: 'd', notes: 's' } },
    /** The version on its way. */
    target: 's',
    /** -1: not known. */
    percent: 'i',
    /** RAUC's words, or ours. */
    step: 's',
    'error?': { dict: { reason: 's', text: 's', at: 'd' } },
    /** Of the newest passage. */
    'result?': {
      dict: { ok: 'b', kind: 's', from: 's', to: 's', reason: 's', text: 's', at: 'd' },
    },
    /** What Rollback goes to. */
    'previous?': { dict: { slot: 's', version: 's' } },
    /** 0: no restart is planned. */
    restart_at: 'd',
    /** Of check, download, install, restart, night, cancel, rollback. */
    can: 'as',
  },
} as const;

/** Updates of the hub's image: from the maker's server, a file or a USB stick, into the slot that does not run. */
export const update1 = contract({
  name: 'io.ingle.Update1',
  bus: 'io.ingle.Update1',
  path: '/io/ingle/Update1',
  doc: "Updates of the hub's image.",
  methods: {
    Status: {
      doc: 'Where an update stands: `state` of firmware/update/machine.ts, or `unsupported` on a computer without RAUC; the version and slot that run; what is known beside it.',
      in: {},
      out: { state: 's', version: 's', slot: 's', detail },
      errors: [],
    },
    Check: {
      doc: 'Asks the index of a channel (empty: the chosen one) what there is; the channel is kept. `available` is whether it is newer than what runs.',
      in: { channel: 's' },
      out: { available: 'b', version: 's', size: 't', notes: 's' },
      errors: ['invalid_request', 'conflict', 'not_supported', 'unavailable'],
    },
    Download: {
      doc: 'Begins to fetch the offered bundle, going on where it was cut, and answers at once.',
      in: {},
      out: {},
      errors: ['conflict', 'not_supported'],
    },
    Verify: {
      doc: 'What RAUC says of a bundle (path or address; empty: the downloaded one) whose signature it has checked. `reason` is empty when it may be installed, else a reason of firmware/update/verdict.ts.',
      in: { source: 's' },
      out: { version: 's', compatible: 's', reason: 's' },
      errors: ['invalid_request', 'not_supported', 'unavailable'],
    },
    Install: {
      doc: 'Begins an installation and answers at once; StateChanged, Progress and Result tell the rest. `source`: empty for the offered version (downloaded first, or streamed where the disk has no room), `stream` for it streamed, an https address to stream from, an absolute path of a .raucb file, or `usb` for the newest bundle on a USB stick. `restart`: empty (wait to be told), now, or night.',
      in: { source: 's', restart: 's' },
      out: {},
      errors: ['invalid_request', 'conflict', 'not_found', 'not_supported'],
    },
    Restart: {
      doc: 'Restarts into what was installed: `now`, or at `night` (03:00 to 05:00 of local time).',
      in: { when: 's' },
      out: {},
      errors: ['invalid_request', 'conflict', 'not_supported'],
    },
    Cancel: {
      doc: 'Stops a download (what is there stays) or takes a restart at night back.',
      in: {},
      out: {},
      errors: ['conflict', 'not_supported'],
    },
    Rollback: {
      doc: 'Goes back to the version in the other slot and restarts; an installed version that has not started yet is set aside instead, without a restart.',
      in: {},
      out: { version: 's', restarts: 'b' },
      errors: ['conflict', 'not_supported'],
    },
    Sticks: {
      doc: 'Bundles on USB sticks; `size` in bytes.',
      in: {},
      out: { bundles: [{ path: 's', size: 't' }] },
      errors: [],
    },
  },
  signals: {
    StateChanged: {
      doc: 'The state moved. `reason` says why something failed, or is empty. In `draining` nothing new is to begin.',
      args: { state: 's', old: 's', reason: 's' },
    },
    Progress: {
      doc: 'How far the download (bytes of total) or the installation (total 0) is. `percent` is -1 when not known.',
      args: { step: 's', percent: 'i', bytes: 't', total: 't' },
    },
    Result: {
      doc: 'What came of a restart: the new version stays, or the old one runs again, and why.',
      args: { ok: 'b', kind: 's', from: 's', to: 's', reason: 's' },
    },
  },
  properties: {},
});
