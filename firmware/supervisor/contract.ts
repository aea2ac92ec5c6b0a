import { contract } from '../system/contract.ts';

/** A service as its supervisor sees it. */
export const service = {
  /** Without `.service`. */
  unit: 's',
  /** active, inactive, failed, activating, deactivating or reloading (systemd's ActiveState); restarting: it was told to. */
  state: 's',
  /** The supervisor's own word for it (systemd's SubState). */
  sub: 's',
  /** Since when it is in this state, Unix seconds; 0: never since the machine started. */
  since: 'd',
  /** Times it was started again by itself since the machine started. */
  restarts: 'u',
  /** Bytes; -1: not known. */
  memory: 'd',
  /** What came of its last run: success, exit-code, signal, core-dump, watchdog, timeout, oom-kill ... (systemd's Result). */
  result: 's',
  /** How its process ended: `status 1`, `SIGKILL`; empty while it runs and where it never ran. */
  cause: 's',
  /** Whether it may be started, stopped and restarted. What runs once at its own time takes no orders. */
  orders: 'b',
} as const;

const named = { unit: 's' } as const;
const after = { after: service } as const;
const refusals = [
  'invalid_request',
  'not_found',
  'conflict',
  'rate_limited',
  'timeout',
  'unavailable',
] as const;

/** Who keeps the hub's services running: systemd behind ingle-supervisor, or the house of `npm start`. */
export const supervisor1 = contract({
  name: 'io.ingle.Supervisor1',
  bus: 'io.ingle.Supervisor1',
  path: '/io/ingle/Supervisor1',
  doc: "The hub's own services: how they are, their logs, and orders to them. It knows no other unit.",
  methods: {
    List: {
      doc: 'Every service of the hub, slots for skills included.',
      in: {},
      out: { services: [service] },
      errors: ['unavailable'],
    },
    Start: { doc: 'Starts a service and says how it is then.', in: named, out: after, errors: refusals },
    Stop: {
      doc: 'Stops a service; one by which the owner reaches the hub is not stopped (`conflict`).',
      in: named,
      out: after,
      errors: refusals,
    },
    Restart: {
      doc: 'Restarts a service. For one by which the owner reaches the hub the answer comes first.',
      in: named,
      out: after,
      errors: refusals,
    },
    Log: {
      doc: 'The newest lines of a service, oldest first, at most 1000 and 128 KiB, without secrets. `at` in Unix seconds (0: not known); `level` of error, warn, notice, info, debug.',
      in: { unit: 's', lines: 'u' },
      out: { lines: [{ at: 'd', level: 's', text: 's' }] },
      errors: ['invalid_request', 'not_found', 'timeout', 'unavailable'],
    },
    Journal: {
      doc: "Lines of several services, oldest first, at most 1000 and 128 KiB, without secrets: for skills that the hub's maker has given the journal. `units` empty: all of `own`. `level`: the least grave one that is wanted. `after`: the `cursor` of an earlier answer, for what came since; empty: the newest. `cut`: older ones did not fit.",
      in: { units: 'as', level: 's', lines: 'u', after: 's' },
      out: {
        lines: [{ unit: 's', at: 'd', level: 's', text: 's' }],
        cursor: 's',
        cut: 'b',
        own: 'as',
      },
      errors: ['invalid_request', 'forbidden', 'not_found', 'rate_limited', 'timeout', 'unavailable'],
    },
    Bound: {
      doc: "Holds the slots of installed skills to what their manifests ask for (`limits`), under the caps of the slots' unit; what runs is held to it at once. `npm start` has no such bounds and does nothing.",
      in: {},
      out: {},
      errors: ['unavailable'],
    },
    Failures: {
      doc: 'The newest ends of services that were faults, newest first, at most 50; `at` in Unix seconds.',
      in: {},
      out: { failures: [{ unit: 's', at: 'd', result: 's' }] },
      errors: ['timeout', 'unavailable'],
    },
    Shutdown: {
      doc: 'Ends everything: `restart` begins anew, `poweroff` does not. Answers before it acts.',
      in: { what: 's' },
      out: {},
      errors: ['invalid_request', 'unavailable'],
    },
  },
  signals: {},
  properties: {},
});
