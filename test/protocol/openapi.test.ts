// The documents of every API we declare are valid OpenAPI 3.1, by a validator that is not ours.
import { Validator } from '@seriousme/openapi-schema-validator';
import * as T from 'typebox';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Area, methodsOf } from '../../firmware/protocol/endpoint/endpoint.ts';
import { openapi } from '../../firmware/protocol/endpoint/openapi.ts';
import { apiPage, typeText } from '../../firmware/protocol/endpoint/page.ts';
import { rights } from '../../firmware/setup/access.ts';
import { pageApi, pageSecurity } from '../../firmware/setup/page-api.ts';
import { localSecurity } from '../../firmware/system/local-api.ts';
import { rootApi, rootSecurity } from '../../root/endpoints.ts';
import { areas } from '../../services/api/areas.ts';

const test = suite('openapi');
const about = { version: '1.0.0', description: 'A test.' };
const documents = {
  'the local API': openapi({ ...about, title: 'Local', areas, ...localSecurity }),
  root: openapi({ ...about, title: 'Root', areas: { root: rootApi }, ...rootSecurity }),
  'the setup pages': openapi({ ...about, title: 'Setup', areas: { setup: pageApi }, ...pageSecurity }),
};

for (const [name, document] of Object.entries(documents))
  test(`the document of ${name} is valid`, async () => {
    const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(document)));
    assert.ok(valid, JSON.stringify(errors));
  });

/** What the service specification names of a hub, but for what each skill has of its own and the WebSocket. */
const named = `
GET /health/live, GET /health/ready, GET /api/status, GET /api/services, GET /api/node/status, GET /api/observe/stream,
GET /v1/icons, POST /v1/icons/pin, POST /v1/icons/order, POST /v1/open, GET /docs/index,
GET /skills/{skill_id}/v1/{path}, POST /skills/{skill_id}/v1/{path},
GET /api/scenarios/prototypes, POST /api/scenarios/prototypes/install, GET /api/scenarios/impl/{user}/{id},
PATCH /api/scenarios/impl/{user}/{id}, POST /api/scenarios/{id}/run, POST /api/scenarios/instances/{iid}/stop,
POST /api/scenarios/instances/{iid}/kill, POST /api/scenarios/instances/stopByActivity, GET /api/scenarios/instances,
POST /api/scenarios/install, POST /api/scenarios/sync, POST /api/scenarios/push, POST /api/scenarios/uninstall,
POST /api/scenario/run, GET /api/scenario/status, POST /api/scenario/cancel, GET /api/scenario/runs,
POST /api/schedule/create, POST /api/schedule/delete, GET /api/schedule/list, POST /api/intent/recognize,
POST /api/services/{name}/start, POST /api/services/{name}/stop, POST /api/services/{name}/restart,
GET /api/skills, POST /api/skills/install, POST /api/skills/prepare, POST /api/skills/{skill_id}/activate,
DELETE /api/skills/{skill_id}, GET /api/node/reliability, GET /api/node/role, GET /api/node/members, GET /api/node/media,
GET /api/node/workspaces, POST /api/observe/ingest, GET /api/observe/tail, POST /api/subnet/register,
POST /api/subnet/heartbeat, GET /api/subnet/context, GET /api/subnet/nodes, POST /api/subnet/deregister,
POST /api/admin/drain, POST /api/admin/shutdown, GET /api/admin/lifecycle, GET /api/admin/update/status,
POST /api/say, POST /api/io/console/print, POST /api/subnet/join, POST /api/speech/recognize, POST /api/intent/teach,
POST /hooks/{id}, GET /api/openapi.json, GET /api/docs`;

test('every path of a hub that the specification names is declared', () => {
  const { paths } = documents['the local API'] as unknown as { paths: Record<string, object> };
  const isDeclared = (what: string) => {
    const [method = '', path = ''] = what.split(' ');
    return method.toLowerCase() in (paths[path] ?? {});
  };
  const all = named.trim().split(/,\s+/);
  assert.is(all.length, 66);
  assert.equal(
    all.filter((what) => !isDeclared(what)),
    [],
  );
});

test('a validator that takes anything would not notice: a broken document is refused', async () => {
  const broken = JSON.parse(JSON.stringify(documents['the local API']));
  broken.paths['/v1/icons'].get.responses = {};
  delete broken.info.title;
  assert.not((await new Validator().validate(broken)).valid);
});

test('each declaration says what it is, and errors and callers that exist', () => {
  const all: [string, Area, readonly string[]][] = [
    ...Object.entries(areas).map(([n, a]): [string, Area, string[]] => [
      n,
      a,
      Object.keys(localSecurity.who),
    ]),
    ['pages', pageApi, Object.keys(rights.softap)],
    ['root', rootApi, Object.keys(rootSecurity.who)],
  ];
  const ids = new Set<string>();
  for (const [area, endpoints, who] of all)
    for (const [name, e] of Object.entries(endpoints)) {
      const at = `${area}.${name}`;
      assert.match(e.doc, /^[A-Z].*\.$/, at);
      assert.ok(who.includes(e.who), at);
      assert.match(e.path, /^(\/[\w.-]+|\/\{\w+\*?\})+$/, at);
      // What a command repeats must be journaled or change nothing.
      if (e.command) assert.not(e.safe, at);
      for (const method of methodsOf(e)) ids.add(`${area} ${method} ${e.path}`);
    }
  assert.ok(ids.size > 25);
});

test('the page of an API has each path with its method, its sentence and its errors', () => {
  const page = apiPage({ ...about, title: 'Local', areas, ...localSecurity });
  for (const [area, endpoints] of Object.entries(areas))
    for (const [name, e] of Object.entries(endpoints as Area)) {
      const [, article = ''] = page.split(`<article id="${area}.${name}">`);
      const text = article.split('</article>')[0]!;
      for (const method of methodsOf(e))
        assert.ok(text.includes(`>${method}</code>`), `${area}.${name} ${method}`);
      assert.ok(text.includes(`<code>${e.path}</code>`), `${area}.${name}`);
      for (const code of e.errors ?? [])
        assert.ok(text.includes(`<code>${code}</code>`), `${area}.${name} ${code}`);
    }
  assert.not(/<script|<link|<img|style=|\son\w+=|(src|href)="(?!#)/.test(page));
});

test('a page is text: nothing that is declared becomes markup', () => {
  const hostile = `</style><script>alert(1)</script>'"&<img src=x onerror=y>`;
  const page = apiPage({
    title: hostile,
    version: hostile,
    description: hostile,
    schemes: {},
    who: { [hostile]: { needs: [], doc: hostile } },
    areas: {
      [hostile]: {
        [hostile]: {
          method: 'GET',
          path: `/${hostile}`,
          who: hostile,
          doc: hostile,
          query: { [hostile]: T.String({ description: hostile }) },
          answer: T.Object({ [hostile]: T.Literal(hostile, { description: hostile }) }),
        },
      },
    },
  });
  assert.not(/<script|<img|<\/style>(?!<\/head>)/.test(page));
  const quotes = page.match(/id="[^"]*"/g) ?? [];
  assert.ok(quotes.some((q) => q.includes('&lt;script&gt;')));
});

const types: [schema: T.TSchema, text: string][] = [
  [T.String(), 'string'],
  [T.String({ minLength: 1, maxLength: 9 }), 'string (1 to 9)'],
  [T.String({ pattern: '^a$' }), 'string /^a$/'],
  [T.Integer({ minimum: 0 }), 'integer (at least 0)'],
  [T.Array(T.Boolean(), { maxItems: 3 }), 'boolean[] (at most 3)'],
  [T.Array(T.Union([T.Literal('a'), T.Null()])), '("a" | null)[]'],
  [T.Record(T.String(), T.Number()), '{ [name]: number }'],
  [T.Record(T.String(), T.Unknown()), 'object'],
  [
    T.Object({ a: T.String(), b: T.Optional(T.Object({ c: T.Null({ description: 'None.' }) })) }),
    '{\n  a: string\n  b?: {\n    c: null  // None.\n  }\n}',
  ],
];
for (const [schema, text] of types)
  test(`a type in words: ${text.replace(/\s+/g, ' ')}`, () => assert.is(typeText(schema), text));

test.run();
