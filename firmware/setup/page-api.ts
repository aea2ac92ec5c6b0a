// The setup pages' own API on the access point's address. `who` is the action of
// firmware/setup/access.ts that each is: who may do it, and how far the hub is, stands in that table.
import * as T from 'typebox';
import type { Area } from '../protocol/endpoint/endpoint.ts';
import type { Described } from '../protocol/endpoint/openapi.ts';
import { record } from '../protocol/endpoint/record.ts';
import { ok } from '../system/api.ts';
import { type Action, rights } from './access.ts';

const pageArea = <const A extends Area<Action>>(area: A): A => area;
const strict = { additionalProperties: false };
const device = T.Object({
  id: T.String(),
  name: T.String(),
  type: T.String(),
  score: T.Number(),
  usable: T.Boolean(),
});
const seconds = (description: string) => T.Number({ description });

export const pageApi = pageArea({
  status: {
    method: 'GET',
    path: '/api/status',
    who: 'status',
    doc: 'Where setup stands, with the newest level of the microphone (0 to 1, null when none is heard).',
    answer: T.Object(
      {
        state: T.String(),
        mode: T.String(),
        attempts: T.Integer(),
        level: T.Union([T.Number(), T.Null()]),
        progress: T.Array(record(T.Unknown())),
      },
      { additionalProperties: true },
    ),
  },
  devices: {
    method: 'GET',
    path: '/api/audio/devices',
    who: 'look',
    doc: 'Speakers and microphones, the likeliest first.',
    answer: T.Object({ sinks: T.Array(device), sources: T.Array(device) }),
  },
  test: {
    method: 'POST',
    path: '/api/audio/test',
    who: 'audio',
    doc: 'Plays a sound and listens for it.',
    body: T.Object({ sink: T.String(), source: T.Optional(T.String()) }, strict),
    answer: T.Object({ verdict: T.String(), latency_ms: T.Number() }, { additionalProperties: true }),
    errors: ['not_found', 'conflict', 'timeout'],
  },
  select: {
    method: 'POST',
    path: '/api/audio/select',
    who: 'audio',
    doc: 'Chooses speaker and microphone.',
    body: T.Object({ sink: T.String(), source: T.String() }, strict),
    answer: ok,
    errors: ['not_found', 'conflict'],
  },
  networks: {
    method: 'GET',
    path: '/api/wifi/scan',
    who: 'look',
    doc: 'Networks in reach, the strongest first.',
    query: { fresh: T.String({ description: '`1` looks now.' }) },
    answer: T.Object({
      networks: T.Array(
        T.Object({
          ssid: T.String(),
          signal: T.Integer({ description: 'Percent.' }),
          security: T.String({ description: 'open, wpa2, wpa3 or other.' }),
        }),
      ),
      age_s: seconds('Age of the list.'),
    }),
  },
  join: {
    method: 'POST',
    path: '/api/wifi/connect',
    who: 'join',
    doc: 'Joins a network. `interrupts`: with one radio the access point is away meanwhile.',
    body: T.Object(
      { ssid: T.String(), psk: T.Optional(T.String()), hidden: T.Optional(T.Boolean()) },
      strict,
    ),
    answer: T.Object({ ok: T.Literal(true), interrupts: T.Boolean() }),
    errors: ['conflict'],
  },
  finish: {
    method: 'POST',
    path: '/api/finish',
    who: 'finish',
    doc: 'Ends setup.',
    answer: ok,
    errors: ['conflict'],
  },
  pairing: {
    method: 'GET',
    path: '/api/pairing',
    who: 'pair',
    doc: 'The pairing link, its QR code and the typed code.',
    answer: T.Object({
      link: T.String(),
      device_code: T.String(),
      secret: T.String(),
      expires_at: seconds('Unix time.'),
      qr: T.Object({
        size: T.Integer({ description: 'Modules.' }),
        path: T.String({ description: 'SVG path.' }),
      }),
    }),
    errors: ['conflict'],
  },
});

/** For the OpenAPI document: who `who` is here. */
export const pageSecurity: Pick<Described, 'who' | 'schemes'> = {
  schemes: {},
  who: Object.fromEntries(
    Object.keys(rights.softap).map((action) => [
      action,
      { needs: [], doc: 'For whoever is in the access point, and so has its password.' },
    ]),
  ),
};
