#!/usr/bin/env node
// `npm start`: installs what is missing, builds what is old, then runs root and hub on this computer.
// Plain Node without dependencies: on a fresh machine nothing else is there yet.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { build } from './build.mjs';
import { install } from './install.mjs';

const russian = /^ru/i.test(
  process.env.INGLE_LANG || process.env.LC_ALL || process.env.LC_MESSAGES || process.env.LANG || '',
);
const t = (en, ru) => (russian ? ru : en);

const help = () =>
  t(
    `npm start -- [options]    runs Ingle, root and hub, on this computer

  --port <n>       port of the web address, default 8080
  --data <folder>  where keys, state and logs lie, default .ingle
  --origin <url>   address browsers use when an HTTPS proxy stands in front, like https://hub.example.org
  --api <url>      address of root, when a host of its own serves the application at --origin (npm run app)
  --host <addr>    address to listen on, default 127.0.0.1 (0.0.0.0 with --origin)
  --json           one JSON object a line instead of text
  --help           this text`,
    `npm start -- [параметры]    запускает Ingle, root и хаб, на этом компьютере

  --port <n>       порт веб-адреса, по умолчанию 8080
  --data <папка>   где лежат ключи, состояние и журналы, по умолчанию .ingle
  --origin <url>   адрес для браузеров, если впереди стоит прокси с HTTPS, например https://hub.example.org
  --api <url>      адрес root, если приложение раздаёт отдельный хост по адресу --origin (npm run app)
  --host <адрес>   на каком адресе слушать, по умолчанию 127.0.0.1 (0.0.0.0 с --origin)
  --json           вместо текста по одному объекту JSON в строке
  --help           эта справка`,
  );

const argv = process.argv.slice(2);
const json = argv.includes('--json');
function fail(message, status = 64, error = 'invalid_request') {
  process.stderr.write(json ? `${JSON.stringify({ error, message })}\n` : `${message}\n`);
  process.exit(status);
}
const say = (text) => json || process.stdout.write(`${text}\n`);

function secureOrigin(name, value) {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const secure = url?.protocol === 'https:' || (url?.protocol === 'http:' && url.hostname === 'localhost');
  if (!secure || url.origin !== value.replace(/\/$/, ''))
    fail(
      t(
        `--${name} takes an address like https://hub.example.org, without a path; http only for localhost, for browsers give passkeys to secure addresses alone.`,
        `--${name} принимает адрес вида https://hub.example.org, без пути; http только для localhost: ключи доступа браузеры дают лишь защищённым адресам.`,
      ),
    );
  return url.origin;
}

function parse() {
  const o = { json };
  for (let i = 0; i < argv.length; i++) {
    const [name, inline] = argv[i].split(/=(.*)/s);
    if (name === '--help' || name === '-h') {
      process.stdout.write(`${help()}\n`);
      process.exit(0);
    }
    if (name === '--json') continue;
    if (!['--port', '--data', '--origin', '--api', '--host'].includes(name))
      fail(
        t(
          `"${argv[i]}" is not known here. See: npm start -- --help`,
          `Неизвестно: "${argv[i]}". См.: npm start -- --help`,
        ),
      );
    const value = inline ?? argv[++i];
    if (value === undefined || value === '')
      fail(
        t(
          `${name} wants a value. See: npm start -- --help`,
          `${name} требует значения. См.: npm start -- --help`,
        ),
      );
    o[name.slice(2)] = value;
  }
  if (o.port !== undefined) {
    if (!/^\d{1,5}$/.test(o.port) || +o.port < 1 || +o.port > 65535)
      fail(t('--port takes a number from 1 to 65535.', '--port принимает число от 1 до 65535.'));
    o.port = Number(o.port);
  }
  for (const name of ['origin', 'api']) if (o[name] !== undefined) o[name] = secureOrigin(name, o[name]);
  if (o.api !== undefined && o.origin === undefined)
    fail(
      t(
        '--api needs --origin: the address at which browsers get the application.',
        '--api требует --origin: адреса, по которому браузеры получают приложение.',
      ),
    );
  return o;
}

const onPath = (program) =>
  (process.env.PATH ?? '').split(delimiter).some((dir) => dir && existsSync(join(dir, program)));

/** dbus-daemon comes with most desktops; on a bare machine it is one small package. */
function needDbus() {
  if (onPath('dbus-daemon')) return;
  const apt = process.getuid?.() === 0 && onPath('apt-get');
  if (apt) {
    say(t('Installing dbus-daemon', 'Устанавливается dbus-daemon'));
    const o = { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
    const get = () =>
      spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'dbus-daemon'], o);
    if (get().status !== 0) {
      spawnSync('apt-get', ['update', '-qq'], o);
      get();
    }
    if (onPath('dbus-daemon')) return;
  }
  fail(
    t(
      'The program dbus-daemon is missing. Install it and start again: sudo apt-get install dbus-daemon',
      'Нет программы dbus-daemon. Установите её и запустите снова: sudo apt-get install dbus-daemon',
    ),
    69,
    'not_supported',
  );
}

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 9))
  fail(
    t(
      `Node ${process.versions.node} is too old; Ingle needs 20.9 or newer. See nodejs.org.`,
      `Node ${process.versions.node} слишком старый; нужен 20.9 или новее. См. nodejs.org.`,
    ),
    69,
    'not_supported',
  );
const options = parse();
needDbus();
try {
  await install((seconds) =>
    say(
      seconds === 0
        ? t(
            'Installing packages; the first time takes a minute or two',
            'Устанавливаются пакеты; в первый раз это минута-другая',
          )
        : t(`  still installing, ${seconds} s`, `  всё ещё устанавливаются, ${seconds} с`),
    ),
  );
  let first = true;
  await build((what) => {
    if (first) say(t('Building', 'Сборка'));
    first = false;
    say(`  ${what}`);
  });
} catch (e) {
  fail(e.message, 70, 'internal');
}
const { runStart } = await import('../../dist/services/cli/start.js');
process.exitCode = await runStart(options);
process.exit();
