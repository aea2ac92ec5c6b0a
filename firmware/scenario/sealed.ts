// Secrets and devices of a person: in expressions a mark stands for each, and only an action that goes out of the house
// of scenarios is given what it stands for. What comes back is redacted. No I/O.
import { random, toBase64url, toHex, utf8 } from '../protocol/bytes.ts';
import { IngleError } from '../protocol/errors.ts';
import type { Action, Actions, Asked } from './action.ts';
import type { Value } from './expression.ts';
import type { Implementation } from './schema.ts';

export const sealedKinds = ['secret', 'device'] as const;
export type SealedKind = (typeof sealedKinds)[number];
type Bindings = NonNullable<Implementation['bindings']>;

/** Of this process, so that nobody who writes an event or an answer can write a mark. */
const nonce = toHex(random(16));
const markOf = (kind: SealedKind, name: string): string => `\u{e000}${nonce}:${kind}:${name}\u{e001}`;
const marks = () => new RegExp(`\u{e000}${nonce}:(secret|device):([A-Za-z0-9_-]+)\u{e001}`, 'gu');

const isName = (name: string | symbol): name is string =>
  typeof name === 'string' && /^[A-Za-z][A-Za-z0-9_-]{0,47}$/.test(name);

/** What expressions see as `secret` and `device`: a mark for every name. */
export const sealedScope: Readonly<Record<SealedKind, object>> = Object.fromEntries(
  sealedKinds.map((kind) => [
    kind,
    // `memberOf` of expression.ts asks for own members first.
    new Proxy({} as object, {
      get: (_, name) => (isName(name) ? markOf(kind, name) : undefined),
      getOwnPropertyDescriptor: (_, name) =>
        isName(name) ? { value: markOf(kind, name), enumerable: false, configurable: true } : undefined,
    }),
  ]),
) as never;

/** A value with every text in it changed, names of fields as well. */
function changed(value: Value, change: (text: string) => string): Value {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((v) => changed(v, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, v]) => [change(key), changed(v, change)]));
}

const hasMark = (value: Value): boolean => JSON.stringify(value ?? null).includes(nonce);

/** For who only looks: the expression stands where the value would. */
export const unopened = (value: Value): Value =>
  changed(value, (text) => text.replace(marks(), (_, kind: string, name: string) => `\${${kind}.${name}}`));

const sealedValue = (of: Bindings, kind: SealedKind, name: string): string | undefined => {
  const from: Record<string, { value?: string; device_id?: string }> =
    (kind === 'secret' ? of.secrets : of.devices) ?? {};
  return Object.hasOwn(from, name) ? (from[name]!.value ?? from[name]!.device_id) : undefined;
};

function opened(value: Value, of: Bindings): Value {
  return changed(value, (text) =>
    text.replace(marks(), (_, kind: SealedKind, name: string) => {
      const is = sealedValue(of, kind, name);
      if (is !== undefined) return is;
      throw new IngleError(
        'not_found',
        `The ${kind} "${name}" is not set. Set it in the settings of the scenario first.`,
      );
    }),
  );
}

/** Shorter ones would be found in any text. */
const LEAST = 4;
export const REDACTED = '•••';

/** Takes what is sealed out of whatever came back, as it is and in the usual forms of it. */
export function redactor(of: Bindings): ((text: string) => string) | undefined {
  const values = [
    ...Object.values(of.secrets ?? {}).flatMap(({ value }) => value ?? []),
    ...Object.values(of.devices ?? {}).flatMap(({ device_id }) => device_id ?? []),
  ].filter((v) => v.length >= LEAST);
  if (values.length === 0) return undefined;
  const forms = values.flatMap((v) => [
    ...[v, encodeURIComponent(v), JSON.stringify(v).slice(1, -1)],
    ...[Buffer.from(utf8(v)).toString('base64').replace(/=+$/, ''), toBase64url(utf8(v))],
  ]);
  const all = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (text) => all.reduce((t, form) => (t.includes(form) ? t.replaceAll(form, REDACTED) : t), text);
}

/** An error whose words and details hold nothing sealed. */
function clean(cause: unknown, redact: (text: string) => string): unknown {
  if (cause instanceof IngleError)
    return new IngleError(
      cause.code,
      redact(cause.message),
      cause.details && (changed(cause.details as Value, redact) as Record<string, unknown>),
    );
  const e = new Error(redact((cause as Error)?.message ?? String(cause)));
  if ((cause as Error)?.stack) e.stack = redact((cause as Error).stack!);
  return e;
}

/** Actions whose effect is outside: all others keep, say or publish what they are given. */
const mayOpen = (name: string): boolean =>
  ['http.fetch', 'skills.run', 'slot.call'].includes(name) ||
  /^(?!io\.)[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$/.test(name);
const keeping = /^(?:memory|schedule|profile|skills)\./;

/** The same actions: each is given the values of the marks in its arguments, and gives back none of them. */
export function opening<A extends Actions>(
  actions: A,
  bindingsOf: (asked: Asked) => Bindings | Promise<Bindings>,
): A {
  const opener = (name: string, action: Action): Action => ({
    ...action,
    async perform(asked) {
      const of = await bindingsOf(asked);
      const isMarked = hasMark(asked.args as Value);
      const isOpener = mayOpen(name) && (!keeping.test(name) || name === 'skills.run');
      if (isMarked && !isOpener)
        throw new IngleError(
          'forbidden',
          `The action ${name} is given no secrets and devices: it would show them.`,
        );
      const redact = redactor(of);
      try {
        const args = isMarked ? (opened(asked.args as Value, of) as Asked['args']) : asked.args;
        const result = await action.perform({ ...asked, args });
        return redact ? changed(result ?? null, redact) : result;
      } catch (cause) {
        throw redact ? clean(cause, redact) : cause;
      }
    },
  });
  return {
    ...actions,
    find(name) {
      const action = actions.find(name);
      return action && opener(name, action);
    },
  };
}

/** Bindings as they are shown: which there are, and nothing of what they are. */
export function shownBindings({ slots, secrets, devices }: Bindings): Bindings {
  const names = (of: object) => Object.fromEntries(Object.keys(of).map((name) => [name, {}]));
  return {
    ...(slots ? { slots } : {}),
    ...(secrets ? { secrets: names(secrets) } : {}),
    ...(devices ? { devices: names(devices) } : {}),
  };
}

/** What was sent, with the values that are kept where only a name came. @throws IngleError `invalid_request` */
export function keptBindings(next: Bindings, now: Bindings = {}): Bindings {
  const filled = <V extends object>(
    of: Record<string, V> | undefined,
    before: Record<string, V> | undefined,
    at: string,
  ): Record<string, V> | undefined =>
    of &&
    Object.fromEntries(
      Object.entries(of).map(([name, v]) => {
        if (Object.keys(v).length > 0) return [name, v];
        if (Object.hasOwn(before ?? {}, name)) return [name, before![name]!];
        throw new IngleError('invalid_request', `There is no value of "${name}" to be kept. Send one.`, {
          pointer: `/bindings/${at}/${name}`,
        });
      }),
    );
  const secrets = filled(next.secrets, now.secrets, 'secrets');
  const devices = filled(next.devices, now.devices, 'devices');
  return { ...next, ...(secrets ? { secrets } : {}), ...(devices ? { devices } : {}) };
}
