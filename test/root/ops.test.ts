// What root is operated with (root/ops): the unit, the container, the composition. Here it is checked what the files say;
// unit.test.ts starts the unit under systemd, and container.test.ts builds and runs the container.
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { run } from '../../firmware/system/exec.ts';
import { readConfig } from '../../root/config.ts';
import { freePort } from '../../services/cli/house/runtime.ts';
import { child, ended } from '../lab/child.ts';
import { tried, until } from '../lab/wait.ts';
import { nodeFlags } from './kit.ts';

const test = suite('operating root');
const unit = 'root/ops/ingle-root.service';
const missing = ['/usr/bin/systemd-analyze', '/usr/bin/node'].find((f) => !existsSync(f));
if (missing) console.log(`SKIP the unit cannot be analysed: there is no ${missing}`);
const check = missing ? test.skip : test;
const read = (file: string) => readFileSync(file, 'utf8');
/** Variables of root in a text, as NAME=value. */
const settingsIn = (text: string) =>
  Object.fromEntries([...text.matchAll(/\b(INGLE_ROOT_\w+)=(\S+)/g)].map(([, name, value]) => [name, value]));

check('systemd accepts the unit, and it is exposed to no more than 2.0 of 10', async () => {
  const verified = await run('systemd-analyze', ['verify', '--man=no', unit]);
  assert.equal([verified.stderr.trim(), verified.code], ['', 0]);
  const args = ['security', '--offline=true', '--threshold=20', '--no-pager', unit];
  const r = await run('systemd-analyze', args);
  const score = /exposure level for \S+: ([\d.]+)/.exec(r.stdout.toString())?.[1];
  console.log(`\nFIGURE exposure of ingle-root.service ${score}`);
  assert.is(r.code, 0, r.stdout.toString());
  assert.ok(Number(score) <= 2);
  assert.ok(read('root/OPERATIONS.md').includes(`exposure ${score} of 10`), 'as OPERATIONS.md says');
});

test('the unit runs as the user that is made for it, with settings root knows, and waits for its end', () => {
  const text = read(unit);
  const user = /^User=(\S+)$/m.exec(text)?.[1];
  assert.match(read('root/ops/ingle-root.conf'), new RegExp(`^u ${user} `, 'm'));
  const { INGLE_ROOT_CONFIG, ...rest } = settingsIn(text);
  const config = readConfig([], rest);
  assert.is(config.data, `/var/lib/${/^StateDirectory=(\S+)$/m.exec(text)?.[1]}`);
  assert.ok(INGLE_ROOT_CONFIG?.startsWith(`/etc/${/^ConfigurationDirectory=(\S+)$/m.exec(text)?.[1]}/`));
  assert.ok(Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1]) > config.drain + 5);
});

test('the container carries what the bundle needs, and settings root knows', () => {
  const text = read('root/ops/Containerfile');
  const config = readConfig([], settingsIn(text));
  assert.equal([config.host, config.log], ['0.0.0.0', 'json']);
  assert.match(text, new RegExp(`^EXPOSE ${config.port}$`, 'm'));
  assert.match(text, /^USER node$/m);
  assert.match(text, new RegExp(`-o node -g node -m 0700 ${config.data}$`, 'm'));
  assert.is(join('/opt/ingle', config.spa), '/opt/ingle/dist/spa');
  for (const part of ['root', 'native', 'spa'])
    assert.ok(text.includes(`COPY --from=build /src/dist/${part} /opt/ingle/dist/${part}\n`), part);
  const ignored = read('root/ops/Containerfile.dockerignore').split('\n');
  for (const name of ['dist', '**/node_modules', '**/.env', '.git', '.ingle'])
    assert.ok(ignored.includes(name), name);
});

test('what the Containerfile copies is enough to start root, with its own settings, where there is nothing else', async () => {
  if (!existsSync('dist/root/main.js')) throw new Error('dist/root is not built: npm run build');
  const text = read('root/ops/Containerfile');
  const folder = mkdtempSync(join(tmpdir(), 'ingle-image-'));
  const copies = [...text.matchAll(/^COPY --from=build \/src\/(\S+) (\S+)$/gm)];
  assert.is(copies.length, text.match(/^COPY --from/gm)?.length);
  for (const [, from, to] of copies) cpSync(from!, join(folder, to!), { recursive: true });
  const workdir = join(folder, [...text.matchAll(/^WORKDIR (\S+)$/gm)].at(-1)![1]!);
  const [, ...words] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(text)![1]!) as string[];
  const port = await freePort('127.0.0.1');
  const env = {
    ...settingsIn(text),
    NODE_ENV: 'production',
    INGLE_ROOT_PORT: String(port),
    INGLE_ROOT_HOST: '127.0.0.1',
    INGLE_ROOT_DATA: join(folder, settingsIn(text)['INGLE_ROOT_DATA']!),
  };
  const program = words.map((w) => (w.startsWith('/') ? join(folder, w) : w));
  const root = child(process.execPath, program, { cwd: workdir, env, stdio: 'ignore' });
  try {
    const at = `http://127.0.0.1:${port}`;
    await until(
      tried(async () => (await fetch(`${at}/health/ready`)).ok),
      'root',
    );
    assert.match(await (await fetch(at, { headers: { accept: 'text/html' } })).text(), /<!doctype html>/i);
    assert.is(await ended(root, 'SIGTERM', 'root'), 0);
  } finally {
    await ended(root, 'SIGKILL', 'root');
    rmSync(folder, { recursive: true, force: true });
  }
});

test('Node is told the same by the unit, the container and npm', () => {
  const [, ...words] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(read('root/ops/Containerfile'))![1]!) as string[];
  assert.equal(words.slice(0, -1), nodeFlags);
  const { scripts } = JSON.parse(read('root/package.json')) as { scripts: { start: string } };
  assert.ok(scripts.start.endsWith(` node ${nodeFlags.join(' ')} dist/root/main.js`));
  assert.ok(read('root/README.md').includes(`\nnode ${nodeFlags.join(' ')} dist/root/main.js --origin`));
});

interface Service {
  environment: Record<string, string>;
  networks?: string[];
  volumes?: string[];
  ports?: string[];
  stop_grace_period?: string;
}

test('the composition gives root settings it knows, and a database', () => {
  const { services, networks, volumes } = parse(read('root/ops/compose.yaml'), {
    merge: true,
  }) as {
    services: Record<string, Service>;
    networks: Record<string, { ipam?: { config: { subnet: string }[] }; internal?: boolean }>;
    volumes: Record<string, object>;
  };
  const given = { ORIGIN: 'https://hub.example', POSTGRES_PASSWORD: 'hunter2' };
  const filled = (text: string) =>
    text.replace(/\$\{(\w+):\?[^}]+\}/g, (_, name: keyof typeof given) => given[name]);
  const { root, second, postgres } = services;
  const configOf = (s: Service) =>
    readConfig([], {
      ...settingsIn(read('root/ops/Containerfile')),
      ...Object.fromEntries(Object.entries(s.environment).map(([k, v]) => [k, filled(v)])),
    });
  const config = configOf(root!);
  const other = configOf(second!);
  assert.equal([config.peer, other.peer], ['root:8090', 'second:8090']);
  assert.equal([config.name, other.name], ['node1', 'node2'], 'as the balancer calls them');
  assert.is(new URL(config.redis).hostname, 'redis');
  assert.equal({ ...other, peer: config.peer, name: config.name }, config);
  const { hostname, username, pathname, password } = new URL(config.database);
  const database = postgres!.environment;
  assert.equal(
    [hostname, username, pathname.slice(1), password],
    ['postgres', database['POSTGRES_USER'], database['POSTGRES_DB'], filled(database['POSTGRES_PASSWORD']!)],
  );
  assert.equal(config.trustedProxies, [networks['front']!.ipam!.config[0]!.subnet]);
  assert.is(networks['back']!.internal, true, 'the database is reached from here only');
  for (const said of Object.values(services)) {
    for (const n of said.networks ?? []) assert.ok(n in networks, n);
    for (const v of said.volumes ?? []) assert.ok(v.split(':')[0]! in volumes, v);
    for (const p of said.ports ?? []) assert.ok(p.startsWith('127.0.0.1:'), p);
  }
  const grace = Number.parseInt(root!.stop_grace_period!, 10);
  assert.ok(grace > config.drain + 5);
});

test('the bundle is one file, and loads another where several processes or metrics are asked for', () => {
  const main = readFileSync('dist/root/main.js', 'utf8');
  assert.not.match(main, /\bfrom ?["']\.\//);
  assert.match(main, /\bimport\(["']\.\/cluster-/);
  assert.not.match(main, /ingle:nodes/);
});

test('npm start -w root serves the application that was built', async () => {
  if (!existsSync('dist/root/main.js')) throw new Error('dist/root is not built: npm run build');
  const data = mkdtempSync(join(tmpdir(), 'ingle-start-'));
  const port = await freePort('127.0.0.1');
  const words = ['start', '-w', 'root', '--', '--port', String(port), '--data', data];
  const npm = child('npm', words, { stdio: 'ignore', detached: true });
  const at = `http://127.0.0.1:${port}`;
  try {
    await until(
      tried(async () => (await fetch(`${at}/health/ready`)).ok),
      'root',
    );
    assert.match(await (await fetch(at, { headers: { accept: 'text/html' } })).text(), /<!doctype html>/i);
    // npm passes signals on through a shell, which may not: its whole group is asked.
    process.kill(-npm.pid!, 'SIGTERM');
    await until(
      tried(async () =>
        fetch(at).then(
          () => false,
          () => true,
        ),
      ),
      'root to be gone',
    );
  } finally {
    // What is left of the group.
    try {
      process.kill(-npm.pid!, 'SIGKILL');
    } catch {}
    await ended(npm, 'SIGKILL', 'npm');
    rmSync(data, { recursive: true, force: true });
  }
});

test.run();
