// The documents of every API we declare are valid OpenAPI 3.1, by a validator that is not ours.
import { Validator } from '@seriousme/openapi-schema-validator';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Area, methodsOf } from '../../firmware/protocol/endpoint/endpoint.ts';
import { openapi } from '../../firmware/protocol/endpoint/openapi.ts';
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

test.run();
