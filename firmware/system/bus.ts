// The only door to D-Bus (dbus-next): serve a contract, call one, hear signals, publish bus topics.
import dbus from 'dbus-next';
import { busName, IngleError } from '../protocol/errors.ts';
import { asIngle, errorBody } from './bus-errors.ts';
import {
  type Caller,
  type Contract,
  fromVariant,
  type Implementation,
  toVariant,
  type Values,
  type Variant,
} from './contract.ts';
import { openHearing } from './hearing.ts';
import type { Heard, Match } from './match.ts';
import { type Entry, pack, propertiesOf, servedObjects, unpack } from './served.ts';

// dbus-next ships no types; this is the part of it we use.
interface Message {
  type: number;
  serial: number;
  path: string;
  interface: string;
  member: string;
  destination: string;
  sender: string;
  signature: string;
  body: unknown[];
  errorName: string;
}
interface RawBus {
  name: string | null;
  call(m: Message): Promise<Message>;
  send(m: Message): void;
  requestName(name: string, flags: number): Promise<number>;
  releaseName(name: string): Promise<number>;
  addMethodHandler(f: (m: Message) => boolean): void;
  disconnect(): void;
  on(event: 'message', f: (m: Message) => void): void;
  on(event: 'error', f: (e: Error) => void): void;
  once(event: 'connect', f: () => void): void;
  _connection: { stream: NodeJS.ReadWriteStream };
}
interface MessageClass {
  new (m: Partial<Message>): Message;
  newMethodReturn(m: Message, signature: string, body: unknown[]): Message;
  newError(m: Message, name: string, text: string): Message;
  newSignal(path: string, iface: string, member: string, signature: string, body: unknown[]): Message;
}
const lib = dbus as unknown as {
  Message: MessageClass;
  Variant: new (signature: string, value: unknown) => Variant;
  DBusError: new (type: string, text: string) => Error & { type: string; text: string };
  sessionBus(o: object): RawBus;
  systemBus(o?: object): RawBus;
  setBigIntCompat(on: boolean): void;
};
const { Message } = lib;
lib.setBigIntCompat(false);

const topicsInterface = 'io.ingle.Bus1';
const topicsPath = '/io/ingle/Bus1';
const SIGNAL = 4;
const METHOD_CALL = 1;

/** A served contract: raise its signals, change its properties, take it back. */
export interface Served<C extends Contract> {
  emit<S extends keyof C['signals'] & string>(name: S, args: Values<C['signals'][S]['args']>): void;
  /** Sets properties and announces them by PropertiesChanged. */
  set(changed: Partial<{ [P in keyof C['properties']]: unknown }>): void;
}

export interface Bus {
  readonly name: string;
  /** Serves `c` at its path and takes its bus name. `onCall` runs at each call, for idle exit. */
  serve<C extends Contract>(
    c: C,
    impl: Implementation<C>,
    options?: { properties?: Record<string, unknown>; busName?: string; onCall?: (method: string) => void },
  ): Promise<Served<C>>;
  /** A caller of `c`; the daemon starts the service when it is activatable. */
  client<C extends Contract>(c: C, options?: { busName?: string }): Caller<C>;
  /** Hears a contract's signal until the returned function is called. */
  onSignal<C extends Contract, S extends keyof C['signals'] & string>(
    c: C,
    name: S,
    f: (args: Values<C['signals'][S]['args']>, sender: string) => void,
  ): Promise<() => Promise<void>>;
  /** A raw call, for services that are not ours (wpa_supplicant, RAUC, BlueZ, systemd). Body and reply are raw. */
  call(
    destination: string,
    path: string,
    iface: string,
    member: string,
    signature?: string,
    body?: unknown[],
    timeoutMs?: number,
  ): Promise<unknown[]>;
  /** Hears raw signals until the returned function is called. */
  match(rule: Match, f: (signal: Heard) => void): Promise<() => Promise<void>>;
  /**
   * Publishes on a bus topic: signal `io.ingle.Bus1.Event(topic s, payload v)`.
   * @throws IngleError `invalid_request` for a payload the daemon does not carry
   */
  publish(topic: string, payload: unknown): void;
  /** What publishes when it is called: nothing of it can be refused any more. @throws like `publish` */
  publication(topic: string, payload: unknown): () => void;
  /** Settles when the daemon has taken what was published. @throws IngleError `timeout`, `unavailable` */
  flushed(): Promise<void>;
  /** Hears a topic, or with a trailing `.*` all topics below it. */
  subscribe(topic: string, f: (topic: string, payload: unknown) => void): Promise<() => Promise<void>>;
  /** Follows who owns a bus name; called at once with the present owner ('' = nobody). */
  watchName(name: string, f: (owner: string) => void): Promise<() => Promise<void>>;
  listNames(): Promise<string[]>;
  /** Names the daemon: another after each of its starts. */
  id(): Promise<string>;
  /** Names whose services the daemon starts when they are called. */
  listActivatableNames(): Promise<string[]>;
  /** A value for a variant argument of a raw call. */
  variant(signature: string, value: unknown): Variant;
  /** Whether a call to what is served here waits for its answer. */
  isAnswering(): boolean;
  /**
   * Gives up the names of what is served here, so that who calls next reaches another process, and settles when every
   * call that came before has its answer.
   */
  retire(): Promise<void>;
  close(): void;
  /** Settles when the daemon is gone; a service then exits and is started again. */
  readonly closed: Promise<void>;
}

/** Arrays, structs, entries and variants within each other; the daemon throws out whoever sends more. */
const MAX_NESTED = 64;

/**
 * dbus-next wants its own Variant class and Buffers, all the way down.
 * @throws IngleError `invalid_request` for what the daemon does not carry
 */
function marshalable(value: unknown, depth = 0): unknown {
  const into = (levels: number) => {
    if (depth + levels <= MAX_NESTED) return depth + levels;
    throw new IngleError('invalid_request', 'This nests too deep for the message bus.');
  };
  if (value instanceof Uint8Array) {
    into(1);
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  if (Array.isArray(value)) {
    const inside = into(1);
    return value.map((x) => marshalable(x, inside));
  }
  if (value !== null && typeof value === 'object') {
    const v = value as Partial<Variant>;
    if (typeof v.signature === 'string' && 'value' in v)
      return new lib.Variant(v.signature, marshalable(v.value, into(1)));
    const inside = into(2);
    return Object.fromEntries(Object.entries(value).map(([k, x]) => [nameOf(k), marshalable(x, inside)]));
  }
  // The daemon throws out whoever sends one (D-Bus specification, "Basic types").
  if (typeof value === 'string' && value.includes('\0'))
    throw new IngleError('invalid_request', 'A text may not hold the character U+0000.');
  return value;
}

/** dbus-next takes a dictionary with a key of these names for something else. */
function nameOf(key: string): unknown {
  if (key === 'constructor' || key === '__proto__')
    throw new IngleError('invalid_request', `No name in it may be "${key}".`);
  return marshalable(key);
}
const wire = (body: readonly unknown[]): unknown[] => body.map((x) => marshalable(x));

/** @throws IngleError `unavailable` when no daemon answers */
async function connectRaw(address: string | undefined): Promise<{ raw: RawBus; closed: Promise<void> }> {
  const options = { negotiateUnixFd: false };
  const raw = address ? lib.sessionBus({ ...options, busAddress: address }) : lib.systemBus(options);
  let gone: () => void = () => {};
  const closed = new Promise<void>((resolve) => (gone = resolve));
  await new Promise<void>((resolve, reject) => {
    raw.once('connect', resolve);
    raw.on('error', (e) => {
      gone();
      reject(new IngleError('unavailable', `The system's message bus (D-Bus) does not answer: ${e.message}`));
    });
  });
  raw._connection.stream.on('close', gone);
  raw._connection.stream.on('end', gone);
  return { raw, closed };
}

/** Calls of this connection; when the daemon goes, nobody will answer those that wait. */
function openCalls(raw: RawBus, closed: Promise<void>): Bus['call'] {
  const waiting = new Set<(e: IngleError) => void>();
  let isGone = false;
  const lost = () => new IngleError('unavailable', 'The connection to the message bus is gone.');
  void closed.then(() => {
    isGone = true;
    for (const lose of [...waiting]) lose(lost());
  });
  return async function call(
    destination: string,
    path: string,
    iface: string,
    member: string,
    signature = '',
    body: unknown[] = [],
    timeoutMs = 25_000,
  ): Promise<unknown[]> {
    if (isGone) throw lost();
    const message = new Message({
      destination,
      path,
      interface: iface,
      member,
      signature,
      body: wire(body),
    });
    let timer: NodeJS.Timeout | undefined;
    let lose: (e: IngleError) => void = () => {};
    const unanswered = new Promise<never>((_, reject) => {
      lose = reject;
      waiting.add(lose);
      timer = setTimeout(
        () => reject(new IngleError('timeout', `${destination} did not answer ${member} in time.`)),
        timeoutMs,
      );
    });
    try {
      const reply = await Promise.race([raw.call(message), unanswered]);
      return reply?.body ?? [];
    } catch (e) {
      throw asIngle(e, destination);
    } finally {
      clearTimeout(timer);
      waiting.delete(lose);
    }
  };
}

function errorOf(m: Message, e: IngleError): Message {
  const error = Message.newError(m, busName(e.code), e.message);
  error.body = errorBody(e);
  error.signature = 's'.repeat(error.body.length);
  return error;
}

/**
 * Connects to the system bus, or to `INGLE_BUS_ADDRESS` where `npm start` and tests run a private one.
 * @throws IngleError `unavailable` when no daemon answers.
 */
export async function connect(address = process.env['INGLE_BUS_ADDRESS']): Promise<Bus> {
  const { raw, closed } = await connectRaw(address);
  const call = openCalls(raw, closed);
  const daemon = (member: string, signature = '', body: unknown[] = []) =>
    call('org.freedesktop.DBus', '/org/freedesktop/DBus', 'org.freedesktop.DBus', member, signature, body);
  const { match, watchName, heard } = openHearing(daemon);
  const objects = servedObjects();
  const names = new Set<string>();

  raw.on('message', (m) => {
    if (m.type === SIGNAL) heard(m);
  });
  const send = (m: Message) => raw.send(m);
  const messageOf = (path: string, iface: string, member: string, signature: string, body: unknown[]) =>
    Message.newSignal(path, iface, member, signature, wire(body));
  raw.addMethodHandler(
    (m) =>
      m.type === METHOD_CALL &&
      objects.dispatch(m, {
        give: (signature, body) => send(Message.newMethodReturn(m, signature, wire(body))),
        fail: (e) => send(errorOf(m, e)),
      }),
  );
  const signal = (path: string, iface: string, member: string, signature: string, body: unknown[]) =>
    send(messageOf(path, iface, member, signature, body));

  const bus: Bus = {
    get name() {
      return raw.name ?? '';
    },
    async serve(c, impl, options = {}) {
      const entry: Entry = {
        contract: c,
        impl: impl as never,
        properties: new Map(Object.entries(options.properties ?? {})),
        onCall: options.onCall ?? (() => {}),
      };
      objects.add(entry);
      const name = options.busName ?? c.bus;
      // 4 = do not queue: two services under one name would be a fault to see, not to hide.
      const got = await raw.requestName(name, 4);
      if (got !== 1 && got !== 4)
        throw new IngleError('conflict', `Another process already owns ${name}. Stop it first.`);
      names.add(name);
      return {
        emit(name, args) {
          const { signature, body } = pack(c.signals[name]!.args, args as Record<string, unknown>);
          signal(c.path, c.name, name, signature, body);
        },
        set(changed) {
          for (const [n, v] of Object.entries(changed)) entry.properties.set(n, v);
          const all = propertiesOf(entry);
          const dict = Object.fromEntries(Object.keys(changed).map((n) => [n, all[n]]));
          const properties = 'org.freedesktop.DBus.Properties';
          signal(c.path, properties, 'PropertiesChanged', 'sa{sv}as', [c.name, dict, []]);
        },
      };
    },
    client(c, options = {}) {
      const out: Record<string, unknown> = {};
      for (const [name, method] of Object.entries(c.methods)) {
        out[name] = async (values: Record<string, unknown>, timeoutMs?: number) => {
          const { signature, body } = pack(method.in, values ?? {});
          const to = options.busName ?? c.bus;
          return unpack(method.out, await call(to, c.path, c.name, name, signature, body, timeoutMs));
        };
      }
      return out as never;
    },
    onSignal(c, name, f) {
      const args = c.signals[name]!.args;
      return match({ path: c.path, interface: c.name, member: name }, (s) =>
        f(unpack(args, s.body) as never, s.sender),
      );
    },
    call,
    match,
    publish(topic, payload) {
      bus.publication(topic, payload)();
    },
    publication(topic, payload) {
      const m = messageOf(topicsPath, topicsInterface, 'Event', 'sv', [topic, toVariant(payload)]);
      return () => send(m);
    },
    async flushed() {
      // The daemon answers in the order of what it was sent.
      await daemon('GetId');
    },
    subscribe(topic, f) {
      const rule: Match = { interface: topicsInterface, member: 'Event' };
      if (topic.endsWith('.*')) rule.arg0namespace = topic.slice(0, -2);
      else rule.arg0 = topic;
      return match(rule, (s) => f(s.body[0] as string, fromVariant(s.body[1])));
    },
    watchName,
    async listNames() {
      return (await daemon('ListNames'))[0] as string[];
    },
    async id() {
      return (await daemon('GetId'))[0] as string;
    },
    async listActivatableNames() {
      return (await daemon('ListActivatableNames'))[0] as string[];
    },
    variant: (signature, value) => ({ signature, value }),
    isAnswering: objects.isAnswering,
    async retire() {
      // The daemon keeps the order of messages: calls that came by the name are here before its answer, and its answer
      // to the last request says that it has ours.
      for (const name of names) await daemon('ReleaseName', 's', [name]);
      names.clear();
      await objects.answered();
      await daemon('GetId');
    },
    close() {
      raw.disconnect();
    },
    closed,
  };
  return bus;
}
