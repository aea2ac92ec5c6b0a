// What this process serves on the bus: contracts by path, and how a call to one of them is answered. No I/O here.
import { IngleError, toIngleError } from '../protocol/errors.ts';
import {
  type Args,
  type Contract,
  fromWire,
  introspection,
  signatureOf,
  toWire,
  type Variant,
} from './contract.ts';

/** A contract in service. */
export interface Entry {
  contract: Contract;
  impl: Record<string, (a: never, caller: { sender: string }) => unknown>;
  properties: Map<string, unknown>;
  /** Runs at each call, for idle exit. */
  onCall: (method: string) => void;
}

/** A method call as it came. */
export interface Called {
  path: string;
  /** '' where the caller named none. */
  interface: string;
  member: string;
  sender: string;
  signature: string;
  body: unknown[];
}

/** The one answer of a call. */
export interface Reply {
  give(signature: string, body: unknown[]): void;
  fail(error: IngleError): void;
}

/** Named values as a body in the order of `args`, with its signature. */
export function pack(args: Args, values: Record<string, unknown>): { signature: string; body: unknown[] } {
  const types = Object.entries(args);
  return {
    signature: types.map(([, t]) => signatureOf(t)).join(''),
    body: types.map(([n, t]) => toWire(t, values[n])),
  };
}

/** A body as the values `args` names. */
export function unpack(args: Args, body: unknown[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).map(([n, t], i) => [n, fromWire(t, body[i])]));
}

/** Those properties of an entry that have a value. */
export function propertiesOf(entry: Entry): Record<string, Variant> {
  const out: Record<string, Variant> = {};
  for (const [n, p] of Object.entries(entry.contract.properties))
    if (entry.properties.has(n)) out[n] = { signature: p.type, value: entry.properties.get(n) };
  return out;
}

/** The objects of a connection. */
export function servedObjects() {
  const objects = new Map<string, Map<string, Entry>>();
  const underWay = new Set<Promise<void>>();

  function property(entry: Entry, m: Called, reply: Reply): void {
    const all = propertiesOf(entry);
    const one = all[m.body[1] as string];
    if (m.member === 'GetAll') reply.give('a{sv}', [all]);
    else if (m.member === 'Get' && one) reply.give('v', [one]);
    else reply.fail(new IngleError('not_found', 'There is no such property to be read.'));
  }

  async function perform(entry: Entry, m: Called, reply: Reply): Promise<void> {
    const method = entry.contract.methods[m.member]!;
    try {
      const result = await entry.impl[m.member]!(unpack(method.in, m.body) as never, { sender: m.sender });
      const { signature, body } = pack(method.out, (result ?? {}) as Record<string, unknown>);
      reply.give(signature, body);
    } catch (cause) {
      const e = toIngleError(cause);
      if (!(cause instanceof IngleError)) process.emitWarning(cause as Error);
      reply.fail(e);
    }
  }

  function begin(entry: Entry, m: Called, reply: Reply): void {
    const work = Promise.resolve()
      .then(() => perform(entry, m, reply))
      .finally(() => underWay.delete(work));
    underWay.add(work);
  }

  return {
    /** Whether a call waits for its answer. */
    isAnswering: () => underWay.size > 0,
    /** Settles when none does. */
    async answered(): Promise<void> {
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
    add(entry: Entry): void {
      const at = objects.get(entry.contract.path) ?? new Map<string, Entry>();
      at.set(entry.contract.name, entry);
      objects.set(entry.contract.path, at);
    },
    /** Answers a call to something served here; false leaves it to others. */
    dispatch(m: Called, reply: Reply): boolean {
      if (m.interface === 'org.freedesktop.DBus.Introspectable' && m.member === 'Introspect') {
        reply.give('s', [node(m.path, objects)]);
        return true;
      }
      const at = objects.get(m.path);
      if (!at) return false;
      if (m.interface === 'org.freedesktop.DBus.Properties') {
        const entry = at.get(m.body[0] as string);
        if (entry) property(entry, m, reply);
        return entry !== undefined;
      }
      const has = (e: Entry) => Object.hasOwn(e.contract.methods, m.member);
      const entry = m.interface ? at.get(m.interface) : [...at.values()].find(has);
      if (!entry || !has(entry)) return false;
      entry.onCall(m.member);
      const want = Object.values(entry.contract.methods[m.member]!.in).map(signatureOf).join('');
      if ((m.signature || '') !== want)
        reply.fail(new IngleError('invalid_request', `${m.member} takes (${want}).`));
      else begin(entry, m, reply);
      return true;
    },
  };
}

/** Introspection of a path: its contracts, and the paths below it. */
function node(path: string, objects: ReadonlyMap<string, ReadonlyMap<string, Entry>>): string {
  const own = [...(objects.get(path)?.values() ?? [])].map((e) => introspection(e.contract)).join('');
  const prefix = path === '/' ? '/' : `${path}/`;
  const children = new Set<string>();
  for (const p of objects.keys())
    if (p.startsWith(prefix)) children.add(p.slice(prefix.length).split('/')[0]!);
  const nodes = [...children].map((c) => `<node name="${c}"/>`).join('');
  return `<node>${own}${nodes}</node>`;
}
