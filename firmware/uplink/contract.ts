import { contract } from '../system/contract.ts';

/** Asking root for a code takes as long as root does, milliseconds. */
export const CODE_MS = 30_000;

const issued = {
  device_code: 's',
  secret: 's',
  link: 's',
  verify_uri: 's',
  expires_at: 'x',
  taken: 'b',
} as const;
const person = {
  id: 's',
  name: 's',
  role: 's',
  created_at: 'x',
  until: 'x',
  ended: 'b',
  invited_by: 's',
  browsers: 'as',
} as const;

/** The hub's link to root: enrolment, pairing codes, state. */
export const uplink1 = contract({
  name: 'io.ingle.Uplink1',
  bus: 'io.ingle.Uplink1',
  path: '/io/ingle/Uplink1',
  doc: 'Enrolment with root, pairing codes and the state of the link.',
  methods: {
    Enrol: {
      doc: 'Makes keys where there are none and enrols with root; once enrolled, answers what is there. A refused certificate, or a changed `root_url`, is followed only to the same owner, subnet, hub and application; else `conflict`, and nothing has changed. Times are Unix seconds.',
      in: {},
      out: { owner_id: 's', subnet_id: 's', hub_id: 's', keys: 's', expires_at: 'x' },
      errors: ['unavailable', 'rate_limited', 'unauthenticated', 'conflict'],
    },
    Offered: {
      doc: 'Asks root which place it offers this hub, and changes nothing. `changes`: what differs from the pinned place; empty when it is the same, or none is pinned yet. `conflict`: the configuration pins another application.',
      in: {},
      out: {
        owner_id: 's',
        subnet_id: 's',
        hub_id: 's',
        app_url: 's',
        changes: [{ field: 's', was: 's', now: 's' }],
      },
      errors: ['unavailable', 'rate_limited', 'unauthenticated', 'conflict'],
    },
    Adopt: {
      doc: 'Takes another place, exactly as a person has confirmed it: every paired browser and passkey and an open pairing code are forgotten with it. `conflict` when root offers something else by now; nothing has changed then. The one call that changes owner or application.',
      in: { owner_id: 's', subnet_id: 's', hub_id: 's', app_url: 's' },
      out: { owner_id: 's', subnet_id: 's', hub_id: 's', keys: 's', expires_at: 'x' },
      errors: ['unavailable', 'rate_limited', 'unauthenticated', 'conflict'],
    },
    IssueCode: {
      doc: 'Opens a pairing window of 10 minutes: `device_code` for root, `secret` that never reaches root, and `link` with everything in its fragment. A new window closes the one before. With `new_passkey` the browser may register a passkey though the owner has one (the hub approves it). `link` and `verify_uri` are of the pinned application. `taken`: somebody entered the code before this one, and no browser was paired with it. `conflict`: root offers another place, or is another root; see `Enrol`.',
      in: { new_passkey: 'b' },
      out: issued,
      errors: ['unavailable', 'rate_limited', 'unauthenticated', 'conflict'],
    },
    Untold: {
      doc: 'The newest code of `Recovering` that nobody has told the owner of; `expires_at` is 0 where there is none. `told` is the `expires_at` of the one that they have been told of by now, or 0.',
      in: { told: 'x' },
      out: { owner_id: 's', expires_at: 'x' },
      errors: [],
    },
    InviteBrowser: {
      doc: 'A code as of `IssueCode` with `new_passkey`, asked for by the owner in a paired browser: nobody need be told of it.',
      in: {},
      out: issued,
      errors: ['unavailable', 'rate_limited', 'unauthenticated', 'conflict'],
    },
    Status: {
      doc: 'The present state. `connected`: the socket to root is up. `browsers`: pinned browsers of the owner. `channels`: end-to-end channels open now. `pending`: routes of root that lead here and have no channel open. `insecure`: the debug mode of sealed secrets is on, so that root could let itself in. `owner_id` is empty before enrolment.',
      in: {},
      out: {
        connected: 'b',
        root: 's',
        owner_id: 's',
        subnet_id: 's',
        hub_id: 's',
        keys: 's',
        expires_at: 'x',
        browsers: 'u',
        channels: 'u',
        pending: 'u',
        insecure: 'b',
        last_error: 's',
      },
      errors: [],
    },
    ListBrowsers: {
      doc: 'Pinned browsers: id (base64url of the static key), label, paired at, last seen (Unix seconds). Of the owner and of people; `ListPeople` says which are whose.',
      in: {},
      out: { browsers: [{ id: 's', label: 's', paired_at: 'x', seen_at: 'x' }] },
      errors: [],
    },
    ForgetBrowser: {
      doc: 'Unpins a browser and closes its channels.',
      in: { id: 's' },
      out: {},
      errors: ['not_found'],
    },
    RenameBrowser: {
      doc: 'Gives a browser another label, 1 to 64 characters.',
      in: { id: 's', label: 's' },
      out: {},
      errors: ['not_found', 'invalid_request'],
    },
    ListPeople: {
      doc: 'People the owner has invited. `until`: when their time ends, 0 for never; `ended`: it is over; `browsers`: ids of theirs. Times are Unix seconds.',
      in: {},
      out: { people: [person] },
      errors: [],
    },
    AddPerson: {
      doc: 'Adds a person. `role`: admin, adult, kid or guest. `invited_by`: the browser that asks, or empty. Nothing is open to them before they have come in by `InvitePerson`.',
      in: { name: 's', role: 's', until: 'x', invited_by: 's' },
      out: person,
      errors: ['invalid_request', 'conflict'],
    },
    ChangePerson: {
      doc: 'Gives a person another name, role or end; an empty text and -1 leave what is. Their channels end, and come back as what they are now.',
      in: { id: 's', name: 's', role: 's', until: 'x' },
      out: person,
      errors: ['not_found', 'invalid_request'],
    },
    RemovePerson: {
      doc: 'Forgets a person with their browsers and passkeys; their channels end at once.',
      in: { id: 's' },
      out: {},
      errors: ['not_found'],
    },
    InvitePerson: {
      doc: 'Opens a pairing window like `IssueCode`, for a browser of this person and nobody else. `conflict`: their time is over, or as there.',
      in: { id: 's' },
      out: issued,
      errors: ['not_found', 'unavailable', 'rate_limited', 'unauthenticated', 'conflict'],
    },
    InviteHub: {
      doc: 'Opens a pairing window like `IssueCode`, for another hub that is to be a member of this subnet; no browser comes in by it. `conflict`: this hub is a member itself, the subnet is full, or as there.',
      in: {},
      out: issued,
      errors: ['unavailable', 'rate_limited', 'unauthenticated', 'conflict'],
    },
    JoinSubnet: {
      doc: 'Joins the subnet of the hub whose invitation (link or digits) this is. The hub then has its owner; browsers and people that were let in here are forgotten: unless `confirmed`, `conflict` with `loses` says how many. `pairing_failed`: the other hub did not let it in. `timeout`: it did not answer in time; what was begun goes on.',
      in: { invite: 's', confirmed: 'b' },
      out: { owner_id: 's', subnet_id: 's', hub: 's' },
      errors: [
        ...(['invalid_request', 'invalid_device_code', 'conflict', 'pairing_failed', 'timeout'] as const),
        ...(['unavailable', 'rate_limited', 'unauthenticated', 'not_found'] as const),
      ],
    },
    LeaveSubnet: {
      doc: 'Leaves the subnet; the hub is alone again, as it was, and forgets who was let in. The hub that leads is told if it answers.',
      in: {},
      out: {},
      errors: ['not_found', 'unavailable', 'rate_limited', 'unauthenticated', 'conflict'],
    },
    Subnet: {
      doc: 'The subnet. `role`: hub (it leads, or is alone) or member. `stage` of a membership: joining, in, leaving, left, removed; empty for none. `hub`: who leads. `reached`: of a member, the leading hub answers. `at_home`: the hub has the place where it is alone, so leaving forgets nobody. `nodes`: members this hub leads; their `state` is joined, here, gone or left. Times are Unix seconds, 0 for never.',
      in: {},
      out: {
        role: 's',
        stage: 's',
        hub: 's',
        reached: 'b',
        at_home: 'b',
        nodes: [
          {
            hub_id: 's',
            name: 's',
            version: 's',
            caps: 'as',
            state: 's',
            since: 'x',
            heard_at: 'x',
          },
        ],
      },
      errors: [],
    },
    RegisterNode: {
      doc: 'The member `member` says who it is; for ingle-api. `interval_s`: when its next heartbeat is expected.',
      in: { member: 's', hub_id: 's', name: 's', version: 's', caps: 'as' },
      out: { interval_s: 'u' },
      errors: ['forbidden', 'not_found'],
    },
    NodeHeard: {
      doc: 'A member is there; for ingle-api.',
      in: { hub_id: 's' },
      out: { interval_s: 'u' },
      errors: ['not_found'],
    },
    NodeLeft: { doc: 'A member leaves; for ingle-api.', in: { hub_id: 's' }, out: {}, errors: ['not_found'] },
    RemoveNode: {
      doc: 'Lets a member go: its channel ends at once and its key is forgotten; it learns why and is alone again. Root is told now or when it is back.',
      in: { hub_id: 's' },
      out: {},
      errors: ['not_found'],
    },
    NudgeNode: {
      doc: 'A member that is reached hears that it has something to do; for ingle-scenario.',
      in: { hub_id: 's' },
      out: {},
      errors: ['not_found'],
    },
    Errands: {
      doc: 'Tells the hub that leads what this one did for it, and asks what there is to do; for ingle-scenario. JSON both ways; `via`: who leads.',
      in: { report: 's' },
      out: { via: 's', answer: 's' },
      errors: ['conflict', 'unavailable', 'invalid_request'],
    },
    RotateKey: {
      doc: 'Makes a new static key, signed by the identity key; browsers follow it, hub_id stays.',
      in: {},
      out: {},
      errors: ['unavailable'],
    },
  },
  signals: {
    Connected: { doc: 'The socket to root came up or went down.', args: { connected: 'b' } },
    Node: { doc: 'A member of the subnet changed its state.', args: { hub_id: 's', state: 's' } },
    Paired: {
      doc: 'A browser of the owner was let in for the first time.',
      args: { sid: 's', browser: 's', label: 's' },
    },
    Recovering: {
      doc: 'A code was made, by nobody in a browser of the owner, with which somebody makes a passkey of the owner without an old one; it is good until then, Unix seconds.',
      args: { owner_id: 's', expires_at: 'x' },
    },
    PairingFailed: {
      doc: 'A browser did not prove itself, or began to and never did (`timeout`); `left` tries remain for this code. `reason` is an error code.',
      args: { sid: 's', reason: 's', left: 'u' },
    },
  },
  properties: {},
});
