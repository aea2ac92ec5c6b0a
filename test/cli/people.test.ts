// `ingle people`: what is asked of the local API, and what a person reads of its answers.
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { type PeopleCommand, people, untilOf } from '../../services/cli/owner/people.ts';
import { speaker } from '../../services/cli/say.ts';

const test = suite('ingle people');
const id = 'person_AAAAAAAAAAAAAAAAAAAA';
const ann = {
  ...{ id, name: 'Ann\u001b[2J', role: 'kid', until: 0, ended: false, created_at: 1, invited_by: '' },
  browsers: [] as object[],
};
const invitation = {
  link: 'http://localhost:1/#v1.x',
  code: '123-456 507-226',
  verify_uri: 'http://localhost:1/',
  expires_at: 9,
};

/** Runs a command against an API that answers `answer`. */
async function run(command: PeopleCommand, who: string, values: Record<string, string>, answer: object) {
  const asked: [string, string, unknown][] = [];
  const server = createServer(async (q, s) => {
    let body = '';
    for await (const piece of q) body += piece;
    asked.push([q.method!, q.url!, body && JSON.parse(body)]);
    s.setHeader('content-type', 'application/json');
    s.end(JSON.stringify(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const data = mkdtempSync(join(tmpdir(), 'ingle-people-'));
  mkdirSync(join(data, 'api'));
  writeFileSync(join(data, 'api/token'), 't'.repeat(43));
  let out = '';
  const say = speaker({ json: false, env: { LANG: 'en' }, out: (t) => (out += t) });
  const at = { api: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, data };
  const failed = await people(command, { arguments: who ? [who] : [], values }, at, say, 'en').catch(
    (e: IngleError) => e,
  );
  server.close();
  rmSync(data, { recursive: true, force: true });
  return { asked, out, failed };
}

test('an end is a date, a length of time, or never', () => {
  const say = { text: (key: string) => key } as never;
  const now = new Date('2026-11-23T12:00').getTime();
  const at = (text: string) => new Date(untilOf(text, say, now) * 1000).toISOString();
  const local = (text: string) => new Date(text).toISOString();
  assert.is(untilOf('never', say, now), 0);
  assert.is(at('12h'), new Date(now + 12 * 3_600_000).toISOString());
  assert.is(at('3d'), new Date(now + 3 * 86_400_000).toISOString());
  assert.is(at('2026-12-31'), local('2026-12-31T23:59:59'));
  assert.is(at('2026-12-31T18:00'), local('2026-12-31T18:00'));
  for (const bad of ['', 'soon', '3', '-1d', '2026-13-40', '2026-12-31T99:00', '1e3h', '999999d', '5'])
    assert.throws(
      () => untilOf(bad, say, now),
      (e: IngleError) => e.code === 'invalid_request',
      bad,
    );
});

test('somebody new is a guest unless told, and somebody known gets a further code', async () => {
  const added = await run('people invite', 'Ann', {}, { person: ann, invitation });
  assert.equal(added.asked, [['POST', '/api/people', { role: 'guest', name: 'Ann' }]]);
  const ends = await run(
    'people invite',
    'Ann',
    { role: 'admin', until: '2030-01-01' },
    { person: ann, invitation },
  );
  const until = Math.floor(new Date('2030-01-01T23:59:59').getTime() / 1000);
  assert.equal(ends.asked, [['POST', '/api/people', { role: 'admin', until, name: 'Ann' }]]);
  assert.match(added.out, /123-456 507-226/);
  assert.match(added.out, /#v1\.x/);
  assert.not(added.out.includes('\u001b'), 'a name drives no terminal');
  const again = await run('people invite', id, {}, invitation);
  assert.equal(again.asked, [['POST', `/api/people/${id}/invite`, '']]);
});

test('where there is no code the command says how to try again, and fails', async () => {
  const { failed, out } = await run(
    'people invite',
    'Ann',
    {},
    { person: ann, invitation: null, trouble: 'Root is away.' },
  );
  assert.is((failed as IngleError).code, 'unavailable');
  assert.match((failed as IngleError).message, new RegExp(`Root is away.*people invite ${id}`));
  assert.match(out, /has not come in yet/);
});

test('a change says only what is to change, and a wrong word changes nothing', async () => {
  const { asked } = await run('people change', id, { role: 'adult', until: 'never' }, ann);
  assert.equal(asked, [['PATCH', `/api/people/${id}`, { role: 'adult', until: 0 }]]);
  for (const [who, values] of [
    ['Ann', { role: 'kid' }],
    [id, { role: 'owner' }],
    [id, { until: 'soon' }],
  ] as [string, Record<string, string>][]) {
    const bad = await run('people change', who, values, ann);
    assert.equal([(bad.failed as IngleError).code, bad.asked], ['invalid_request', []]);
  }
  assert.equal((await run('people remove', id, {}, { ok: true })).asked, [
    ['DELETE', `/api/people/${id}`, ''],
  ]);
});

test('the list says who is here until when, and whose time is over', async () => {
  const browsers = [{ id: 'b', label: 'Phone', paired_at: 1, seen_at: 2 }];
  const all = [ann, { ...ann, until: 5, browsers }, { ...ann, until: 5, ended: true }];
  const { out } = await run('people list', '', {}, { people: all });
  const lines = out.trim().split('\n');
  assert.match(lines[0]!, /kid, no end, has not come in yet/);
  assert.match(lines[1]!, /kid, until 1970-.*, one browser/);
  assert.match(lines[2]!, /kid, time is over/);
  assert.match((await run('people list', '', {}, { people: [] })).out, /Nobody is invited/);
});

test.run();
