// timeout: 300 s
// `ingle init` where root offers another place: what a person is told, what accepts it, and what does not.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { freePort } from '../../services/cli/house/runtime.ts';
import { init } from '../../services/cli/owner/init.ts';
import { speaker } from '../../services/cli/say.ts';
import { startHouse } from '../lab/house.ts';

const place = { owner_id: 'own_b', subnet_id: 'net_b', hub_id: 'hub_b', app_url: 'https://new.example' };
const names = {
  'owner-id': 'own_b',
  'subnet-id': 'net_b',
  'hub-id': 'hub_b',
  'app-url': 'https://new.example',
};
const enrolled = {
  ...{ owner_id: 'own_b', subnet_id: 'net_b', hub_id: 'hub_b', keys: '/k' },
  expires_at: BigInt(Math.floor(Date.now() / 1000) + 90 * 86_400),
};

/** Runs init against a hub that was told of another place. */
async function run(
  o: {
    yes?: boolean;
    values?: Record<string, string>;
    typed?: string;
    language?: string;
    same?: boolean;
  } = {},
) {
  let out = '';
  const adopted: object[] = [];
  const asked: string[] = [];
  const say = speaker({ json: false, env: { INGLE_LANG: o.language ?? 'en' }, out: (t) => (out += t) });
  const uplink = {
    Status: async () => ({ root: 'https://root.example' }) as never,
    async Enrol() {
      throw new IngleError('conflict', 'offers this hub another place');
    },
    Offered: async () => ({
      ...place,
      changes: o.same
        ? []
        : [
            { field: 'owner_id', was: 'own_a', now: 'own_b' },
            { field: 'app_url', was: 'https://old.example', now: 'https://new.example' },
          ],
    }),
    async Adopt(p: object) {
      adopted.push(p);
      return enrolled;
    },
  };
  const { typed } = o;
  const ask =
    typed === undefined
      ? undefined
      : async (q: string) => {
          asked.push(q);
          return typed;
        };
  const error = await init(uplink, say, {
    flags: new Set(o.yes ? ['yes'] : []),
    values: o.values ?? {},
    ask,
  }).then(
    () => undefined,
    (e: IngleError) => e,
  );
  return { out, adopted, asked, error };
}

const test = suite('ingle init');

test('a person reads who the owner was and would be, what is forgotten, and whom to suspect', async () => {
  for (const [language, words] of [
    [
      'en',
      [
        /own_a.*own_b/,
        /old\.example.*new\.example/,
        /passkey is forgotten/,
        /runs the root service could be/,
      ],
    ],
    [
      'ru',
      [/own_a.*own_b/, /old\.example.*new\.example/, /ключи доступа будут забыты/, /держит корневой сервис/],
    ],
  ] as const) {
    const r = await run({ typed: 'no', language });
    for (const w of words) assert.match(r.out, w);
    assert.match(r.asked[0]!, 'new.example');
  }
});

test('only the typed address of the application accepts it', async () => {
  for (const typed of ['', 'y', 'yes', 'old.example', 'https://new.example.evil', 'new.example2']) {
    const r = await run({ typed });
    assert.is(r.error?.code, 'conflict', typed);
    assert.equal(r.adopted, [], typed);
  }
  const r = await run({ typed: ' new.example ' });
  assert.is(r.error, undefined);
  assert.equal(r.adopted, [place]);
  assert.match(r.out, /ingle login/);
});

test('a script has to name exactly what it accepts, and is told how', async () => {
  const none = await run();
  assert.is(none.error?.code, 'conflict');
  assert.match(
    none.error!.message,
    'ingle init --yes --owner-id own_b --subnet-id net_b --hub-id hub_b --app-url https://new.example',
  );
  assert.is((await run({ values: names })).error?.code, 'conflict', 'named, and not said yes to');
  for (const left of Object.keys(names) as (keyof typeof names)[]) {
    const { [left]: _, ...some } = names;
    assert.is((await run({ yes: true, values: some })).error?.code, 'invalid_request', left);
    const r = await run({ yes: true, values: { ...names, [left]: 'other' } });
    assert.is(r.error?.code, 'conflict', left);
    assert.equal(r.adopted, []);
  }
  assert.equal((await run({ yes: true, values: names })).adopted, [place]);
});

test('a conflict that is not about the place is told as it is', async () => {
  const r = await run({ same: true, typed: 'new.example' });
  assert.match(r.error!.message, /another place/);
  assert.equal([r.adopted, r.asked], [[], []]);
});

test('a house that moved to another address keeps its place until its owner says otherwise', async () => {
  const data = mkdtempSync(join(tmpdir(), 'ingle-init-'));
  const ingle = async (bus: string, ...args: string[]) => {
    const child = spawn(
      process.execPath,
      [join(process.cwd(), 'services/cli/ingle.mjs'), ...args, '--json'],
      {
        env: { ...process.env, INGLE_LANG: 'en', INGLE_BUS_ADDRESS: bus },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let out = '';
    child.stdout!.on('data', (d) => (out += d));
    child.stderr!.on('data', (d) => (out += d));
    const code = await new Promise((done) => child.on('close', done));
    return {
      code,
      lines: out
        .trim()
        .split('\n')
        .map((l) => JSON.parse(l)),
    };
  };
  let house = await startHouse({ data });
  try {
    await house.issueCode();
    const was = (await house.status()).uplink;
    await house.stop();
    house = await startHouse({ data, port: await freePort('127.0.0.1') });
    assert.is((await house.issueCode().catch((e) => e)).code, 'conflict');
    const refused = await ingle(house.bus, 'init');
    assert.is(refused.code, 73);
    const [offered, error] = refused.lines;
    assert.equal(
      offered.changes.map((c: { field: string }) => c.field),
      ['app_url'],
    );
    assert.match(error.message, /ingle init --yes/);
    const argv = /ingle init (--yes .*)$/.exec(error.message)![1]!.split(' ');
    assert.is((await ingle(house.bus, 'init', ...argv)).code, 0);
    assert.match((await house.issueCode()).link, house.origin);
    assert.is((await house.status()).uplink.hub_id, was.hub_id);
  } finally {
    await house.stop();
    rmSync(data, { recursive: true, force: true });
  }
});

test.run();
