// timeout: 3600 s, apart
// Root's container (root/ops/Containerfile) and its composition (root/ops/compose.yaml), built and run. What stands in:
// the base images (test/lab/podman.ts), Debian's PostgreSQL and Redis for their images, and three networks of the kernel
// for those of Compose; PostgreSQL trusts, so a password is not looked at. What root gets is read from these files.
import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { must } from '../../firmware/system/exec.ts';
import { inOwnNet, isInOwnNet, noNets, openNets } from '../lab/netns.ts';
import { buildImage, mustPodman, noPodman, podman } from '../lab/podman.ts';
import { startPostgres } from '../lab/postgres.ts';
import { startRedis } from '../lab/redis.ts';
import { tried, until } from '../lab/wait.ts';

const IMAGE = 'localhost/ingle-root';
const why = noPodman() || (await noNets());
if (why) console.log(`SKIP podman cannot be run here: ${why}`);
else {
  // The build wants a registry, and the network in which the containers are tried has none.
  if (!isInOwnNet()) {
    const began = Date.now();
    await buildImage('root/ops/Containerfile', IMAGE);
    console.log(`\nFIGURE building root's container, s ${Math.round((Date.now() - began) / 1000)}`);
  }
  await inOwnNet({ mounts: true });
  // crun takes no mix of both versions of cgroups.
  await must('mount', ['-t', 'tmpfs', 'none', '/sys/fs/cgroup']);
  await must('mount', ['-t', 'cgroup2', 'none', '/sys/fs/cgroup']);
}
const test = suite("root's container");
const check = why ? test.skip : test;

interface Service {
  environment: Record<string, string>;
  read_only: boolean;
  cap_drop: string[];
  security_opt: string[];
  volumes: string[];
  stop_grace_period: string;
  command?: string[];
}
const { services } = parse(readFileSync('root/ops/compose.yaml', 'utf8'), { merge: true }) as {
  services: Record<'root' | 'second' | 'postgres' | 'redis', Service>;
};

/** Words of `podman run` for what Compose says of a service, and for this computer. */
function wordsOf(s: Service, volume: string): string[] {
  return [
    // It may not raise its own bounds everywhere, and no systemd runs the timer of HEALTHCHECK.
    ...['--cgroups=disabled', '--ulimit', 'nofile=4096:4096', '--ulimit', 'nproc=4096:4096'],
    ...['--health-interval', 'disable'],
    ...(s.read_only ? ['--read-only'] : []),
    ...s.cap_drop.flatMap((c) => ['--cap-drop', c]),
    ...s.security_opt.flatMap((o) => ['--security-opt', o.replace(/:true$/, '')]),
    ...['--volume', s.volumes[0]!.replace(/^[^:]+/, volume)],
  ];
}
const grace = services.root.stop_grace_period.replace(/s$/, '');
const inspect = (name: string, what: string) => mustPodman('inspect', '--format', `{{${what}}}`, name);
const stop = (name: string) => mustPodman('stop', '--time', grace, name);
const gone = async (names: readonly string[], volume: string) => {
  await podman('rm', '--force', ...names);
  await podman('volume', 'rm', '--force', volume);
};
async function ready(at: string, name: string): Promise<void> {
  await until(
    tried(async () => (await fetch(`${at}/health/ready`)).status === 200),
    `${name} to be ready`,
  ).catch(async (e) => {
    console.log((await podman('logs', name)).stderr);
    throw e;
  });
}

check('it serves, its data outlives it, and it may write nothing else', async () => {
  const [names, volume, at] = [['one', 'two'] as const, 'ingle-test', 'http://127.0.0.1:8080'];
  const origin = 'http://localhost:8080';
  const ask = async (page?: { sid: string; cookie: string }) => {
    const headers = { 'content-type': 'application/json', origin, ...(page && { cookie: page.cookie }) };
    const body = JSON.stringify(page ? { sid: page.sid } : {});
    const answer = await fetch(`${at}/v1/session`, { method: 'POST', headers, body });
    const { sid } = (await answer.json()) as { sid: string };
    return { sid, cookie: page?.cookie ?? answer.headers.getSetCookie()[0]!.split(';')[0]! };
  };
  let page: Awaited<ReturnType<typeof ask>> | undefined;
  await gone(names, volume);
  try {
    for (const name of names) {
      const words = ['--detach', '--network', 'host', '--name', name, ...wordsOf(services.root, volume)];
      await mustPodman('run', ...words, IMAGE);
      await ready(at, name);
      assert.match(await (await fetch(at, { headers: { accept: 'text/html' } })).text(), /<!doctype html>/i);
      const next = await ask(page);
      if (page) assert.is(next.sid, page.sid, 'what the one before it acknowledged');
      page = next;
      assert.is((await podman('healthcheck', 'run', name)).code, 0);
      const status = readFileSync(`/proc/${await inspect(name, '.State.Pid')}/status`, 'utf8');
      const value = (key: string) => new RegExp(`^${key}:\\s+(.*)$`, 'm').exec(status)?.[1];
      assert.is(value('Uid'), '1000\t1000\t1000\t1000');
      assert.equal([value('CapEff'), value('NoNewPrivs')], ['0000000000000000', '1']);
      console.log(`\nFIGURE root in its container, resident ${value('VmRSS')}`);
      const write = await podman('exec', name, 'sh', '-c', 'echo x > /opt/ingle/dist/root/x');
      assert.match(write.stderr, /Read-only file system/);
      await stop(name);
      assert.is(await inspect(name, '.State.ExitCode'), '0');
      assert.match((await podman('logs', name)).stderr, /"why":"SIGTERM"/);
    }
    console.log(`\nFIGURE root's image, bytes ${await inspect(IMAGE, '.Size')}`);
  } finally {
    await gone(names, volume);
  }
});

check('HEALTHCHECK fails where root does not answer', async () => {
  const words = ['--detach', '--network', 'host', '--name', 'other', ...wordsOf(services.root, 'ingle-test')];
  await gone(['other'], 'ingle-test');
  try {
    await mustPodman('run', ...words, '--entrypoint', '["sleep","1000"]', IMAGE);
    assert.is((await podman('healthcheck', 'run', 'other')).code, 1);
  } finally {
    await gone(['other'], 'ingle-test');
  }
});

check('Compose: both processes come up with what they are given, on PostgreSQL and Redis', async () => {
  const given: Record<string, string> = { ORIGIN: 'https://hub.example', POSTGRES_PASSWORD: 'hunter2' };
  const filled = (text: string) => text.replace(/\$\{(\w+):\?[^}]+\}/g, (_, name: string) => given[name]!);
  const names = ['root', 'second'] as const;
  await gone(names, 'ingle-compose');
  const { nets, remove } = await openNets(names, { here: true });
  const database = services.postgres.environment;
  const [sql, redis] = [
    await startPostgres({ flush: false, open: true, port: 5432 }),
    await startRedis({ open: true, port: 6379 }),
  ];
  try {
    await sql.ask(`CREATE ROLE ${database['POSTGRES_USER']} LOGIN`);
    await sql.ask(`CREATE DATABASE ${database['POSTGRES_DB']} OWNER ${database['POSTGRES_USER']}`);
    for (const name of names) {
      const hosts = { postgres: nets[name].middle, redis: nets[name].middle };
      const all = { ...hosts, root: nets.root.address, second: nets.second.address };
      const more = [
        ...Object.entries(all).flatMap(([host, address]) => ['--add-host', `${host}:${address}`]),
        ...Object.entries(services[name].environment).flatMap(([k, v]) => ['--env', `${k}=${filled(v)}`]),
      ];
      const words = [...wordsOf(services[name], `ingle-compose-${name}`), ...more];
      const network = ['--network', `ns:/run/netns/${nets[name].name}`];
      await mustPodman('run', '--detach', '--name', name, ...network, ...words, IMAGE);
    }
    for (const name of names) {
      await ready(`http://${nets[name].address}:8080`, name);
      const metrics = await (await fetch(`http://${nets[name].address}:9464/metrics`)).text();
      assert.match(metrics, /^ingle_root_/m);
    }
    const tables = await sql.ask(`SELECT count(*) FROM pg_stat_activity WHERE usename = 'ingle'`);
    assert.ok(Number(tables) >= 2, 'both are at the database');
    assert.ok(Number((await redis.say('client', 'list')).split('\n').length) > 2, 'and at Redis');
    for (const name of names) {
      await stop(name);
      assert.is(await inspect(name, '.State.ExitCode'), '0');
    }
  } finally {
    for (const name of names) await gone([name], `ingle-compose-${name}`);
    await sql.stop();
    await redis.stop();
    remove();
  }
});

test.run();
