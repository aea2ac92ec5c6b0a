// Does a running service offer what its contract says? Its introspection is read back and compared, member by member.
import * as assert from 'uvu/assert';
import type { Bus } from '../../firmware/system/bus.ts';
import {
  type Args,
  type Contract,
  isDict,
  keysOf,
  signatureOf,
  splitSignature,
  type Type,
} from '../../firmware/system/contract.ts';

interface Offered {
  methods: Record<string, { in: string[]; out: string[] }>;
  signals: Record<string, string[]>;
  properties: Record<string, string>;
}

/** What introspection XML says of one interface: names with their signatures, in order. */
export function offered(xml: string, iface: string): Offered | undefined {
  const body = new RegExp(`<interface name="${iface.replace(/\./g, '\\.')}">(.*?)</interface>`, 's').exec(
    xml,
  )?.[1];
  if (body === undefined) return undefined;
  const out: Offered = { methods: {}, signals: {}, properties: {} };
  for (const [, kind, name, inner] of body.matchAll(/<(method|signal) name="(\w+)">(.*?)<\/\1>/gs)) {
    const args = [...inner!.matchAll(/<arg name="(\w+)" type="([^"]+)"(?: direction="(in|out)")?\/>/g)];
    const some = (direction?: string) =>
      args.filter((a) => a[3] === direction).map((a) => `${a[1]}: ${a[2]}`);
    if (kind === 'method') out.methods[name!] = { in: some('in'), out: some('out') };
    else out.signals[name!] = some();
  }
  for (const [, name, type] of body.matchAll(/<property name="(\w+)" type="([^"]+)" access="read">/g))
    out.properties[name!] = type!;
  return out;
}

/** The signature of a type, and those of the values of a dictionary of known keys. */
const signaturesOf = (t: Type): string[] => [
  signatureOf(t),
  ...(isDict(t) ? keysOf(t).flatMap(([, type]) => signaturesOf(type)) : []),
];

/** The same, as the contract has it. */
export function promised(c: Contract): Offered {
  const list = (a: Args) => Object.entries(a).map(([n, t]) => `${n}: ${signatureOf(t)}`);
  return {
    methods: Object.fromEntries(
      Object.entries(c.methods).map(([n, m]) => [n, { in: list(m.in), out: list(m.out) }]),
    ),
    signals: Object.fromEntries(Object.entries(c.signals).map(([n, s]) => [n, list(s.args)])),
    properties: Object.fromEntries(Object.entries(c.properties).map(([n, p]) => [n, p.type])),
  };
}

/**
 * Asserts that the service under `busName` offers exactly `c`, with whole signatures, and answers a call with wrong
 * arguments in our error shape.
 */
export async function assertContract(bus: Bus, c: Contract, busName = c.bus): Promise<void> {
  const [xml] = await bus.call(busName, c.path, 'org.freedesktop.DBus.Introspectable', 'Introspect');
  assert.equal(offered(String(xml), c.name), promised(c));
  for (const m of Object.values(c.methods))
    for (const t of [...Object.values(m.in), ...Object.values(m.out)])
      for (const s of signaturesOf(t)) assert.is(splitSignature(s).length, 1, `${s} is one complete type`);
  const [name, method] = Object.entries(c.methods)[0] ?? [];
  if (!name || !method) return;
  const wrong = Object.values(method.in).map(signatureOf).join('') === 'd' ? 's' : 'd';
  const e = await bus.call(busName, c.path, c.name, name, wrong, [wrong === 'd' ? 1 : 'x']).catch((x) => x);
  assert.is(e.code, 'invalid_request');
  const none = await bus.call(busName, c.path, c.name, 'NoSuchMethod').catch((x) => x);
  assert.ok(none instanceof Error);
}
