import { contract } from '../system/contract.ts';

/** Who asks: their id and role here, what they are called, their language. */
const asker = { user: 's', role: 's', name: 's', locale: 's' } as const;

/** Scenarios of the hub. The local API is its only caller: it says who asks, and has looked whether they may ask at all. */
export const scenario1 = contract({
  name: 'io.ingle.Scenario1',
  bus: 'io.ingle.Scenario1',
  path: '/io/ingle/Scenario1',
  doc: 'Prototypes and what people change of them; runs, their journals and dead letters; the scheduler; what is said to the hub. Records are dictionaries as the local API has them.',
  methods: {
    Prototypes: {
      doc: 'The scenarios of the hub that somebody may start, or all for who manages it.',
      in: { asker },
      out: { prototypes: 'aa{sv}' },
      errors: [],
    },
    Install: {
      doc: 'Takes a prototype whose package the caller has checked, and uses it. publisher: the key that signed it, or empty.',
      in: { prototype: 'a{sv}', readme: 's', publisher: 's' },
      out: { id: 's', version: 's' },
      errors: ['invalid_request', 'forbidden', 'conflict', 'unavailable'],
    },
    Use: {
      doc: 'Uses another version that is on the hub.',
      in: { id: 's', version: 's' },
      out: { version: 's' },
      errors: ['not_found', 'unavailable'],
    },
    Versions: {
      doc: 'The versions of a scenario that are on the hub, and what the use of each would make of what people changed.',
      in: { asker, id: 's' },
      out: { versions: 'aa{sv}' },
      errors: ['not_found'],
    },
    Remove: {
      doc: 'Takes an installed scenario away; one of the image stays.',
      in: { id: 's' },
      out: {},
      errors: ['not_found', 'forbidden', 'unavailable'],
    },
    Implementation: {
      doc: 'What somebody changed of a scenario, and what it is with that. Of those that are for the role of who asks.',
      in: { asker, user: 's', id: 's' },
      out: { implementation: 'a{sv}' },
      errors: ['not_found', 'forbidden'],
    },
    Change: {
      doc: 'Sets what somebody changed; of a scenario that everybody shares, the owner and admins only. rev: the one that was looked at; -1 asks for none.',
      in: { asker, user: 's', id: 's', implementation: 'a{sv}', rev: 'i' },
      out: { implementation: 'a{sv}' },
      errors: ['not_found', 'forbidden', 'invalid_request', 'conflict', 'unavailable'],
    },
    Forget: { doc: 'A person is gone, with what they changed.', in: { user: 's' }, out: {}, errors: [] },
    Start: {
      doc: 'Starts a scenario. asking: ctx, io, priority, force, run_id.',
      in: { id: 's', asker, asking: 'a{sv}' },
      out: { run_id: 's' },
      errors: ['not_found', 'forbidden', 'conflict', 'invalid_request', 'not_supported', 'unavailable'],
    },
    Rehearse: {
      doc: 'What a start would do, step by step, without doing it.',
      in: { id: 's', asker, asking: 'a{sv}' },
      out: { steps: 'aa{sv}' },
      errors: ['not_found', 'forbidden', 'conflict', 'invalid_request', 'not_supported'],
    },
    Order: {
      doc: 'stop, pause, resume or kill, of an instance; happened: what it waits for from outside has. user: whose it must be, or empty.',
      in: { run_id: 's', what: 's', user: 's' },
      out: {},
      errors: ['not_found', 'conflict', 'invalid_request', 'unavailable'],
    },
    StopByActivity: {
      doc: 'Stops the instances that have begun an activity.',
      in: { activity: 's' },
      out: { stopped: 'as' },
      errors: ['unavailable'],
    },
    Runs: {
      doc: 'Runs, the newest first; of one scenario or person where they are named.',
      in: { scenario_id: 's', user: 's', limit: 'u' },
      out: { runs: 'aa{sv}' },
      errors: [],
    },
    Run: {
      doc: 'One run with its journal.',
      in: { run_id: 's' },
      out: { run: 'a{sv}', journal: 'aa{sv}' },
      errors: ['not_found'],
    },
    DeadLetters: {
      doc: 'Runs that failed, the newest first.',
      in: {},
      out: { letters: 'aa{sv}' },
      errors: [],
    },
    Replay: {
      doc: 'Runs a dead letter anew. from: start, or step.',
      in: { id: 's', from: 's' },
      out: { run_id: 's' },
      errors: ['not_found', 'conflict', 'invalid_request', 'unavailable'],
    },
    Discard: {
      doc: 'Forgets a dead letter.',
      in: { id: 's' },
      out: {},
      errors: ['not_found', 'unavailable'],
    },
    CreateJob: {
      doc: 'Plans a scenario by cron or for one time. job: scenario_id, cron or at (Unix milliseconds), zone, ctx, missed, grace_ms.',
      in: { asker, job: 'a{sv}' },
      out: { job_id: 's' },
      errors: ['invalid_request', 'not_found', 'forbidden', 'conflict', 'unavailable'],
    },
    RemoveJob: {
      doc: 'Takes a job away. user: whose it must be, or empty.',
      in: { job_id: 's', user: 's' },
      out: {},
      errors: ['not_found', 'unavailable'],
    },
    Jobs: {
      doc: 'The jobs, and the times until `until` (Unix milliseconds) at which they fire.',
      in: { user: 's', until: 'd' },
      out: { jobs: 'aa{sv}' },
      errors: [],
    },
    Recognize: {
      doc: 'What a text means, and starts the scenario of the intent. intent is empty where nothing matches. out: where the scenario answers, empty for where it would by itself.',
      in: { text: 's', asker, ctx: 'a{sv}', start: 'b', out: 'as' },
      out: { intent: 's', slots: 'a{sv}', scenario_id: 's', run_id: 's' },
      errors: ['invalid_request', 'forbidden', 'conflict', 'not_supported', 'unavailable'],
    },
    Wake: {
      doc: "Listens to whoever speaks at the hub, and starts the scenario of what they say; the answer comes when that is known. Anything may be said that a rule in force understands. lang: en, ru or empty for the hub's own. heard: somebody spoke. text: empty where it was nothing of that.",
      in: { asker, lang: 's' },
      out: { heard: 'b', text: 's', intent: 's', scenario_id: 's', run_id: 's' },
      errors: [
        'invalid_request',
        'forbidden',
        'not_found',
        'conflict',
        'not_supported',
        'unavailable',
        'timeout',
      ],
    },
    Hush: {
      doc: 'Ends the conversation: the hub neither listens nor speaks on.',
      in: {},
      out: {},
      errors: [],
    },
    Voice: {
      doc: 'state of the conversation: IDLE, LISTENING, ACTING, ANSWERING, REFUSING. unspoken: patterns that cannot be said, with why; unknown: words without a pronunciation.',
      in: { lang: 's' },
      out: { state: 's', unspoken: 'aa{sv}', unknown: 'as' },
      errors: ['invalid_request'],
    },
    Rules: {
      doc: 'Intent rules of the owner, bindings, phrases that nothing understood.',
      in: {},
      out: { rules: 'a{sv}' },
      errors: [],
    },
    SetRules: {
      doc: 'Sets rules and bindings of the owner: { rules, lists, bindings }.',
      in: { rules: 'a{sv}' },
      out: {},
      errors: ['invalid_request', 'unavailable'],
    },
    Teach: {
      doc: 'A phrase that nothing understood begins a scenario from now on.',
      in: { phrase: 's', scenario_id: 's' },
      out: {},
      errors: ['invalid_request', 'not_found', 'unavailable'],
    },
    Unteach: {
      doc: 'Takes a phrase off those that nothing understood, or has one that was taught begin nothing any more.',
      in: { phrase: 's' },
      out: {},
      errors: ['not_found', 'unavailable'],
    },
    Metrics: {
      doc: 'Counts since the service started, and what goes on now.',
      in: {},
      out: { metrics: 'a{sv}' },
      errors: [],
    },
    NodeRuns: {
      doc: 'What the member `node` says of runs it does for this hub, and what it has to do. JSON both ways, as errands-given.ts has it.',
      in: { node: 's', report: 's' },
      out: { answer: 's' },
      errors: ['invalid_request', 'unavailable'],
    },
    Errands: {
      doc: 'The hub that leads the subnet has something to do for this one.',
      in: {},
      out: {},
      errors: [],
    },
    Exposition: {
      doc: 'What happened to runs and steps, counted, as text of the Prometheus format 0.0.4.',
      in: {},
      out: { text: 's' },
      errors: [],
    },
    ClockChanged: { doc: 'The clock of the machine was set.', in: {}, out: {}, errors: [] },
  },
  signals: {
    Changed: { doc: 'Scenarios, implementations or jobs are others now.', args: { what: 's' } },
  },
  properties: {},
});
