// timeout: 120 s
// Command lines at root: asked for, let in by their owner's passkey, and held to what is open to them.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { commandContext } from '../../firmware/protocol/pairing/command.ts';
import { rootApi } from '../../root/endpoints.ts';
import {
  call,
  granted,
  newCommandLine,
  newTab,
  openDatabase,
  type RootProcess,
  refusal,
  signedIn,
  startRoot,
  until,
} from './kit.ts';

const test = suite<{ root: RootProcess }>('command lines');
test.before(async (c) => {
  // No sweep comes to help: what goes at once goes by itself.
  c.root = await startRoot({
    INGLE_ROOT_SWEEP: '3600',
    INGLE_ROOT_GUESSES: '1000',
    INGLE_ROOT_SURGE: '1000',
  });
});
test.after((c) => c.root.stop());

type Line = Awaited<ReturnType<typeof newCommandLine>>;
const owners = (
  root: RootProcess,
  by: { bearer(): Record<string, string> },
  method: string,
  path: string,
  body?: object,
) => call(root, method, `/v1/owner/${path}`, body, by.bearer());

/** What it is told when it asks at the right time. */
async function told(line: Line) {
  const early = await line.poll();
  if (early.status !== 429) return early;
  const at = Date.now() + 1000 * early.body.details.retry_after;
  await until(() => Date.now() > at, 'its turn');
  return line.poll();
}

test('an owner sees who asks before it is let in; the token comes once, and reads what root keeps', async ({
  root,
}) => {
  const { hub, tab } = await signedIn(root);
  const line = await newCommandLine(root, 'attic-pc');
  assert.match(line.user_code, /^\d{3}-\d{3}$/);
  assert.is(line.verification_uri, `${root.origin}/`);
  assert.equal((await line.poll()).body, { state: 'asking', interval: 3 });
  const soon = await line.poll();
  assert.equal([soon.status, soon.headers.get('retry-after')], [429, '3']);
  const found = granted(await line.find(tab));
  assert.equal(
    [found.body.name, found.body.place],
    ['attic-pc', `${line.from['x-forwarded-for'].replace(/1$/, '0')}/24`],
  );
  assert.not.match(JSON.stringify(found.body), new RegExp(line.device_code));
  granted(await line.allow(tab, found));
  const first = await told(line);
  assert.equal([first.body.state, first.body.owner_id], ['allowed', hub.owner_id]);
  assert.ok(first.body.expires_at <= Date.now() / 1000 + 3600);
  assert.is((await told(line)).body.error, 'ticket_spent');

  const { sessions } = granted(await owners(root, line, 'GET', 'sessions')).body;
  const own = sessions.find((s: { command: string }) => s.command !== '');
  assert.equal([own.command, own.current, own.browser_key_id], ['attic-pc', true, tab.browser_key_id]);
  assert.is(granted(await owners(root, line, 'GET', 'hubs')).body.hubs[0].hub_id, hub.hub_id);
  granted(await owners(root, line, 'PATCH', `hubs/${hub.hub_id}`, { name: 'Attic' }));
  granted(await owners(root, line, 'PATCH', `sessions/${own.id}`, { name: 'My desk' }));
  const { credentials } = granted(await owners(root, line, 'GET', 'credentials')).body;
  granted(await owners(root, line, 'PATCH', `credentials/${credentials[0].id}`, { name: 'Phone' }));
  const trail = granted(await owners(root, line, 'GET', 'audit')).body.entries;
  assert.equal(
    trail.slice(0, 5).map((e: { what: string; by_command: string }) => [e.what, e.by_command]),
    [
      ['passkey_renamed', 'My desk'],
      ['session_renamed', 'attic-pc'],
      ['hub_renamed', 'attic-pc'],
      ['signed_in', 'attic-pc'],
      ['command_allowed', ''],
    ],
  );
  assert.match(
    String(granted(await owners(root, line, 'GET', 'audit/export')).body),
    /"by_command":"My desk"/,
  );
  granted(await owners(root, line, 'POST', 'logout', {}));
  assert.is((await owners(root, line, 'GET', 'sessions')).status, 401);

  const db = await openDatabase(root);
  const tables = await db.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'");
  for (const { name } of tables) {
    const text = JSON.stringify(await db.all(`SELECT * FROM ${name}`));
    for (const secret of [line.device_code, line.token, line.token.slice(6), line.user_code.replace('-', '')])
      assert.not.ok(text.includes(`"${secret}"`), name);
  }
  await db.close();
});

test('a command line may do what is declared for it, and nothing else', async ({ root }) => {
  const { hub, tab } = await signedIn(root);
  const line = await newCommandLine(root);
  await line.comesIn(tab);
  const open: string[] = [];
  const values: Record<string, unknown> = {
    sid: tab.sid,
    hub_id: hub.hub_id,
    name: 'x',
    credential: {},
    skill_id: 'dial',
  };
  for (const [name, e] of Object.entries(rootApi) as [
    string,
    { method: string; path: string; who: string; body?: object },
  ][]) {
    // What ends it comes last.
    if (name === 'logout') continue;
    const fields = Object.keys((e.body as { properties?: object } | undefined)?.properties ?? {}).filter(
      (f) => f !== 'code',
    );
    const body =
      e.body &&
      Object.fromEntries(
        fields.map((f) => [f, values[f] ?? (f === 'user_code' ? '000-000' : 'x'.repeat(43))]),
      );
    const path = e.path.replace('{hub_id}', hub.hub_id).replace(/\{\w+\*?\}/g, 'x');
    const r = await call(root, e.method, path, body, line.bearer());
    if (e.who === 'account') {
      open.push(name);
      assert.ok([200, 404].includes(r.status), `${name}: ${r.status}`);
    } else if (e.who === 'session') assert.is(r.body.error, 'forbidden', name);
    else if (e.who !== 'public')
      assert.is(r.body.error, 'unauthenticated', `${name}: ${JSON.stringify(r.body)}`);
  }
  assert.equal(open.sort(), [
    ...['audit', 'credentials', 'endSession', 'exportAudit', 'hubs', 'renameHub', 'renamePasskey'],
    ...['renameSession', 'revoke', 'sessions'],
  ]);
  const { socket } = tab;
  const token = tab.token;
  tab.token = line.token;
  assert.is((await refusal(socket()))?.data?.error, 'unauthenticated', 'nor has it a socket');
  tab.token = token;
  const asTab = { ...tab.bearer(), authorization: `Bearer ${line.token}` };
  assert.is(
    (await call(root, 'POST', '/v1/skill-ui/open', { skill_id: 'dial' }, asTab)).status,
    403,
    'with a cookie',
  );
});

test('it is signed out at once, on the page and with the passkey that let it in', async ({ root }) => {
  const { tab } = await signedIn(root);
  const [one, two, three] = await Promise.all([1, 2, 3].map(() => newCommandLine(root)));
  for (const line of [one!, two!, three!]) await line.comesIn(tab);
  const list = async () =>
    granted(await owners(root, tab, 'GET', 'sessions')).body.sessions.filter(
      (s: { command: string }) => s.command,
    );
  assert.is((await list()).length, 3);
  const { sessions } = granted(await owners(root, one!, 'GET', 'sessions')).body;
  const { id } = sessions.find((s: { current: boolean }) => s.current);
  granted(await owners(root, tab, 'DELETE', `sessions/${id}`));
  assert.is((await owners(root, one!, 'GET', 'sessions')).status, 401);
  const stranger = await newCommandLine(root);
  await stranger.comesIn((await signedIn(root)).tab);
  for (const s of await list())
    assert.is((await owners(root, stranger, 'DELETE', `sessions/${s.id}`)).status, 404, 'another owner’s');
  const { credentials } = granted(await owners(root, two!, 'GET', 'credentials')).body;
  granted(await owners(root, two!, 'DELETE', `credentials/${credentials[0].id}`));
  for (const line of [two!, three!]) assert.is((await owners(root, line, 'GET', 'sessions')).status, 401);
});

test('who is denied, late or never let in has no token', async ({ root }) => {
  const { tab } = await signedIn(root);
  const line = await newCommandLine(root);
  const found = granted(await line.find(tab));
  granted(await owners(root, tab, 'DELETE', `command-lines/${found.body.id}`));
  assert.is((await line.poll()).body.error, 'forbidden');
  assert.is((await line.allow(tab, found)).body.error, 'not_found');
  assert.is(
    (await owners(root, tab, 'DELETE', `command-lines/${found.body.id}`)).status,
    404,
    'a second time',
  );

  const late = await newCommandLine(root);
  const seen = granted(await late.find(tab));
  const db = await openDatabase(root);
  await db.run('UPDATE command_line SET exp = ?', Math.floor(Date.now() / 1000));
  await db.close();
  assert.is((await late.find(tab)).body.error, 'invalid_device_code');
  assert.is((await late.allow(tab, seen)).body.error, 'not_found');
  assert.is((await late.poll()).body.error, 'invalid_device_code');
  for (const token of [`ingle_${'x'.repeat(43)}`, 'ingle_x', late.device_code])
    assert.is(
      (await call(root, 'GET', '/v1/owner/sessions', undefined, { authorization: `Bearer ${token}` })).status,
      401,
    );
});

test('the passkey’s word is for the one command line, session and act', async ({ root }) => {
  const { hub, tab } = await signedIn(root);
  const [a, b] = [await newCommandLine(root), await newCommandLine(root)];
  const [foundA, foundB] = [granted(await a.find(tab)), granted(await b.find(tab))];
  // The challenge is of the session, and the last one counts.
  assert.is((await a.allow(tab, foundB, foundA.body.id)).status, 200);
  const again = granted(await b.find(tab));
  assert.is(
    (await b.allow(tab, { ...again, body: { ...again.body, id: foundA.body.id } })).body.error,
    'not_found',
  );
  const path = `/v1/owner/command-lines/${foundB.body.id}`;
  const signed = async (purpose: 'login' | 'registration', context: string) => {
    const { publicKeyCredentialRequestOptions: o } = granted(await b.find(tab)).body;
    const credential = tab.keys.get(await tab.signing(purpose, o, context));
    return tab.post(path, { credential }, tab.bearer());
  };
  const right = commandContext(tab.sid, foundB.body.id);
  for (const [purpose, context] of [
    ['login', tab.sid],
    ['registration', right],
    ['login', commandContext(tab.sid, foundA.body.id)],
    ['login', commandContext('another', foundB.body.id)],
  ] as const)
    assert.is((await signed(purpose, context)).body.error, 'assertion_failed', `${purpose} ${context}`);
  const guest = await newTab(root);
  granted(await guest.verify(await hub.code({ scope: 'new_passkey', guest: true })));
  granted(await guest.register());
  granted(await guest.login());
  const c = await newCommandLine(root);
  assert.is((await c.find(guest)).body.error, 'forbidden');
  assert.is((await owners(root, guest, 'DELETE', `command-lines/${foundB.body.id}`)).body.error, 'forbidden');
  const { publicKeyCredentialRequestOptions: o } = granted(await b.find(tab)).body;
  const any = { ...o, allowCredentials: [] };
  const theirs = guest.keys.get(await tab.signing('login', any, right));
  assert.is((await tab.post(path, { credential: theirs }, tab.bearer())).status, 404, 'a guest’s passkey');
  assert.is((await signed('login', right)).status, 200);
});

test('of many who answer and ask at once, one token comes of it', async ({ root }) => {
  const { tab } = await signedIn(root);
  const line = await newCommandLine(root);
  const found = granted(await line.find(tab));
  const options = found.body.publicKeyCredentialRequestOptions;
  const credential = tab.keys.get(
    await tab.signing('login', options, commandContext(tab.sid, found.body.id)),
  );
  const path = `/v1/owner/command-lines/${found.body.id}`;
  const answers = await Promise.all(
    Array.from({ length: 100 }, () =>
      Promise.all([
        tab.post(path, { credential }, tab.bearer()),
        call(root, 'POST', '/v1/command-line/token', { device_code: line.device_code }, line.from),
      ]),
    ),
  );
  assert.is(answers.filter(([allowed]) => allowed.status === 200).length, 1);
  const last = await told(line);
  const tokens = [...answers.map(([, polled]) => polled), last].filter((r) => r.body.token);
  assert.is(tokens.length, 1);
});

test('a code is its first owner’s, and wrong ones are counted for the account', async ({ root }) => {
  const [mine, theirs] = [(await signedIn(root)).tab, (await signedIn(root)).tab];
  const line = await newCommandLine(root);
  granted(await line.find(mine));
  assert.is((await line.find(theirs)).body.error, 'invalid_device_code');
  assert.is((await line.find(mine, line.user_code.replace('-', ''))).status, 200);
  for (let i = 0; i < 4; i++)
    assert.is((await line.find(theirs, '000-000')).body.error, 'invalid_device_code');
  assert.is((await line.find(theirs, '000-000')).status, 429);
  const fresh = await newCommandLine(root);
  assert.is((await fresh.find(theirs)).status, 429, 'the right one as well');
  assert.is((await line.find(mine)).status, 200, 'another owner types on');
});

test('when too many wrong codes are typed, only those on the network of the command line count', async () => {
  const root = await startRoot({ INGLE_ROOT_GUESSES: '1', INGLE_ROOT_SURGE: '1000' });
  try {
    const { tab } = await signedIn(root);
    const [other, near] = [(await signedIn(root)).tab, (await signedIn(root)).tab];
    const line = await newCommandLine(root);
    assert.is((await line.find(tab, '000-000')).status, 400);
    const far = await line.find(other);
    assert.equal([far.status, far.body.details.near], [429, true]);
    assert.match(far.body.message, /network of the command line/);
    Object.assign(near.from, line.from);
    assert.is((await line.find(near)).status, 200);
  } finally {
    await root.stop();
  }
});

test('names are names, and one address does not ask for ever', async ({ root }) => {
  const from = { 'x-forwarded-for': '198.51.100.7' };
  const ask = (name: unknown) => call(root, 'POST', '/v1/command-line', { name }, from);
  for (const name of ['', ' ', 'a\nb', 'a\u202eb', '<b>', '“Ingle”', 'x'.repeat(65), 7, null])
    assert.is((await ask(name)).body.error, 'invalid_request', String(name));
  await until(async () => (await ask('Büro-PC 2')).status === 429, 'the address to be limited');
});

test.run();
