// Requests to the local API drawn from its OpenAPI document: some as they should be, most of them not.
import { fromUtf8, toBase64url, utf8 } from '../../firmware/protocol/bytes.ts';
import { packSkill } from '../../firmware/skills/package.ts';
import { type Draw, drawing, drawn, spoilt } from '../lab/draw.ts';
import { garbage, methods, segments } from '../lab/garbage.ts';
import type { Asking } from '../lab/keepalive.ts';
import { lamp, signerOfSeed } from '../skills/archive.ts';
import { owner, principal } from './hub.ts';

type Schema = Record<string, unknown>;

/** What the document says of one method at one path. */
export interface Operation {
  method: string;
  path: string;
  operationId: string;
  parameters: { name: string; in: 'path' | 'query'; schema: Schema }[];
  requestBody?: { content: Record<string, { schema?: Schema }> };
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>;
}

type Paths = Record<string, Record<string, Omit<Operation, 'method' | 'path'>>>;

export const operationsOf = (document: { paths: Paths }): Operation[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, o]) => ({ ...o, method: method.toUpperCase(), path })),
  );

const { bytes: packed } = packSkill(lamp(), signerOfSeed(1));
const key = toBase64url(signerOfSeed(1).key);
/** A message as `/api/mcp` takes it. */
const rpc = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x.y', arguments: {} } };
/** Values that reach something, by the name of a parameter or field. */
const known: Record<string, unknown[]> = {
  skill_id: ['hub_status', 'lamp'],
  name: ['ingle-api', 'ingle-uplink', 'Acme'],
  path: ['refresh', 'state'],
  id: ['A'.repeat(22)],
  version: ['1.2.0'],
  key: [key],
  mode: ['modal', 'panel'],
  order: [['hub_status'], ['hub_status', 'lamp']],
  topic: ['external.test', 'external.door'],
  what: ['restart', 'poweroff'],
};

const types = ['application/json', 'text/plain', 'application/octet-stream', 'multipart/form-data', 'x'];

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
/** As a client would send it: percent-encoded, and in pieces that a request line may hold. */
const encoded = (value: unknown): string => encodeURIComponent(fromUtf8(utf8(asText(value)))).slice(0, 800);

function pathOf(o: Operation, d: Draw): string {
  const path = o.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (d.chance(8)) return d.pick(segments);
    const schema = o.parameters.find((p) => p.in === 'path' && p.name === name)?.schema ?? {};
    return encoded(drawn(schema, d, known, name));
  });
  const names = o.parameters.filter((p) => p.in === 'query');
  const asked = names
    .filter(() => d.chance(2))
    .map((p) => `${p.name}=${encoded(drawn(p.schema, d, known, p.name))}`);
  if (d.chance(6)) {
    const name = d.pick([...names.map((p) => p.name), 'unknown', '__proto__', '']);
    asked.push(`${name}=${d.pick([encoded(d.pick(garbage)), ...segments])}`);
  }
  return asked.length > 0 ? `${path}?${asked.join('&')}` : path;
}

/** One byte changed, cut off, or twice. */
function torn(bytes: Uint8Array, d: Draw): Uint8Array {
  if (bytes.length === 0) return bytes;
  const at = d.below(bytes.length);
  if (d.chance(3)) return bytes.slice(0, at);
  if (d.chance(4)) return Buffer.concat([bytes, bytes.slice(at)]);
  return bytes.map((b, i) => (i === at ? b ^ (1 << d.below(8)) : b));
}

function bodyOf(o: Operation, d: Draw): string | Uint8Array | undefined {
  if (o.method === 'GET' && !d.chance(8)) return undefined;
  const schema = o.requestBody?.content['application/json']?.schema;
  if (!schema)
    return d.pick<string | Uint8Array>([
      '',
      '{}',
      '{',
      'x',
      torn(packed, d),
      asText(d.pick(garbage)),
      JSON.stringify(spoilt(rpc, d)),
    ]);
  const value = drawn(schema, d, known);
  switch (d.below(8)) {
    case 0:
      return torn(utf8(JSON.stringify(value)), d);
    case 1:
      return d.pick(['', '{', '[]', 'null', '"x"', `{"a":${'['.repeat(100)}`, '{"a":1,"a":2}', '\u0000']);
    case 2:
      return new Uint8Array([0xff, 0xfe, d.below(256)]);
    case 3:
    case 4:
    case 5:
      return JSON.stringify(spoilt(value, d));
    default:
      return JSON.stringify(value);
  }
}

/** Who asks: nearly always one who may, as behind a refusal there is nothing to be found. */
function callerOf(token: string, d: Draw): Record<string, string> {
  if (d.chance(20)) return { 'x-service-token': d.pick(['', 'x', token.slice(1), `${token}x`]) };
  const mine = { 'x-service-token': token };
  if (d.chance(10)) return { ...mine, 'x-ingle-principal': encoded(d.pick(garbage)) };
  if (d.chance(10)) {
    const spoiltOne = { ...owner, [d.pick(['browser', 'role', 'elevated_until', 'more'])]: d.pick(garbage) };
    return { ...mine, 'x-ingle-principal': toBase64url(utf8(JSON.stringify(spoiltOne))).slice(0, 1500) };
  }
  const as = d.chance(5) ? { role: d.pick(['admin', 'adult', 'kid', 'guest'] as const) } : {};
  return d.chance(2) ? mine : { ...mine, 'x-ingle-principal': principal(as) };
}

function headersOf(token: string, d: Draw): Record<string, string> {
  const headers = callerOf(token, d);
  if (!d.chance(3)) headers['content-type'] = d.pick(types);
  if (d.chance(8))
    headers['idempotency-key'] = d.chance(2) ? `g${d.below(50)}` : encoded(d.pick(garbage)).slice(0, 200);
  if (d.chance(12)) headers['last-event-id'] = encoded(d.pick(garbage)).slice(0, 200);
  if (d.chance(12))
    headers[d.pick(['webhook-id', 'webhook-timestamp', 'webhook-signature', 'accept', 'x'])] = '-1';
  return headers;
}

/** The `i`th request of a seed. */
export function requestOf(operations: readonly Operation[], token: string, seed: number, i: number) {
  const d = drawing(seed, i);
  const operation = operations[i % operations.length]!;
  const body = bodyOf(operation, d);
  const asking: Asking = {
    method: d.chance(10) ? d.pick(methods) : operation.method,
    path: pathOf(operation, d),
    headers: headersOf(token, d),
    ...(body === undefined ? {} : { body }),
  };
  return { operation, asking };
}
