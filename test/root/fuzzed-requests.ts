// Requests to root drawn from the declarations of its endpoints: garbage at one place, bodies nearly of their schema, heads.
import { rootApi } from '../../root/endpoints.ts';
import { type Draw, drawn, spoilt } from '../lab/draw.ts';
import { garbage, methods, segments } from '../lab/garbage.ts';
import type { Asking } from '../lab/keepalive.ts';
import { credentialFor, knownTo, type Person } from './fuzzed-people.ts';

type Schema = Readonly<Record<string, unknown>>;
type Body = Record<string, unknown>;
interface Endpoint {
  name?: string;
  method: string;
  path: string;
  who: string;
  body?: Schema;
}
export const endpoints = Object.entries(rootApi as unknown as Record<string, Endpoint>).map(
  ([name, endpoint]) => ({ name, ...endpoint }),
);
const fieldsOf = (e: Endpoint) => Object.keys((e.body?.['properties'] ?? {}) as Body);
const claims = ['iat', 'exp', 'nbf', 'jti', 'aud', 'sub', 'iss', 'purpose', 'scope', 'ticket', 'passkeys'];
const parts = ['id', 'rawId', 'type', 'response', 'clientExtensionResults', 'authenticatorAttachment'];
const inner = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle'];

/** What is replaced by garbage: a field of a body, a claim of a proof, a part of a credential. */
type Place = {
  e: (typeof endpoints)[number];
  in: 'body' | 'claim' | 'credential' | 'response';
  name: string;
};
const places: Place[] = endpoints.flatMap((e) => {
  const at = (where: Place['in'], names: string[]) => names.map((name) => ({ e, in: where, name }));
  return [
    ...at('body', e.body ? [...fieldsOf(e), 'unknown'] : []),
    ...at('claim', e.who.startsWith('proof:') || e.name === 'enrol' ? claims : []),
    ...at('credential', fieldsOf(e).includes('credential') ? parts : []),
    ...at('response', fieldsOf(e).includes('credential') ? inner : []),
  ];
});
/** Every JSON type and every hard value at every place, once with all else as it should be and once alone. */
export const systematic = places.flatMap((place) =>
  garbage.flatMap((value) => [true, false].map((isWhole) => ({ place, value, isWhole }))),
);

/** A prime, which no number of places is a multiple of. */
const STRIDE = 2503;

const texts = ['', 'x', '\u00e9', 'Bearer', 'Bearer x', 'Bearer a.b.c', 'A'.repeat(3000), '{}', '0', '-1'];
const types = ['application/json', 'text/plain', 'application/json; charset=x', '', 'x'];
const bodies = [
  '',
  '{',
  '[]',
  'null',
  '"x"',
  '{"sid":}',
  '['.repeat(5000),
  '{"a":'.repeat(40),
  '\ud800',
  '0',
];
async function wholeBody(e: Endpoint, p: Person, more: Body = {}): Promise<Body> {
  const known = knownTo(p);
  if (e.name === 'enrol') known['proof'] = [await p.hub.proof('enrol', more)];
  const names = fieldsOf(e).filter((f) => f !== 'code');
  const body = Object.fromEntries(names.map((f) => [f, known[f]?.[0]]));
  return names.includes('credential') ? { ...body, credential: await credentialFor(e, p) } : body;
}

/** A request of `e` as JSON; a body of text goes as it is. */
function asking(e: Endpoint, path: string, body: unknown, headers: Record<string, string>): Asking {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  if (e.method === 'GET' || text === undefined) return { method: e.method, path, headers };
  return { method: e.method, path, headers: { 'content-type': 'application/json', ...headers }, body: text };
}

export async function ofPlace(n: number, p: Person): Promise<Asking> {
  // Far apart, so that a slice meets every place.
  const { place, value, isWhole } = systematic[(n * STRIDE) % systematic.length]!;
  const { e, name } = place;
  const spoiltClaims = place.in === 'claim' ? { [name]: value } : {};
  const body: Body = isWhole || place.in !== 'body' ? await wholeBody(e, p, spoiltClaims) : {};
  if (place.in === 'body') body[name] = value;
  const credential = body['credential'] as Body | undefined;
  if (place.in === 'credential') credential![name] = value;
  if (place.in === 'response')
    body['credential'] = { ...credential, response: { ...(credential!['response'] as Body), [name]: value } };
  return asking(e, pathTo(e, knownTo(p)), body, await p.papers(e, spoiltClaims));
}

const pathTo = (e: Endpoint, known: Record<string, unknown[]>) =>
  e.path.replace(/\{(\w+)\*?\}/g, (_, name: string) => encodeURIComponent(String(known[name]?.[0] ?? 'x')));

const pathOf = (e: Endpoint, d: Draw, known: Record<string, unknown[]>) =>
  e.path.replace(/\{(\w+)\*?\}/g, (_, name: string) =>
    d.chance(3) ? d.pick(segments) : encodeURIComponent(String(known[name]?.[0] ?? 'A'.repeat(22))),
  );

export async function ofSchema(d: Draw, p: Person): Promise<Asking> {
  const e = d.pick(endpoints);
  const known = knownTo(p);
  if (fieldsOf(e).includes('credential')) known['credential'] = [await credentialFor(e, p)];
  const body = e.body && drawn(e.body, d, known);
  const query = e.name === 'page' ? `?ticket=${d.pick(['', 'x', p.tab.token, 'a.b.c'])}` : '';
  const path = `${pathOf(e, d, known)}${query}`;
  return asking(e, path, d.chance(2) ? spoilt(body, d) : body, await p.papers(e));
}

export async function ofHead(d: Draw, p: Person): Promise<Asking> {
  const e = d.pick(endpoints);
  const known = knownTo(p);
  const headers = await p.papers(e);
  const given = [
    ...texts,
    `Bearer ${p.tab.token}x`,
    `Bearer ${p.command.token}`,
    `Bearer ${p.hub.certificate}`,
    p.hub.certificate,
    p.tab.cookie,
  ];
  const names = [
    'authorization',
    'cookie',
    'x-ingle-certificate',
    'x-ingle-pow',
    'x-ingle-browser',
    'origin',
  ];
  for (let i = d.below(3); i >= 0; i--)
    headers[d.pick([...names, 'sec-fetch-site', 'x-forwarded-for', 'expect', 'accept'])] = d.pick(given);
  if (d.chance(2)) headers['content-type'] = d.pick(types);
  const path = d.chance(4)
    ? `${pathOf(e, d, known)}?${d.pick(segments)}=${d.pick(segments)}`
    : pathOf(e, d, known);
  const body = d.chance(2) ? d.pick(bodies) : await wholeBody(e, p);
  return { ...asking(e, path, body, headers), method: d.chance(3) ? d.pick(methods) : e.method };
}
