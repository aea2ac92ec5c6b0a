// How actions reach sound, skills and people: what the sound service and the local API are asked, and as whom.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { audio1 } from '../../firmware/audio/contract.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { HOUSE } from '../../firmware/scenario/household.ts';
import { waysOf } from '../../firmware/scenario/ways.ts';
import type { Bus } from '../../firmware/system/bus.ts';

interface Came {
  of: string;
  id: string | undefined;
  who: Record<string, unknown> | undefined;
  body: string;
}
const test = suite<{ close(): void }>('ways of actions');
test.after.each((c) => c.close());

const whoIn = (q: IncomingMessage) => {
  const named = q.headers['x-ingle-principal'];
  return typeof named === 'string' ? JSON.parse(Buffer.from(named, 'base64url').toString()) : undefined;
};

/** @param statuses what the local API answers, one after the other; 200 after that */
async function open(c: { close(): void }, statuses: number[] = [], sound?: () => never) {
  const [came, heard]: [Came[], unknown[]] = [[], []];
  const api = createServer((q, r) => {
    let body = '';
    q.on('data', (d) => (body += d)).on('end', () => {
      assert.is(q.headers['x-service-token'], 'token');
      came.push({
        of: `${q.method} ${q.url}`,
        id: q.headers['idempotency-key'] as string,
        who: whoIn(q),
        body,
      });
      const status = statuses.shift() ?? 200;
      const error = status === 404 ? 'not_found' : 'conflict';
      r.writeHead(status).end(JSON.stringify(status < 400 ? { ok: true } : { error, message: 'No.' }));
    });
  });
  await once(api.listen(0, '127.0.0.1'), 'listening');
  c.close = () => void api.close();
  const hears = (method: string, answer: object) => async (asked: object) => {
    sound?.();
    heard.push([method, asked]);
    return answer;
  };
  const audio = {
    Say: hears('Say', { spoken: ['speaker'] }),
    Listen: hears('Listen', { heard: true, text: 'yes' }),
  };
  const uplink = { Status: async () => ({ owner_id: 'own' }) };
  const ways = waysOf({
    bus: { client: (of: unknown) => (of === audio1 ? audio : uplink) } as unknown as Bus,
    api: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
    ...{ token: () => 'token', schedule: () => undefined as never, now: Date.now, zone: 'UTC' },
  });
  return { ways, came, heard };
}

test('speech and listening are the sound service’s', async (c) => {
  const { ways, heard } = await open(c);
  const said = await ways.speak('Привет', 'ru', { run_id: 'r', phrases: [] });
  assert.equal(said, { interrupted: false, text: '' });
  const phrases = ['yes', 'no'];
  assert.equal(await ways.listen({ seconds: 5, phrases, lang: 'en' }), { heard: true, text: 'yes' });
  assert.equal(heard, [
    ['Say', { text: 'Привет', lang: 'ru', slow: false, sink_id: '' }],
    ['Listen', { source_id: '', timeout_s: 5, lang: 'en', phrases }],
  ]);
});

test('where no sound service is, that is said, and any other error is its own', async (c) => {
  for (const [dbus, code] of [
    ['org.freedesktop.DBus.Error.ServiceUnknown', 'not_supported'],
    ['org.freedesktop.DBus.Error.NoReply', 'unavailable'],
  ] as const) {
    const { ways } = await open(c, [], () => {
      throw new IngleError('unavailable', 'No.', { dbus });
    });
    for (const work of [
      () => ways.speak('x', 'en', { run_id: 'r', phrases: [] }),
      () => ways.listen({ seconds: 1, phrases: [], lang: 'en' }),
    ])
      assert.is(await work().catch((e: IngleError) => e.code), code);
    c.close();
  }
});

const lamp = { skill: 'lamp', action: 'on', args: { level: 5 } };

test('a skill is asked as whom the run is for, and an effect has one id however often it is asked for', async (c) => {
  const { ways, came } = await open(c);
  const ask = (id: string, user = 'ann', role = 'adult') => ways.skill({ id, user, role, ...lamp });
  for (const id of ['run/a/1', 'run/a/1', 'run/a/2']) assert.equal(await ask(id), { ok: true });
  await ask('run/a/3', HOUSE, 'owner');
  const [first, again, other, owner] = came;
  assert.equal([first!.of, first!.body], ['POST /skills/lamp/v1/actions/on', '{"level":5}']);
  assert.equal(again, first);
  assert.is(new Set(came.map((x) => x.id)).size, 3);
  for (const { id } of came) assert.match(id!, /^[A-Za-z0-9_-]{16,64}$/);
  assert.is.not(other!.id, first!.id);
  assert.equal(first!.who, {
    ...{ owner_id: 'ann', browser: 'scenario', role: 'adult', elevated_until: 0 },
    household: 'own',
  });
  assert.equal(owner!.who, { owner_id: 'own', browser: 'scenario', role: 'owner', elevated_until: 0 });
});

test('what is no declared action is a path of the skill, under another id', async (c) => {
  const { ways, came } = await open(c, [404, 200, 404]);
  await ways.skill({ id: 'r/a/1', user: 'ann', role: 'adult', ...lamp });
  await ways.skill({ id: 'r/b/2', user: 'ann', role: 'adult', skill: 'weather', action: 'state', args: {} });
  assert.equal(
    came.map((x) => x.of),
    [
      'POST /skills/lamp/v1/actions/on',
      'POST /skills/lamp/v1/on',
      'POST /skills/weather/v1/actions/state',
      'GET /skills/weather/v1/state',
    ],
  );
  assert.is(new Set(came.map((x) => x.id)).size, 4);
});

test('a refusal is told as it is, and a notice is for who is named', async (c) => {
  const { ways, came } = await open(c, [409]);
  const refused = await ways.skill({ id: 'r/a/1', user: 'ann', role: 'adult', ...lamp }).catch((e) => e);
  assert.equal([refused.code, refused.message, came.length], ['conflict', 'No.', 1]);
  await ways.notify({ id: 'r/n/1', user: 'ann', title: 'Hi', body: null });
  await ways.notify({ id: 'r/n/2', user: HOUSE, title: { en: 'Hi' }, body: 'There' });
  assert.equal(
    came.slice(1).map((x) => [x.of, JSON.parse(x.body), x.who]),
    [
      ['POST /api/notices', { user: 'ann', title: 'Hi' }, undefined],
      ['POST /api/notices', { user: '', title: { en: 'Hi' }, body: 'There' }, undefined],
    ],
  );
});

test.run();
