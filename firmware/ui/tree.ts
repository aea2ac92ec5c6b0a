// The render tree: the one thing a renderer draws. Views of ui/v0, USDL, ULM and A2UI are compiled into it on the hub, so
// a browser carries no parser, no schema and no expression language, and a new front end changes no renderer. Types only.

/** A renderer takes a tree whose version it knows; a node, a capability or an action it does not know is marked in place. */
export const TREE_VERSION = 1;

/**
 * What a node may need beyond the basic vocabulary. A tree is fitted to what its renderer has (`fit.ts`): a chart becomes
 * a table, an aside a tab, a frame what the skill says instead of it.
 */
export type Capability =
  | 'aside'
  | 'chart'
  | 'frame'
  | 'input'
  | 'jsonpath'
  | 'lazy'
  | 'modal'
  | 'tabs'
  | 'toast'
  | 'vega';

/** Where a path begins. `row` is the item of the nearest table or `each`, `form` what is typed into the nearest form. */
export type Root = 'form' | 'meta' | 'route' | 'row' | 'state';

/**
 * A place in data. A string is an own property, a number an index, null every item of an array (what follows is then
 * taken of each). A place that is not there is nothing, never an error.
 */
export interface Path {
  path: readonly [Root, ...(string | number | null)[]];
}

/** Data, or where it is found. Text in several languages is `{ i18n: { en, ru } }`; its reader's language is shown. */
export type Value =
  | string
  | number
  | boolean
  | null
  | Path
  | { i18n: Readonly<Record<string, string>> }
  /** Parts put together as text. */
  | { join: readonly Value[] }
  /** Nodes of an RFC 9535 query over the value of `of`, as an array: for what is no plain path (needs `jsonpath`). */
  | { query: string; of: Path }
  /** Columns put together as rows: an array of objects, as long as the longest column. */
  | { zip: Readonly<Record<string, Value>> }
  | { object: Readonly<Record<string, Value>> }
  | { array: readonly Value[] };

export type Condition =
  /** Neither nothing, false, 0, '' nor an empty array. */
  | { is: Value }
  | { not: Condition }
  | { all: readonly Condition[] }
  | { any: readonly Condition[] }
  | { compare: '=' | '!=' | '<' | '<=' | '>' | '>='; left: Value; right: Value };

/** What a tap does. Everything that reaches a skill is a command document: done once, and told where it was asked for. */
export type Act =
  | { do: 'get' | 'post'; path: Value; body?: Value }
  | { do: 'publish'; topic: string; payload?: Value }
  /** `ui.action` of a skill: `{type, action_id, payload, context}`; `form` names the form whose fields are added. */
  | {
      do: 'action';
      id: string;
      target?: string;
      payload?: Value;
      form?: string;
      /** What an app shows of it until the hub has done it. */
      meanwhile?: readonly Meanwhile[];
    }
  /** Another skill (`skill`), another page of the application (`page` with its parameters), or an address outside. */
  | { do: 'go'; skill?: string; page?: string; params?: Value; href?: string; mode?: 'modal' | 'panel' }
  /** Asks for the rows of the lazy tables of this query again. */
  | { do: 'query'; query: string; target?: string; params?: Value }
  /** Sets a value of this browser's own state at once. */
  | { do: 'set'; at: Path; value: Value };

/** A change of the view model: an operation of a JSON Patch, whose place may name what was pressed. */
export interface Meanwhile {
  op: 'add' | 'remove' | 'replace';
  /** Steps below the view model. */
  at: readonly Value[];
  value?: Value;
}

/** Rows that are asked for page by page (`ui.query`). */
export interface Lazy {
  query: string;
  target?: string;
  params?: Value;
  pageSize: number;
}

export interface Column {
  key: string;
  label: Value;
  /** What a cell shows where it is not `row.<key>`. */
  cell?: Node;
  sort?: boolean;
}

export interface Field {
  name: string;
  label: Value;
  input: 'text' | 'secret' | 'number' | 'date' | 'time' | 'area' | 'check' | 'choice' | 'chips';
  /** What stands there first. */
  value?: Value;
  options?: readonly Option[];
  required?: boolean;
  /** At most so many characters; 256 where it is left out. */
  max?: number;
}
export interface Option {
  value: string;
  label: Value;
}
export interface Series {
  label: Value;
  /** An array of values each; x counts 0, 1, 2 where it is left out. */
  x?: Value;
  y: Value;
}

/** Text with marks: no markup ever, so nothing in it can become a script. */
export type Inline =
  | Value
  | { mark: 'strong' | 'em' | 'code' | 'strike'; of: readonly Inline[] }
  | { act: Act; of: readonly Inline[] }
  | { br: true };

interface Common {
  /** Unique in its tree where there is one: what patches, forms and tests name. */
  id?: string;
  when?: Condition;
}

export type Node = Common &
  (
    | { is: 'title'; text: Value; level?: 1 | 2 | 3 }
    | { is: 'text'; of: readonly Inline[] }
    | { is: 'badge'; text: Value; tone?: 'plain' | 'ok' | 'warn' | 'bad' }
    | { is: 'metric'; label: Value; value: Value; unit?: Value }
    /** Gaps are CSS pixels. */
    | { is: 'stack'; gap?: number; children: readonly Node[] }
    | { is: 'row'; gap?: number; justify?: 'start' | 'center' | 'end' | 'between'; children: readonly Node[] }
    | { is: 'card'; title?: Value; gap?: number; children: readonly Node[] }
    | { is: 'list'; ordered?: boolean; items: readonly (readonly Node[])[] }
    | { is: 'quote'; children: readonly Node[] }
    | { is: 'code'; text: Value }
    | { is: 'rule' }
    /** Its child once for each item of an array, at most 500 times. */
    | { is: 'each'; of: Value; child: Node; none?: Node }
    | { is: 'table'; title?: Value; columns: readonly Column[]; rows: Value | Lazy; search?: boolean }
    | { is: 'chart'; kind: 'line' | 'bar'; title?: Value; series: readonly Series[]; max?: Value }
    /** A Vega-Lite specification; its data is the array of `data`. */
    | { is: 'vega'; title?: Value; spec: Readonly<Record<string, unknown>>; data?: Value; instead?: Node }
    | { is: 'button'; label: Value; icon?: string; tone?: 'plain' | 'primary' | 'danger'; act: Act }
    /** A field outside of a form: each change is set at `bind` and then done as `act`, `wait` ms after the last key. */
    | { is: 'input'; field: Field; bind?: Path; act?: Act; wait?: number }
    | { is: 'form'; title?: Value; fields: readonly Field[]; label: Value; act: Act }
    | { is: 'progress'; label?: Value; value: Value; max?: Value }
    | { is: 'tabs'; tabs: readonly { label: Value; children: readonly Node[] }[] }
    | { is: 'empty'; text: Value; icon?: string; act?: Act; label?: Value }
    /** A page of the skill on an opaque origin (UMF): `page` is a path below its /v1/ui/. */
    | { is: 'frame'; page: string; title: Value; w?: number; h?: number; instead?: Node }
    /** What the compiler did not know or could not take, in words for the skill's author. */
    | { is: 'note'; code: string; says: string; pointer: string }
  );

export interface Tree {
  tree: typeof TREE_VERSION;
  /** Which front end made it, as `ui/v0`, `usdl/0.2`. */
  from: string;
  title?: Value;
  meta?: Readonly<Record<string, unknown>>;
  /** What `state` begins with; the state document is laid over it (`overlayState`). */
  state?: Readonly<Record<string, unknown>>;
  main: readonly Node[];
  header?: readonly Node[];
  aside?: readonly Node[];
  modal?: readonly Node[];
  toast?: readonly Node[];
  /** What all of its nodes need, sorted. */
  needs: readonly Capability[];
}

/** What a front end says of a document besides its tree: where, which code, and in words what would be right. */
export interface Problem {
  /** JSON pointer (RFC 6901) into the source; of a text `/line/column`. */
  pointer: string;
  code: string;
  hint: string;
}

/**
 * A front end: total, so whatever it is given becomes a tree, with a note in the place of what it does not know. Pure, and
 * bounded by the source's size.
 */
export type FrontEnd = (source: unknown) => { tree: Tree; problems: readonly Problem[] };
