// timeout: 120 s
// `ingle account` against a real root: let in by a passkey, what it reads and changes there, and where its token lies.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { commandContext } from '../../firmware/protocol/pairing/command.ts';
import { type AccountCommand, account } from '../../services/cli/owner/account.ts';
import { speaker } from '../../services/cli/say.ts';
import { ended, child as tether } from '../lab/child.ts';
import { until } from '../lab/wait.ts';
import { call, granted, type RootProcess, signedIn, startRoot } from '../root/kit.ts';

const test = suite<{ root: RootProcess; home: string }>('ingle account');
test.before(async (c) => {
  c.home = mkdtempSync(join(tmpdir(), 'ingle-account-'));
  c.root = await startRoot();
});
test.after(async (c) => {
  await c.root?.stop();
  rmSync(c.home, { recursive: true, force: true });
});

/** One command line, whose folder of configuration is `home`. */
function shell(home: string, root: string, language: 'en' | 'ru' = 'en') {
  const file = join(home, 'ingle', 'account.json');
  let out = '';
  /** Runs a command to its end. @returns what it said, or its error */
  async function run(
    command: AccountCommand,
    args: string[] = [],
    o: { json?: boolean; values?: Record<string, string> } = {},
  ) {
    out = '';
    const env = { LANG: language, XDG_CONFIG_HOME: home };
    const say = speaker({ json: o.json ?? false, env, out: (t) => (out += t) });
    const options = { arguments: args, values: o.values ?? {}, env, root: async () => root };
    const error = await account(command, options, say, language).then(
      () => undefined,
      (e: IngleError) => e,
    );
    return {
      out,
      error,
      rows: o.json
        ? out
            .split('\n')
            .filter(Boolean)
            .map((l) => JSON.parse(l))
        : [],
    };
  }
  return { run, file, said: () => out };
}
type Shell = ReturnType<typeof shell>;

const codeIn = (said: string) => /\b(\d{3}-\d{3})\b/.exec(said)?.[1];
type Tab = Awaited<ReturnType<typeof signedIn>>['tab'];
async function found(tab: Tab, sh: Shell) {
  await until(() => codeIn(sh.said()) !== undefined, 'the code on the terminal');
  return granted(await tab.post('/v1/owner/command-lines', { user_code: codeIn(sh.said()) }, tab.bearer()))
    .body;
}
async function allow(
  tab: Tab,
  asking: { id: string; publicKeyCredentialRequestOptions: { challenge: string } },
) {
  const options = await tab.signing(
    'login',
    asking.publicKeyCredentialRequestOptions,
    commandContext(tab.sid, asking.id),
  );
  const credential = tab.keys.get(options as never);
  granted(await tab.post(`/v1/owner/command-lines/${asking.id}`, { credential }, tab.bearer()));
}

test('it signs in by a code and a passkey, tends the account, and keeps its token to itself', async ({
  root,
  home,
}) => {
  const { hub, tab } = await signedIn(root);
  const sh = shell(home, root.origin);
  const first = await sh.run('account hubs list');
  assert.equal(
    [first.error?.code, first.error?.message.includes('ingle account login')],
    ['unauthenticated', true],
  );
  const login = sh.run('account login', [], { values: { name: 'attic-pc' } });
  const asking = await found(tab, sh);
  assert.is(asking.name, 'attic-pc');
  assert.match(sh.said(), /Let a command line in/);
  await allow(tab, asking);
  const { error, out } = await login;
  assert.is(error, undefined, error?.message);
  const kept = readFileSync(sh.file, 'utf8');
  const { token } = JSON.parse(kept);
  assert.match(token, /^ingle_[\w-]{43}$/);
  assert.is(statSync(sh.file).mode & 0o777, 0o600);
  assert.not.ok(out.includes(token));
  assert.match(out, /“attic-pc” is signed in until/);

  const { rows } = await sh.run('account sign-ins list', [], { json: true });
  const [mine, theirs] = [rows.find((s) => s.current), rows.find((s) => !s.current)];
  assert.equal([mine.command, theirs.browser_key_id], ['attic-pc', tab.browser_key_id]);
  const list = (await sh.run('account sign-ins list')).out;
  assert.match(list, new RegExp(`^${mine.id} {2}attic-pc, a command line, this one, `, 'm'));
  for (const [command, args] of [
    ['account sign-ins rename', [mine.id, 'My desk']],
    ['account passkeys rename', [tab.browser_key_id, 'Phone']],
    ['account hubs rename', [hub.hub_id, 'Attic']],
  ] as const)
    assert.is((await sh.run(command, [...args])).error, undefined, command);
  assert.match(
    (await sh.run('account passkeys list')).out,
    new RegExp(`^${tab.browser_key_id} {2}Phone, this one, `, 'm'),
  );
  assert.match(
    (await sh.run('account hubs list')).out,
    new RegExp(`^${hub.hub_id} {2}Attic, Away, .*certificate good until `, 'm'),
  );
  const trail = (await sh.run('account trail')).out.split('\n');
  assert.match(trail[0]!, /Hub renamed: Attic, the command line My desk, /);
  assert.match(trail.find((l) => l.includes('let in'))!, /Command line let in: attic-pc, Phone, /);
  const whole = (await sh.run('account trail export')).out
    .trimEnd()
    .split('\n')
    .map((l) => JSON.parse(l));
  assert.equal(
    whole.map((e) => e.n),
    whole.map((_, i) => i + 1),
  );
  assert.is(whole.length + 1, trail.length);
  assert.match(
    (await shell(home, '', 'ru').run('account trail')).out,
    /Хаб переименован: Attic, командная строка My desk/,
  );
  assert.not.match(trail.join(), /more before that/);
  for (let n = 0; n < 100; n++)
    granted(await call(root, 'PATCH', `/v1/owner/hubs/${hub.hub_id}`, { name: `Attic ${n}` }, tab.bearer()));
  const newest = (await sh.run('account trail')).out.trimEnd().split('\n');
  assert.match(newest[0]!, /Attic 99/);
  assert.equal([newest.length, newest[100]], [101, 'There is more before that: ingle account trail export']);
  assert.is((await sh.run('account trail', [], { json: true })).rows.length, 100);

  for (const [command, args] of [
    ['account passkeys remove', ['bk_none']],
    ['account sign-ins revoke', ['none']],
    ['account hubs rename', ['none', 'x']],
  ] as const)
    assert.is((await sh.run(command, [...args])).error?.code, 'not_found', command);
  assert.is((await sh.run('account sign-ins revoke', [theirs.id])).error, undefined);
  assert.is(
    (await call(root, 'GET', '/v1/owner/hubs', undefined, tab.bearer())).status,
    401,
    'the browser is out',
  );
  assert.is((await sh.run('account logout')).error, undefined);
  assert.not(existsSync(sh.file));
  const late = await call(root, 'GET', '/v1/owner/hubs', undefined, { authorization: `Bearer ${token}` });
  assert.is(late.status, 401);
});

test('an answer of no ends the wait, and one who is signed out is told how to come back', async ({
  root,
  home,
}) => {
  const { tab } = await signedIn(root);
  const sh = shell(home, root.origin);
  const login = sh.run('account login', [], { json: true });
  await until(() => sh.said().includes('user_code'), 'the code');
  const asking = await found(tab, sh);
  granted(await call(root, 'DELETE', `/v1/owner/command-lines/${asking.id}`, undefined, tab.bearer()));
  const { error, rows } = await login;
  assert.equal([error?.code, existsSync(sh.file)], ['forbidden', false]);
  assert.match(error!.message, /not you/);
  assert.equal(Object.keys(rows[0]).sort(), ['event', 'expires_in', 'name', 'user_code', 'verification_uri']);
});

test('a root is an https address, or one of this computer', async ({ home }) => {
  const sh = shell(home, 'http://root.example');
  for (const root of [
    'http://root.example',
    'ftp://x',
    'x',
    'http://localhost.example',
    'http://127.0.0.1.example',
  ])
    assert.is((await sh.run('account login', [], { values: { root } })).error?.code, 'invalid_request', root);
  assert.is((await sh.run('account login')).error?.code, 'invalid_request', 'also that of the configuration');
  const gone = await sh.run('account login', [], { values: { root: 'http://127.0.0.1:9' } });
  assert.equal([gone.error?.code, gone.error?.message.includes('127.0.0.1:9')], ['unavailable', true]);
});

test('the command itself says the code, of the root its configuration names', async ({ root, home }) => {
  const env = {
    ...process.env,
    LANG: 'en',
    XDG_CONFIG_HOME: home,
    INGLE_ROOT: root.origin,
    INGLE_BUS_ADDRESS: 'unix:path=/none',
  };
  const child = tether(
    process.execPath,
    ['--import', 'tsx', 'services/cli/ingle.mjs', 'account', 'login', '--json'],
    { env, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let said = '';
  child.stdout!.on('data', (d) => (said += d));
  try {
    await until(() => said.includes('\n'), 'the code');
    assert.is(JSON.parse(said).verification_uri, `${root.origin}/`);
  } finally {
    await ended(child, 'SIGKILL', 'ingle account login');
  }
});

test.run();
