// What ULM adds to CommonMark, each with its arguments as JSON schemas. Pure.
import { limits } from '../v0/limits.ts';

export interface Argument {
  type: 'string' | 'integer' | 'boolean';
  description: string;
  minimum?: number;
  maximum?: number;
  enum?: readonly string[];
  /** Nothing can be made without it. */
  needed?: true;
}
export interface Directive {
  says: string;
  takes: Readonly<Record<string, Argument>>;
}

const title: Argument = { type: 'string', description: 'Heading; the words without a name are it, too.' };
const target: Argument = { type: 'string', description: 'Another skill that is told.' };

/** `:::name arguments`, up to a line `:::`. */
export const directives: Readonly<Record<string, Directive>> = {
  card: { says: 'What stands between the lines as a card.', takes: { title } },
  form: {
    says: 'A line for each field; an action link among them, or after the form, is its button.',
    takes: {
      id: { type: 'string', description: 'Name by which action links submit it.', needed: true },
      title,
      action: { type: 'string', description: 'What it does when it is sent; its id where it is left out.' },
      submit: { type: 'string', description: 'Words on its button.' },
    },
  },
  table: {
    says: 'Rows: a line of cells with {{name}} for what each row has there; a line without them is the heading.',
    takes: {
      query: { type: 'string', description: 'Query that gives the rows page by page; or data.' },
      data: { type: 'string', description: 'Rows in the state, as state.rows.' },
      target,
      pageSize: {
        type: 'integer',
        minimum: 1,
        maximum: 200,
        description: 'Rows of a page; 20 where it is left out.',
      },
      search: { type: 'boolean', description: 'A person may search them by words.' },
      title,
    },
  },
};

/** `name "Label": kind(arguments)`, a line of a form. */
export const fieldLine: Directive = {
  says: 'A field in a form: a name, words in quotes if it should have others, and in brackets what kind takes.',
  takes: {
    kind: {
      type: 'string',
      enum: ['input', 'secret', 'number', 'date', 'time', 'area', 'check', 'choice', 'chips'],
      description: 'How it is given; the words in the brackets of choice and chips are what can be chosen.',
      needed: true,
    },
    label: { type: 'string', description: 'What a person is asked for.' },
    value: { type: 'string', description: 'What stands there first.' },
    required: { type: 'boolean', description: 'Nothing is sent while it is empty.' },
    max: {
      type: 'integer',
      minimum: 1,
      maximum: 10_000,
      description: 'Characters at most; 256 where it is left out.',
    },
  },
};

/** `[Words](@action:id arguments)`. */
export const actionLink: Directive = {
  says: 'Tells the skill. Alone in its paragraph it is a button; every other argument is its payload.',
  takes: {
    id: { type: 'string', description: 'What the skill hears, after "@action:".', needed: true },
    submit: { type: 'string', description: 'The form whose fields are sent along.' },
    target,
  },
};

/** The text itself. */
export const plainText: Directive = {
  says: `CommonMark without HTML and images: headings, lists, quotes, code, emphasis, links, and bindings as {{state.name}}. At most ${limits.nodes} nodes.`,
  takes: {},
};
