// timeout: 300 s
// Root's unit under a real systemd, installed by the commands that OPERATIONS.md gives an administrator, with records in
// SQLite. What is not as on a server: systemd shares the kernel and the files of this computer (test/lab/systemd.ts).
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { peekStore } from '../../firmware/system/store.ts';
import { readConfig } from '../../root/config.ts';
import { inOwnNet, noNets } from '../lab/netns.ts';
import { noSystemd, type System, startSystem } from '../lab/systemd.ts';
import { tried, until, within } from '../lab/wait.ts';

const why = (await noNets()) || (await noSystemd());
if (why) console.log(`SKIP systemd cannot be run here: ${why}`);
else await inOwnNet();

const UNIT = 'ingle-root.service';
const SETTINGS = '/etc/ingle-root/root.json';
const AT = `http://127.0.0.1:${readConfig([], {}).port}`;
/** What the commands of OPERATIONS.md write. */
const ORIGIN = 'https://hub.example';

interface Unit {
  system: System;
  /** A page that was here before all that happens. */
  page: { sid: string; cookie: string };
}
const test = suite<Unit>("root's unit");
const check = why ? test.skip : test;

/** The commands under "Install" for systemd. */
function commands(): string {
  const [, block = ''] = /- \*\*systemd\*\*[\s\S]*?\n {2}```sh\n([\s\S]*?)\n {2}```\n/.exec(
    readFileSync('root/OPERATIONS.md', 'utf8'),
  )!;
  return block.replace(/^ {2}/gm, '');
}

const bash = (s: System, script: string) => s.must('bash', '-euc', script);
/** Puts a file beside the settings, for root's user alone. */
const put = (s: System, file: string, text: string) =>
  bash(
    s,
    `install -o ingle-root -g ingle-root -m 0600 /dev/null ${file}; cat > ${file} <<'END'\n${text}\nEND`,
  );
const configure = (s: System, settings: object) => put(s, SETTINGS, JSON.stringify(settings));
const mainPid = async (s: System) => Number(await s.show(UNIT, 'MainPID'));
const isReady = async () => (await fetch(`${AT}/health/ready`)).status === 200;
const lastLine = async (s: System) =>
  (await s.must('journalctl', '-u', UNIT, '-t', 'node', '-o', 'cat', '-n', '1', '--no-pager')).trim();

async function session(page?: Unit['page']): Promise<Unit['page']> {
  const headers = {
    'content-type': 'application/json',
    origin: ORIGIN,
    ...(page && { cookie: page.cookie }),
  };
  const body = JSON.stringify(page ? { sid: page.sid } : {});
  const answer = await fetch(`${AT}/v1/session`, { method: 'POST', headers, body });
  const { sid } = (await answer.json()) as { sid: string };
  return { sid, cookie: page?.cookie ?? answer.headers.getSetCookie()[0]!.split(';')[0]! };
}

/** Whether the file of the records is whole. Root is down. */
async function recordsAreWhole(s: System): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'ingle-unit-'));
  try {
    cpSync(join(s.files, 'var/lib/ingle-root'), folder, { recursive: true });
    const said = await peekStore(join(folder, 'root.sqlite'), 'PRAGMA integrity_check');
    assert.equal(said, [{ integrity_check: 'ok' }]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test.before(async (c) => {
  if (why) return;
  if (!existsSync('dist/root/main.js')) throw new Error('dist/root is not built: npm run build');
  c.system = await startSystem();
});
test.after(async (c) => {
  await c.system?.stop();
});

check(
  'the commands of OPERATIONS.md install root, and it serves as soon as systemd says that it is up',
  async (c) => {
    await bash(c.system, `cd /src\n${commands()}`);
    assert.ok(await isReady());
    assert.is(await c.system.must('systemctl', 'is-enabled', UNIT), 'enabled');
    const page = await (await fetch(AT, { headers: { accept: 'text/html' } })).text();
    assert.match(page, /<!doctype html>/i, 'the application is there');
    c.page = await session();
  },
);

check(
  'it may do little: a user of its own, no capability, a filter of system calls, a read-only system',
  async (c) => {
    const { system: s } = c;
    const pid = await mainPid(s);
    const status = await s.must('cat', `/proc/${pid}/status`);
    const value = (name: string) => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1] ?? '';
    const user = await s.must('id', '-u', 'ingle-root');
    assert.equal(value('Uid').split('\t'), [user, user, user, user]);
    for (const set of ['CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) assert.match(value(set), /^0+$/, set);
    assert.equal([value('NoNewPrivs'), value('Seccomp')], ['1', '2']);
    // TasksMax= counts threads.
    assert.ok(Number(value('Threads')) < Number(await s.show(UNIT, 'TasksMax')) / 2, value('Threads'));
    console.log(`\nFIGURE root under its unit, resident ${value('VmRSS')}`);
    const mounts = await s.must('cat', `/proc/${pid}/mountinfo`);
    // Where a place has several, the last one is seen.
    const options = (place: string) =>
      [...mounts.matchAll(new RegExp(`^(?:\\S+ ){4}${place} (\\S+) `, 'gm'))].at(-1)?.[1]?.split(',');
    assert.ok(options('/')?.includes('ro'), mounts);
    assert.ok(options('/var/lib/ingle-root')?.includes('rw'), mounts);
    const owner = await s.must(
      'stat',
      '-c',
      '%U %a',
      '/var/lib/ingle-root',
      '/var/lib/ingle-root/root.sqlite',
    );
    assert.is(owner, 'ingle-root 700\ningle-root 600');
  },
);

check(
  'systemctl stop lets an answer under way be given, ends it with status 0, and its records are whole',
  async (c) => {
    const { system: s } = c;
    const body = JSON.stringify({}).padEnd(200);
    const headers = { 'content-type': 'application/json', 'content-length': body.length, origin: ORIGIN };
    const half = request(`${AT}/v1/session`, { method: 'POST', agent: false, headers });
    const answered = new Promise<number>((resolve, reject) => {
      half.on('response', (r) => resolve(r.resume().statusCode!)).on('error', reject);
    });
    answered.catch(() => {});
    await new Promise<void>((done) => half.write(body.slice(0, 100), () => done()));
    // It has been taken once what came later is answered.
    assert.ok(await isReady());
    await s.must('systemctl', 'stop', '--no-block', UNIT);
    await until(
      tried(async () => (await fetch(`${AT}/health/ready`)).status === 503),
      'root to say that it ends',
    );
    half.end(body.slice(100));
    assert.is(await within(answered, 'the answer'), 200);
    await until(async () => (await s.show(UNIT, 'ActiveState')) === 'inactive', 'root to end');
    const how = ['Result', 'ExecMainCode', 'ExecMainStatus', 'NRestarts'];
    assert.equal(await Promise.all(how.map((p) => s.show(UNIT, p))), ['success', '1', '0', '0']);
    await recordsAreWhole(s);
    await s.must('systemctl', 'start', UNIT);
    assert.is((await session(c.page)).sid, c.page.sid);
  },
);

check('kill -9 costs nothing that was acknowledged, and systemd starts it again', async (c) => {
  const { system: s } = c;
  const page = await session();
  const killed = await mainPid(s);
  assert.ok(killed > 1);
  await s.must('kill', '-9', String(killed));
  await until(async () => {
    const now = await mainPid(s);
    return now > 0 && now !== killed && (await s.show(UNIT, 'ActiveState')) === 'active';
  }, 'root to be up again');
  assert.is(await s.show(UNIT, 'NRestarts'), '1');
  for (const was of [page, c.page]) assert.is((await session(was)).sid, was.sid);
});

check(
  'a setting that cannot be used ends it for good, systemctl fails, and the journal names it',
  async (c) => {
    const { system: s } = c;
    const good = await s.must('cat', SETTINGS);
    const bad: [settings: string, says: string][] = [
      ['{"prot": 8080}', `"prot" in ${SETTINGS} is no setting of root`],
      ['{"port": "eighty"}', `"port" in ${SETTINGS} must be a whole number`],
      ['{"port": 8080', `The configuration ${SETTINGS} is not JSON`],
    ];
    for (const [settings, says] of bad) {
      await put(s, SETTINGS, settings);
      assert.is.not((await s.run('systemctl', 'restart', UNIT)).code, 0, says);
      // What waits for its next start would be "activating".
      assert.is(await s.show(UNIT, 'ActiveState'), 'failed', says);
      assert.is(await s.show(UNIT, 'ExecMainStatus'), '78', says);
      const line = await lastLine(s);
      assert.ok(line.includes(says), line);
    }
    await put(s, SETTINGS, good);
    await s.must('chown', 'root:root', SETTINGS);
    assert.is.not((await s.run('systemctl', 'restart', UNIT)).code, 0);
    assert.match(await lastLine(s), new RegExp(`${SETTINGS} cannot be read \\(EACCES\\)`));
    await s.must('chown', 'ingle-root:ingle-root', SETTINGS);
    await s.must('systemctl', 'start', UNIT);
    assert.ok(await isReady());
  },
);

/** Whose certificate is shown to a new connection. */
const shown = (port: number) =>
  new Promise<string>((resolve, reject) => {
    const c = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(String(c.getPeerCertificate().subject.CN));
      c.destroy();
    });
    c.on('error', reject);
  });

check('a certificate beside the settings is read under the unit, and again after SIGHUP', async (c) => {
  const { system: s } = c;
  const make = (name: string) =>
    bash(
      s,
      `cd /etc/ingle-root; openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 \\
        -subj /CN=${name} -keyout new.key -out new.crt; chown ingle-root:ingle-root new.*; chmod 600 new.*
        mv new.key tls.key; mv new.crt tls.crt`,
    );
  await make('first');
  const [cert, key] = ['/etc/ingle-root/tls.crt', '/etc/ingle-root/tls.key'];
  await configure(s, { origin: ORIGIN, port: 8443, 'tls-cert': cert, 'tls-key': key });
  await s.must('systemctl', 'restart', UNIT);
  assert.is(await shown(8443), 'first');
  const pid = await mainPid(s);
  await make('second');
  await s.must('systemctl', 'kill', '--signal=HUP', '--kill-who=main', UNIT);
  await until(async () => (await shown(8443)) === 'second', 'the new certificate');
  assert.is(await mainPid(s), pid, 'the same process');
});

check('records are backed up as README says while the unit runs', async (c) => {
  const { system: s } = c;
  const said = await bash(
    s,
    `runuser -u ingle-root -- env INGLE_ROOT_DATA=/var/lib/ingle-root node /opt/ingle/dist/root/main.js backup /tmp/root.gz
     stat -c '%U %a' /tmp/root.gz`,
  );
  assert.match(said, /ingle-root 600$/);
});

test.run();
