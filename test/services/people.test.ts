// timeout: 300 s
// A household: real root, real uplink and real local API. People come in by invitation, have what is theirs, and end.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { encodeStep1 } from '../../firmware/documents/message.ts';
import { scenario1 } from '../../firmware/scenario/contract.ts';
import { connect } from '../../firmware/system/bus.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import { authenticator } from '../lab/authenticator.ts';
import { within } from '../lab/wait.ts';
import { type RootProcess, startRoot, until } from '../root/kit.ts';
import { accessOf, type Phone, phone, signIn, startUplink, type UplinkProcess } from '../uplink/kit.ts';
import { startHub, type TestHub } from './hub.ts';

interface World {
  root: RootProcess;
  hub: TestHub;
  uplink: UplinkProcess;
  hubId: string;
  ownerId: string;
  owner: Phone;
}
interface Invited {
  person: { id: string; name: string; role: string; browsers: { id: string }[] };
  invitation: { link: string; code: string; verify_uri: string; expires_at: number };
}
const test = suite<World>('people');

/** A request of a browser, through root and the hub's own judgement. */
async function ask(p: Phone, method: string, path: string, body?: unknown) {
  for (;;) {
    await p.up();
    try {
      const asked = p.tunnel.request({
        ...{ method, path, headers: { 'content-type': 'application/json' } },
        ...(body === undefined ? {} : { body: new TextEncoder().encode(JSON.stringify(body)) }),
      });
      const r = await within(asked, `the answer to ${method} ${path}`);
      const text = new TextDecoder().decode(await within(r.body(), `the body of ${method} ${path}`));
      return {
        status: r.status,
        body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text,
      };
    } catch (e) {
      if (!['unavailable', 'assertion_required'].includes((e as { code: string }).code)) throw e;
      // A channel that is just being lost is given time to notice.
      await new Promise((go) => setTimeout(go, 10));
    }
  }
}
async function comeIn(c: World, link: string, o: { typed?: string; keys?: Phone['tab']['keys'] } = {}) {
  const { code, access } = accessOf(link);
  const tab = await signIn(c.root, `${code.slice(0, 3)}-${code.slice(3)}`, o.keys ? { keys: o.keys } : {});
  const secret = o.typed?.split(' ')[1]?.replace('-', '');
  return phone(c.root, tab, c.hubId, secret ? { mode: 'typed', secret } : access);
}
async function invited(c: World, name: string, role: string, by: 'link' | 'code' = 'link') {
  const { status, body } = await ask(c.owner, 'POST', '/api/people', { name, role });
  assert.is(status, 200, JSON.stringify(body));
  const { person, invitation } = body as Invited;
  const p = await comeIn(c, invitation.link, {
    keys: authenticator(c.root.origin),
    ...(by === 'code' ? { typed: invitation.code } : {}),
  });
  await p.up();
  return { person, p };
}
const people = async (c: World) =>
  (await ask(c.owner, 'GET', '/api/people')).body.people as Invited['person'][];
const lost = (p: Phone, why: string) =>
  until(() => p.heard.lost.includes(why as never), `the channel to be lost: ${why}`);

test.before(async (c) => {
  c.root = await startRoot();
  c.hub = await startHub({ skills: ['hub_status', 'weather'] });
  c.uplink = await startUplink({
    root: c.root.origin,
    apiPort: Number(new URL(c.hub.base).port),
    token: c.hub.token(),
    beside: { bus: c.hub.bus.address, data: c.hub.data },
  });
  const at = await c.uplink.enrolled();
  [c.hubId, c.ownerId] = [at.hub_id, at.owner_id];
  const code = await c.uplink.calls.IssueCode({ new_passkey: false });
  c.owner = await comeIn(c, code.link, { keys: authenticator(c.root.origin) });
  await c.owner.up();
});
test.after(async (c) => {
  await c.uplink?.stop();
  await c.hub?.stop();
  await c.root?.stop();
});

test('a code for another device is asked for in a browser of the owner, and one that a program makes is told', async (c) => {
  const told: string[] = [];
  const bus = await connect(c.hub.bus.address);
  await bus.onSignal(uplink1, 'Recovering', ({ owner_id }) => void told.push(owner_id));
  assert.is((await ask(c.owner, 'POST', '/api/browsers/invite', {})).status, 200);
  await bus.flushed();
  assert.equal(told, []);
  assert.is((await c.hub.ask('POST', '/api/browsers/invite', { body: {} })).status, 200);
  await until(() => told.length > 0, 'the word to the owner');
  assert.equal(told, [c.ownerId]);
  bus.close();
});

test('a guest comes in by the link, with a passkey of their own, and is told who they are', async (c) => {
  const { person, p } = await invited(c, 'Ann', 'guest');
  assert.equal((await ask(p, 'GET', '/v1/me')).body, { id: person.id, role: 'guest', name: 'Ann', until: 0 });
  assert.equal((await ask(c.owner, 'GET', '/v1/me')).body, {
    id: c.ownerId,
    role: 'owner',
    name: '',
    until: 0,
  });
  const [shown] = await people(c);
  assert.equal([shown!.name, shown!.role, shown!.browsers.map((b) => b.id)], ['Ann', 'guest', [p.id]]);
  const told = (await c.uplink.calls.ListPeople({})).people.find((x) => x.id === person.id)!;
  assert.equal(told.browsers, [p.id]);
  assert.is((await c.uplink.calls.ListBrowsers({})).browsers.length, 2);
  assert.is(
    (await c.uplink.calls.Status({})).browsers,
    1,
    'the browsers of the owner say whether it is paired',
  );
  p.close();
});

test('each has pins, order and documents of their own, and what is the owner’s stays the owner’s', async (c) => {
  const { person, p } = await invited(c, 'Ben', 'kid', 'code');
  const icons = async (x: Phone) =>
    (await ask(x, 'GET', '/v1/icons')).body.map((i: { skill_id: string; pinned: boolean }) => [
      i.skill_id,
      i.pinned,
    ]);
  await ask(p, 'POST', '/v1/icons/pin', { skill_id: 'weather', pinned: true });
  assert.equal(await icons(p), [['weather', true]], 'an admin skill is not there for them');
  assert.not((await icons(c.owner)).some(([, pinned]: [string, boolean]) => pinned));
  assert.is((await ask(p, 'POST', '/v1/icons/pin', { skill_id: 'hub_status', pinned: true })).status, 404);

  const opened = await ask(p, 'POST', '/v1/open', { skill_id: 'weather', mode: 'modal' });
  assert.ok(opened.body.state.startsWith(`${person.id}/`), JSON.stringify(opened.body));
  assert.ok(opened.body.commands.startsWith(`${person.id}/`));
  const index = (x: Phone, of: string) => ask(x, 'GET', `/docs/index?prefix=${of}/`);
  assert.is((await index(p, c.ownerId)).status, 200);
  assert.equal((await index(p, c.ownerId)).body.documents, [], 'nothing of the owner is open to a kid');
  assert.is((await index(c.owner, person.id)).status, 403);
  await until(async () => (await index(p, person.id)).body.documents.length > 0, 'documents of the kid');
  assert.not(
    (await index(p, person.id)).body.documents.some((d: { key: string }) => d.key.includes('hub_status')),
  );

  const refused: [string, string, unknown?][] = [
    ['GET', '/api/people'],
    ['POST', '/api/people', { name: 'Eve', role: 'admin' }],
    ['PATCH', `/api/people/${person.id}`, { role: 'admin' }],
    ['POST', `/api/people/${person.id}/invite`],
    ['DELETE', `/api/people/${person.id}`],
    ['GET', '/api/status'],
    ['GET', '/api/node/reliability'],
    ['GET', '/api/hooks'],
    ['POST', '/skills/hub_status/v1/refresh', {}],
    ['POST', '/v1/open', { skill_id: 'hub_status', mode: 'modal' }],
  ];
  for (const [method, path, body] of refused) {
    const r = await ask(p, method, path, body);
    assert.equal([r.status, r.body.error], [403, 'forbidden'], `${method} ${path}`);
  }
  p.close();
});

test('a skill that is open says who looks by their own id, and two people do not see each other’s state', async (c) => {
  const { person, p } = await invited(c, 'Cid', 'adult');
  const sync = async (x: Phone, key: string) => {
    await x.up();
    const ws = await within(x.tunnel.websocket(`/sync/${encodeURIComponent(key)}`), `a socket of ${key}`);
    const said = new Promise<string>((resolve) => {
      ws.onclose = (e) => resolve(String(e?.message));
      ws.onmessage = (d) =>
        resolve(/forbidden/.exec(new TextDecoder().decode(d as Uint8Array))?.[0] ?? 'open');
    });
    // Who may not write hears nothing before it asks.
    void ws.send(encodeStep1(new Uint8Array([0]))).catch(() => {});
    return within(said, `a word about ${key}`);
  };
  assert.is(await sync(p, `${person.id}/weather/state:main`), 'open');
  for (const key of [`${c.ownerId}/weather/state:main`, `${person.id}/hub_status/view:main`])
    assert.match(await sync(p, key), /forbidden/, key);
  assert.match(await sync(c.owner, `${person.id}/weather/state:main`), /forbidden/);
  p.close();
});

test('the owner changes a role: the channel begins anew with it, and a change that is none disturbs nobody', async (c) => {
  const { person, p } = await invited(c, 'Dan', 'guest');
  assert.is((await ask(p, 'GET', '/api/openapi.json')).status, 403);
  const times = () => p.heard.lost.length;
  assert.is((await ask(c.owner, 'PATCH', `/api/people/${person.id}`, { name: 'Danny' })).body.name, 'Danny');
  assert.is((await ask(p, 'GET', '/v1/me')).body.name, 'Danny');
  assert.is(times(), 0);
  assert.is((await ask(c.owner, 'PATCH', `/api/people/${person.id}`, { role: 'adult' })).body.role, 'adult');
  await until(() => times() > 0, 'the channel to begin anew');
  assert.is((await ask(p, 'GET', '/v1/me')).body.role, 'adult');
  assert.is((await ask(p, 'GET', '/api/openapi.json')).status, 200);
  p.close();
});

test('an end closes what is open at once, holds over kill -9 of the uplink, and a later one opens it again', async (c) => {
  const { person, p } = await invited(c, 'Eva', 'guest');
  await c.uplink.kill();
  await c.uplink.again();
  assert.is((await ask(p, 'GET', '/v1/me')).status, 200, 'a restart ends nobody');
  const stream = await p.tunnel.websocket(`/sync/${encodeURIComponent(`${person.id}/weather/state:main`)}`);
  const closed = new Promise((resolve) => {
    stream.onclose = resolve;
  });
  const change = (end: number) => ask(c.owner, 'PATCH', `/api/people/${person.id}`, { until: end });
  assert.is((await change(Math.floor(Date.now() / 1000) - 1)).body.ended, true);
  await closed;
  const refused = () =>
    p.heard.controls.some((m) => m.t === 'refused' && m.error === 'forbidden' && /is over/.test(m.message));
  await until(refused, 'the page to hear why');
  assert.not(p.admitted);
  await c.uplink.kill();
  await c.uplink.again();
  await until(async () => (await c.uplink.calls.Status({})).connected, 'the hub to be connected');
  assert.not(p.admitted);
  const again = await ask(c.owner, 'POST', `/api/people/${person.id}/invite`);
  assert.is(again.status, 409, 'a code is for those whose time is not over');
  const opened = await change(0);
  assert.is(opened.body.ended, false, JSON.stringify(opened.body));
  p.channel.restart();
  assert.is((await ask(p, 'GET', '/v1/me')).body.name, 'Eva');
  p.close();
});

test('an end that comes by the clock closes the channel by itself', async (c) => {
  const { person, p } = await invited(c, 'Fay', 'kid');
  await ask(c.owner, 'PATCH', `/api/people/${person.id}`, { until: Math.floor(Date.now() / 1000) + 2 });
  await until(() => p.heard.controls.some((m) => m.t === 'refused'), 'the end');
  assert.is((await people(c)).find((x) => x.id === person.id)!.role, 'kid');
  p.close();
});

test('who is removed is gone at once with all that was theirs, and does not come back by what they still have', async (c) => {
  const { person, p } = await invited(c, 'Gus', 'adult');
  await ask(p, 'POST', '/v1/icons/pin', { skill_id: 'weather', pinned: true });
  const all = async () =>
    (await c.hub.ask('GET', '/docs/index?prefix=')).body.documents.filter((d: { key: string }) =>
      d.key.startsWith(`${person.id}/`),
    ).length;
  await until(async () => (await all()) > 0, 'documents of the adult');
  const forgotten: string[] = [];
  const bus = await connect(c.hub.bus.address);
  await bus.serve(scenario1, {
    Forget({ user }: { user: string }) {
      forgotten.push(user);
      return {};
    },
  } as never);
  assert.is((await ask(c.owner, 'DELETE', `/api/people/${person.id}`)).status, 200);
  await lost(p, 'unknown_browser');
  assert.is(await all(), 0);
  assert.equal(forgotten, [person.id], 'scenarios forget them as well');
  bus.close();
  assert.not((await people(c)).some((x) => x.id === person.id));
  p.close();
  // Their passkey opens no code that is not for them, and root forgets it with the next one.
  const code = await c.uplink.calls.IssueCode({ new_passkey: false });
  const e = await comeIn(c, code.link, { keys: p.tab.keys }).catch((x) => x);
  assert.instance(e, Error);
});

test('the owner invites with any of the roles and with an end', async (c) => {
  const until = Math.floor(Date.now() / 1000) + 86_400;
  for (const role of ['admin', 'adult', 'kid', 'guest']) {
    const { status, body } = await ask(c.owner, 'POST', '/api/people', { name: role, role, until });
    assert.is(status, 200, JSON.stringify(body));
    const shown = (await people(c)).find((x) => x.id === body.person.id) as unknown as Record<
      string,
      unknown
    >;
    assert.equal([shown['role'], shown['until'], shown['ended']], [role, until, false]);
    assert.is((await ask(c.owner, 'DELETE', `/api/people/${body.person.id}`)).status, 200);
  }
  for (const wrong of [{ role: 'owner' }, { role: 'guest', until: -1 }])
    assert.is((await ask(c.owner, 'POST', '/api/people', { name: 'x', ...wrong })).status, 400);
});

test('an invitation nobody took leaves a person who can be invited again; one who is removed leaves no open code', async (c) => {
  const first = (await ask(c.owner, 'POST', '/api/people', { name: 'Hal', role: 'guest' })).body as Invited;
  assert.equal((await people(c)).find((x) => x.id === first.person.id)!.browsers, []);
  const again = await ask(c.owner, 'POST', `/api/people/${first.person.id}/invite`);
  assert.is(again.status, 200);
  await ask(c.owner, 'DELETE', `/api/people/${first.person.id}`);
  const p = await comeIn(c, again.body.link, { keys: authenticator(c.root.origin) });
  await until(() => p.heard.failed.length > 0, 'the hub to say no');
  assert.not(p.admitted);
  p.close();
});

test('of two phones at one invitation at the same moment one comes in, and the person has that one', async (c) => {
  for (let round = 0; round < 3; round++) {
    const { body } = await ask(c.owner, 'POST', '/api/people', { name: `Kit ${round}`, role: 'guest' });
    const { person, invitation } = body as Invited;
    const both = await Promise.allSettled(
      [1, 2].map(() => comeIn(c, invitation.link, { keys: authenticator(c.root.origin) })),
    );
    const [p, ...more] = both.flatMap((x) => (x.status === 'fulfilled' ? [x.value] : []));
    assert.is(more.length, 0, 'root gives the code to one');
    assert.match(String(both.find((x) => x.status === 'rejected')?.reason), 'invalid_device_code');
    await p!.up();
    const shown = (await people(c)).find((x) => x.id === person.id)!;
    assert.equal(
      shown.browsers.map((b) => b.id),
      [p!.id],
    );
    p!.close();
    assert.is((await ask(c.owner, 'DELETE', `/api/people/${person.id}`)).status, 200);
  }
});

test('where root is away the person is there, and why there is no invitation', async (c) => {
  await c.root.kill();
  try {
    const { status, body } = await c.hub.ask('POST', '/api/people', { body: { name: 'Ida', role: 'kid' } });
    assert.equal([status, body.invitation], [200, null]);
    assert.ok(body.trouble.length > 0);
    assert.is((await c.hub.ask('DELETE', `/api/people/${body.person.id}`)).status, 200);
  } finally {
    await c.root.again();
  }
});

test('a person’s end does not wait for the local API, and the API forgets them when it is back', async (c) => {
  const { person, p } = await invited(c, 'Jo', 'guest');
  const key = `${person.id}/weather/state:main`;
  await until(
    async () => (await ask(p, 'GET', `/docs/index?prefix=${person.id}/`)).body.documents.length > 0,
    'documents of the guest',
  );
  await c.hub.kill('api');
  await c.uplink.calls.RemovePerson({ id: person.id });
  await lost(p, 'unknown_browser');
  p.close();
  await c.hub.startApi();
  await until(
    async () =>
      !(await c.hub.ask('GET', '/docs/index?prefix=')).body.documents.some(
        (d: { key: string }) => d.key === key,
      ),
    'their documents to be gone',
  );
});

test('a bus caller gets clear errors', async (c) => {
  const { calls } = c.uplink;
  const code = (work: Promise<unknown>) =>
    work.then(
      () => '',
      (e) => e.code,
    );
  const none = 'person_AAAAAAAAAAAAAAAAAAAA';
  const add = (name: string, role: string, until = 0n) =>
    calls.AddPerson({ name, role, until, invited_by: '' });
  for (const [name, role] of [
    ['', 'kid'],
    ['\u200b', 'kid'],
    ['x'.repeat(65), 'kid'],
    ['Ann', 'owner'],
    ['Ann', ''],
  ])
    assert.is(await code(add(name!, role!)), 'invalid_request', `${name} ${role}`);
  assert.is(await code(add('Ann', 'kid', -5n)), 'invalid_request');
  assert.is(await code(calls.RemovePerson({ id: none })), 'not_found');
  assert.is(await code(calls.InvitePerson({ id: none })), 'not_found');
  assert.is(await code(calls.ChangePerson({ id: none, name: 'x', role: '', until: -1n })), 'not_found');
  assert.ok(uplink1.methods.ListPeople);
});

test.run();
