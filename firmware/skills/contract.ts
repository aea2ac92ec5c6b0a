import { contract } from '../system/contract.ts';

/** A document and its state or what is lacking of it, a Yjs update. */
const stored = { doc: 's', update: 'ay' } as const;
/** Where in a document, which code, and in words what would be right. */
const problem = { pointer: 's', code: 's', hint: 's' } as const;

/**
 * One skill, in its own process. Its bus name is that of its slot, `io.ingle.Skill1.slot<n>`: who lives there is in the
 * table of skills (slots.ts), never what a process says. The local API is its only caller.
 * Documents are Yjs documents; updates are Yjs v1 updates.
 */
export const skill1 = contract({
  name: 'io.ingle.Skill1',
  bus: 'io.ingle.Skill1.%',
  path: '/io/ingle/Skill1',
  doc: 'A skill: its manifest, its documents, its HTTP paths.',
  methods: {
    Manifest: {
      doc: "The skill's manifest.json as a dictionary.",
      in: {},
      out: { manifest: 'a{sv}' },
      errors: [],
    },
    Attach: {
      doc: 'Hands the skill an owner, the stored states of its documents (`doc` is `<doc_type>:<branch>`, each with a Yjs update) and how many view them. From then on it keeps them up to date by `Update`. Answers what the stored states lacked; what it does to them before it answers is in the answer alone.',
      in: { owner_id: 's', viewers: 'u', documents: [stored] },
      out: { documents: [stored] },
      errors: ['invalid_request'],
    },
    Watch: {
      doc: 'Other than Attach said, so many view the documents of an owner now; a skill may do less with none.',
      in: { owner_id: 's', viewers: 'u' },
      out: {},
      errors: [],
    },
    Due: {
      doc: 'When the next timer of the skill is due, milliseconds since 1970; 0: it has none.',
      in: {},
      out: { at: 'd' },
      errors: [],
    },
    Kept: {
      doc: 'The caller keeps this time over restarts and calls then, so the skill may go until shortly before.',
      in: { at: 'd' },
      out: {},
      errors: [],
    },
    Told: {
      doc: 'What the hub says of a document the skill has sent: every problem by its JSON pointer, its code and a hint. `refused`: the document stays as it was; else each is marked in its place.',
      in: { owner_id: 's', doc: 's', refused: 'b', problems: [problem] },
      out: {},
      errors: [],
    },
    Leave: {
      doc: 'Ends the process in order; the next call starts what the table of skills says then. A skill that is still loading or refuses leaves as well.',
      in: {},
      out: {},
      errors: [],
    },
    Request: {
      doc: 'One HTTP request to a path of the skill (`/v1/...`). `id` is the idempotency id: the same id is done once.',
      in: { id: 's', owner_id: 's', method: 's', path: 's', headers: 'a{ss}', body: 'ay' },
      out: { status: 'q', headers: 'a{ss}', body: 'ay' },
      errors: ['not_found', 'invalid_request', 'method_not_allowed', 'timeout'],
    },
  },
  signals: {
    DueChanged: { doc: 'Another time is what Due answers now.', args: { at: 'd' } },
    Said: {
      doc: 'The skill tells a person something: a topic ui.toast, ui.notify or ui.route, and its payload as JSON.',
      args: { owner_id: 's', topic: 's', payload: 's' },
    },
    Update: {
      doc: "A skill's document has changed.",
      args: { owner_id: 's', doc: 's', update: 'ay' },
    },
  },
  properties: {},
});

/** The bus name of a slot. */
export function skillBusName(slot: number): string {
  return `io.ingle.Skill1.slot${slot}`;
}
