// The ui/v0 view as its author writes it: each kind of node with what it takes. The hub checks the same by a schema
// (firmware/ui/schema.ts); test/skills/sdk.test.ts holds the two together.
import type { Localized } from '../../text/i18n.ts';

/** Words with bindings: `{{state.name}}`, `{{meta.texts.title}}`. */
export type Template = string;

export type Action =
  | { type: 'http.get'; path: Template }
  /** `path` is `/skills/<skill id>/v1/...`. */
  | { type: 'http.post'; path: Template; body?: Record<string, unknown> }
  | { type: 'bus.publish'; topic: string; payload?: Record<string, unknown> }
  | { type: 'navigate'; path: Template; mode?: 'modal' | 'panel' };

export interface Series {
  label?: Template;
  /** A binding to values, or with `data` the key of each in its rows. */
  x?: Template;
  y?: Template;
  data?: Template;
}

interface Group {
  gap?: number;
  justify?: 'start' | 'center' | 'end' | 'between';
  children: Node[];
}

export type Field = { key: string; label: Template; value?: Template; secret?: boolean };
/** Of ui/v0.1. What is given is in the action's body under `key`: chips as a list, a check as true or false. */
export type Field1 = Field & { required?: boolean; max?: number } & (
    | { input?: 'text' | 'secret' | 'number' | 'date' | 'time' | 'area' | 'check' }
    | { input: 'choice' | 'chips'; options: { label: Template; value: string }[] }
  );

export type Node =
  | { type: 'title' | 'text'; text: Template }
  | { type: 'badge'; text: Template; icon?: string }
  | { type: 'metric'; label: Template; value: Template; icon?: string }
  | ({ type: 'stack' | 'row' } & Group)
  | { type: 'card'; title?: Template; child?: Node; children?: Node[] }
  | { type: 'table'; title?: Template; columns: { key: string; label: Template }[]; rows: Template }
  | { type: 'chart.line'; title?: Template; series: Series[] }
  | { type: 'button'; label: Template; icon?: string; action: Action }
  | {
      type: 'select';
      label?: Template;
      bind?: Template;
      options: { label: Template; value: string }[];
      action?: Action;
    }
  | {
      type: 'form';
      /** On the button that sends it. */
      label: Template;
      /** What is typed is in the action's body under each key, as a string; a form with a secret waits for no network. */
      fields: Field[] | Field1[];
      action: Extract<Action, { type: 'http.post' }>;
    }
  | { type: 'empty'; text?: Template }
  /** These belong to ui/v0.1. */
  | { type: 'chart.bar'; title?: Template; series: Series[] }
  | { type: 'progress'; label?: Template; value: Template; max?: Template }
  | { type: 'tabs'; tabs: { label: Template; child?: Node; children?: Node[] }[] };

export interface View {
  schema: 'ui/v0' | 'ui/v0.1';
  meta?: { title?: Template; texts?: Record<string, Localized> };
  layout: Node;
}
