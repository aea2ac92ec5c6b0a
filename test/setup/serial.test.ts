// timeout: 240 s
import { type ChildProcess, spawn } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { topics } from '../../firmware/io/topics.ts';
import { utf8 } from '../../firmware/protocol/bytes.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { checkSecret, hashSecret } from '../../firmware/setup/console-secret.ts';
import { setup1 } from '../../firmware/setup/contract.ts';
import { packetType, serialPacket } from '../../firmware/setup/improv.ts';
import { programOf } from '../lab/program.ts';
import { until } from '../lab/wait.ts';
import { fakeHub } from './fake-hub.ts';

/** What a test has started ends with it, however that ends. */
const running: { stop(): unknown }[] = [];
function keep<T extends { stop(): unknown }>(what: T): T {
  running.push(what);
  return what;
}

/** The far end of a pseudo-terminal whose near end the service has. */
function line(path: string) {
  const fd = openSync(path, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK);
  let seen = Buffer.alloc(0);
  const timer = setInterval(() => {
    const b = Buffer.alloc(65536);
    try {
      const n = readSync(fd, b);
      seen = Buffer.concat([seen, b.subarray(0, n)]);
    } catch {}
  }, 10);
  return {
    get bytes() {
      return seen;
    },
    write: (data: string | Uint8Array) => void writeSync(fd, typeof data === 'string' ? utf8(data) : data),
    /** Settles when `text` has come since the last call; what came up to there is used up. */
    async expect(text: string): Promise<string> {
      return until(
        () => {
          const all = seen.toString();
          const at = all.indexOf(text);
          if (at < 0) return undefined;
          const upTo = all.slice(0, at + text.length);
          seen = seen.subarray(Buffer.byteLength(upTo));
          return upTo;
        },
        `"${text}" on the line, which has: ${JSON.stringify(seen.toString().slice(-400))}`,
      );
    },
    close() {
      clearInterval(timer);
      closeSync(fd);
    },
  };
}

async function consoleOn(
  hub: { address: string },
  env: Record<string, string> = {},
  { asleep = false } = {},
) {
  const dir = mkdtempSync(join(tmpdir(), 'ingle-tty-'));
  const [near, far] = [join(dir, 'near'), join(dir, 'far')];
  const socat = spawn('socat', [`pty,raw,echo=0,link=${near}`, `pty,raw,echo=0,link=${far}`], {
    stdio: 'ignore',
  });
  const started = (child: ChildProcess) => new Promise((_, no) => child.once('error', no));
  await Promise.race([
    until(() => {
      try {
        // A terminal opened without O_NOCTTY would become this process's own, and its end a hangup.
        closeSync(openSync(far, constants.O_RDONLY | constants.O_NOCTTY | constants.O_NONBLOCK));
        return true;
      } catch {
        return false;
      }
    }, 'a pseudo-terminal'),
    started(socat),
  ]);
  const far_ = line(far);
  const program = [process.execPath, ...programOf('services/serial/main.ts')];
  const [command = '', ...args] = asleep
    ? ['sh', 'image/overlay/usr/lib/ingle/console', near, ...program]
    : [...program, near];
  const service = spawn(command, args, {
    env: { ...process.env, INGLE_BUS_ADDRESS: hub.address, INGLE_CONFIG: '/nonexistent', ...env },
    // A process group: a shell that waits has children.
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => service.once('close', resolve));
  return keep({
    ...far_,
    get bytes() {
      return far_.bytes;
    },
    /** What runs there. */
    program: () => readFileSync(`/proc/${service.pid}/cmdline`, 'utf8').split('\0')[0] ?? '',
    /** Its exit status. */
    ended,
    stop() {
      far_.close();
      try {
        process.kill(-service.pid!, 'SIGKILL');
      } catch {}
      socat.kill('SIGKILL');
    },
  });
}

/** Chooses from a menu by its words. */
async function choose(
  tty: { expect(text: string): Promise<string>; write(text: string): void },
  label: string,
) {
  const menu = await tty.expect(`. ${label}\r\n`);
  await tty.expect('> ');
  tty.write(`${/(\d+)\. [^.]*$/.exec(menu)?.[1]}\r`);
}

const test = suite('serial');
test.after.each(async () => {
  for (const what of running.splice(0).reverse()) await what.stop();
});

test('a person at a dumb terminal sets up Wi-Fi, sound and a phone', async () => {
  const hub = keep(await fakeHub());
  await hub.setup.begin();
  const tty = await consoleOn(hub);
  await tty.expect('Enter');
  tty.write('\r');
  await tty.expect('Access point: Ingle-1234');
  await tty.expect('What next?');
  tty.write('1\r');
  await tty.expect('1. Home "5G" <b>  88 %  wpa2');
  // A wrong key, taken back, then a number that is none.
  tty.write('9\x7f77\r\n');
  await tty.expect('Type a number from 1 to 5.');
  tty.write('1\r');
  await tty.expect('Password of Home "5G" <b>: ');
  tty.write('пароль-не-тот\x15secret pass\r');
  const shown = await tty.expect('The hub is in Home "5G" <b>.');
  assert.not.match(shown, /secret pass/);
  assert.equal(hub.world.joined, ['Home "5G" <b>/secret pass/false']);
  await tty.expect('What next?');
  tty.write('2\r');
  await tty.expect('Which speaker?');
  tty.write('1\r');
  await tty.expect('Which microphone?');
  tty.write('1\r');
  await tty.expect('ok (correlation 0.91, 83.2 ms, 21.0 dB)');
  tty.write('1\r');
  await tty.expect('Kept.');
  await tty.expect('What next?');
  tty.write('3\r');
  await tty.expect('https://ingle.example/#v1.482-913.AAAA.BBBB');
  await tty.expect('482-913 507-226');
});

test('a technician reads status, network and logs, and erases everything after saying so twice', async () => {
  const hub = keep(await fakeHub());
  await hub.setup.begin();
  const tty = await consoleOn(hub);
  await tty.expect('Enter');
  tty.write('\r');
  await choose(tty, 'Show the access point and the PIN');
  await tty.expect(hub.setup.secrets().psk);
  await choose(tty, 'Status');
  await tty.expect('state: CHANNELS');
  await choose(tty, 'Network details');
  await tty.expect('127.0.0.1');
  await choose(tty, 'Factory reset');
  await tty.expect('Type "erase" to go on');
  tty.write('yes\r');
  await tty.expect('Nothing was erased.');
  assert.is(hub.world.erased, 0);
  await choose(tty, 'Factory reset');
  await tty.expect('Type "erase" to go on');
  tty.write('erase\r');
  await tty.expect('Erased.');
  assert.is(hub.world.erased, 1);
  await choose(tty, 'Quit');
  await tty.expect('Enter');
});

test('an owner without a passkey and a new owner are served at the console, and a code tried too often is told', async () => {
  const hub = keep(await fakeHub({ owned: true, online: true }));
  await hub.setup.begin();
  await hub.setup.paired();
  const tty = await consoleOn(hub);
  await tty.expect('Enter');
  tty.write('\r');
  await choose(tty, 'Every passkey is lost');
  await tty.expect('a phone makes a new passkey');
  await tty.expect('https://ingle.example/#v1.482-913.AAAA.BBBB');
  await tty.expect('482-913 507-226');
  await tty.expect('for 10 minutes');
  await tty.expect('Then remove what is lost');
  assert.equal(hub.world.asked.splice(0), ['new passkey']);

  await choose(tty, 'Hand over to another owner');
  await choose(tty, 'Yes');
  assert.not.match(await tty.expect('Code for the new owner: 482-913'), /#v1/);
  assert.equal(hub.world.asked.splice(0), ['code']);
  hub.world.changes = [{ field: 'owner_id', was: 'own_a', now: 'own_heir' }];
  await choose(tty, 'Hand over to another owner');
  await tty.expect('owner: was own_a, would be own_heir');
  await tty.expect('type the address of the application, ingle.example: ');
  tty.write('yes\r');
  await tty.expect('Nothing was changed.');
  assert.equal(hub.world.asked, []);
  await choose(tty, 'Hand over to another owner');
  await tty.expect('type the address of the application, ingle.example: ');
  tty.write('ingle.example\r');
  await tty.expect('has its new owner');
  await tty.expect('482-913 507-226');
  // Not the code that was made for the new owner before: what it was for is done.
  assert.equal(hub.world.asked.splice(0), ['adopt', 'code']);
  assert.is((await hub.bus.client(setup1).Stage({})).stage, 'ownerless');

  hub.world.refused = new IngleError('unavailable', 'Check the network, then try again.');
  await choose(tty, 'Every passkey is lost');
  await tty.expect('That did not work: Check the network, then try again.');
  await tty.expect('What next?');
  hub.setup.codeSpent();
  await tty.expect('tried wrongly too often and is void. Make a new one where it was made.');
});

test('a hub that was never set up offers neither recovery nor a hand-over', async () => {
  const hub = keep(await fakeHub());
  await hub.setup.begin();
  const tty = await consoleOn(hub);
  await tty.expect('Enter');
  tty.write('\r');
  assert.not.match(await tty.expect('Quit'), /passkey|owner/);
});

test('a technician has everything checked by the root service, and one who is not answered is told', async () => {
  const hub = keep(await fakeHub());
  await hub.setup.begin();
  const runtime = mkdtempSync(join(tmpdir(), 'ingle-run-'));
  const tty = await consoleOn(hub, { INGLE_RUNTIME: runtime });
  await tty.expect('Enter');
  tty.write('\r');
  await choose(tty, 'Check everything');
  await tty.expect('Looking at everything');
  await tty.expect('This works on a hub alone');
  for (const folder of ['console', 'technician']) mkdirSync(join(runtime, folder));
  const asked = async (file: string) => {
    const path = join(runtime, 'console', file);
    await until(() => existsSync(path), `the request ${file}`);
    const request = JSON.parse(readFileSync(path, 'utf8')) as { id: string; what: string };
    rmSync(path);
    return request;
  };
  const answer = (id: string, text: string) =>
    writeFileSync(join(runtime, 'technician/reply.json'), JSON.stringify({ id, text }));
  for (const [label, file, what] of [
    ['Check everything', 'request.json', 'doctor'],
    ['Self-test of the factory line', 'request.json', 'selftest'],
    ['Journal to a USB stick', 'export.json', 'export'],
  ] as const) {
    await choose(tty, label);
    const request = await asked(file);
    assert.is(request.what, what);
    // An answer to somebody else's request is passed over.
    answer('another', 'not for this line');
    answer(request.id, `done: ${what}`);
    const said = await tty.expect(`done: ${what}`);
    assert.not.match(said, /not for this line/);
  }
});

test('a console that the maker has closed says so and takes nothing', async () => {
  const hub = keep(await fakeHub());
  await hub.setup.begin();
  const config = join(mkdtempSync(join(tmpdir(), 'ingle-cfg-')), 'config.json');
  writeFileSync(config, JSON.stringify({ channels: ['softap'] }));
  const tty = await consoleOn(hub, { INGLE_CONFIG: config });
  await tty.expect('The maker of this device has closed this console.');
  tty.write('\r1\r1\r');
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.not.match(tty.bytes.toString(), /next|Access point|Enter/);
  assert.equal(hub.world.joined, []);
});

test('a wrong password is told with the next step, and the hub stays in setup', async () => {
  const hub = keep(await fakeHub({ wifi: { ok: false, reason: 'wrong_password' } }));
  await hub.setup.begin();
  const tty = await consoleOn(hub);
  await tty.expect('Enter');
  tty.write('\r');
  await tty.expect('What next?');
  tty.write('1\r');
  await tty.expect('Which network?');
  tty.write('1\r');
  await tty.expect('Password');
  tty.write('wrongwrong\r');
  await tty.expect('the password is wrong. Check it and try again.');
  await tty.expect('What next?');
  assert.is(hub.setup.state, 'CHANNELS');
});

test('with a console secret the line shows nothing and takes nothing before it', async () => {
  const stored = await hashSecret('correct horse');
  assert.ok(await checkSecret('correct horse', stored));
  assert.not.ok(await checkSecret('', 'scrypt$$'));
  const hub = keep(await fakeHub());
  await hub.setup.begin();
  const config = join(mkdtempSync(join(tmpdir(), 'ingle-cfg-')), 'config.json');
  writeFileSync(config, JSON.stringify({ console_secret: stored }));
  const tty = await consoleOn(hub, { INGLE_CONFIG: config });
  assert.not.match(await tty.expect('Enter'), '\x1b');
  tty.write('\r');
  await tty.expect('Console secret: ');
  hub.bus.publish(topics.print, { text: 'of the house' });
  tty.write('wrong\r');
  const said = await tty.expect('That is not the console secret.');
  assert.not.match(said, /Access point|wrong\r/);
  await tty.expect('Console secret: ');
  tty.write('correct horse\r');
  assert.not.match(await tty.expect('What next?'), 'of the house');
  // Not before the secret was typed, and then what is printed from now on.
  hub.bus.publish(topics.print, { text: '\x1b[2JThe door is open', level: 'warning' });
  await tty.expect('[warning] [2JThe door is open\r\n');
});

/** An Improv Serial command, byte by byte as https://www.improv-wifi.com/serial has it. */
const command = (n: number, ...data: number[]) =>
  serialPacket(packetType.command, new Uint8Array([n, data.length, ...data]));
const string = (x: string) => [utf8(x).length, ...utf8(x)];
const improvSays = (type: number, ...data: number[]) => Buffer.from(serialPacket(type, new Uint8Array(data)));

test('with a console secret Improv is refused until it was typed, and again once the conversation has ended', async () => {
  const hub = keep(await fakeHub({ online: true }));
  await hub.setup.begin();
  const config = join(mkdtempSync(join(tmpdir(), 'ingle-cfg-')), 'config.json');
  writeFileSync(config, JSON.stringify({ console_secret: await hashSecret('correct horse') }));
  const tty = await consoleOn(hub, { INGLE_CONFIG: config });
  await tty.expect('Enter');
  /** Sends a command and settles when the bytes have come, with all that came up to them. */
  const ask = async (packet: Uint8Array, ...wanted: Buffer[]) => {
    const from = tty.bytes.length;
    tty.write(packet);
    await until(
      () => wanted.every((w) => tty.bytes.includes(w, from)),
      `${wanted.map((w) => w.toString('hex'))}`,
    );
    return tty.bytes.subarray(from).toString();
  };
  const refused = improvSays(packetType.error, 4);
  const wifi = command(1, ...string('Café'), ...string('12345678'));
  const locked = async () => {
    // A client first asks for the state: authorisation is wanted, and no address to go on at comes with it.
    assert.not.match(await ask(command(2), improvSays(packetType.state, 1)), /#v1/);
    for (const packet of [command(4), wifi]) assert.not.match(await ask(packet, refused), /#v1|Home/);
    assert.equal(hub.world.joined, []);
    assert.is(hub.setup.state, 'CHANNELS');
  };
  await locked();
  tty.write('\r');
  await tty.expect('Console secret: ');
  tty.write('wrong\r');
  await locked();
  await tty.expect('Console secret: ');
  tty.write('correct horse\r');
  await tty.expect('What next?');
  await ask(command(2), improvSays(packetType.state, 2));
  await ask(command(4), Buffer.from('Home "5G" <b>'));
  // Left: the line is locked again.
  tty.write('\x03');
  await tty.expect('Enter');
  await locked();
  tty.write('\r');
  await tty.expect('Console secret: ');
  tty.write('correct horse\r');
  await tty.expect('What next?');
  await ask(wifi, Buffer.from('https://ingle.example/#v1'));
  assert.equal(hub.world.joined, ['Café/12345678/false']);
});

test('a hub with a cable and no owner shows its pairing code by itself; a locked line shows it once it is unlocked', async () => {
  const hub = keep(await fakeHub({ radios: 0, look: 200 }));
  await hub.setup.begin();
  const secret = join(mkdtempSync(join(tmpdir(), 'ingle-cfg-')), 'config.json');
  writeFileSync(secret, JSON.stringify({ console_secret: await hashSecret('s') }));
  const [open, locked] = [await consoleOn(hub), await consoleOn(hub, { INGLE_CONFIG: secret })];
  await open.expect('Enter');
  await locked.expect('Enter');
  hub.world.online = true;
  await open.expect('waits to be paired with a phone.');
  await open.expect(hub.world.link);
  await open.expect('482-913 507-226');
  assert.not.match(locked.bytes.toString(), /paired|#v1|482/);
  locked.write('\r');
  await locked.expect('Console secret: ');
  locked.write('s\r');
  await locked.expect('Pair a phone');
  await locked.expect('> ');
  locked.write('3\r');
  await locked.expect(hub.world.link);
});

test('a line that was unlocked is locked again when no key has come for a while, though setup is open', async () => {
  const hub = keep(await fakeHub());
  await hub.setup.begin();
  const runtime = mkdtempSync(join(tmpdir(), 'ingle-run-'));
  mkdirSync(join(runtime, 'setup'));
  writeFileSync(join(runtime, 'setup/open'), '');
  const config = join(runtime, 'config.json');
  writeFileSync(config, JSON.stringify({ console_secret: await hashSecret('s') }));
  const tty = await consoleOn(hub, { INGLE_CONFIG: config, INGLE_RUNTIME: runtime, INGLE_IDLE_MS: '600' });
  await tty.expect('Enter');
  tty.write('\r');
  await tty.expect('Console secret: ');
  tty.write('s\r');
  await tty.expect('What next?');
  assert.ok((await tty.expect('Enter')).includes('\x1b[2J\x1b[3J'), 'what was shown to them is gone');
  tty.write('\r');
  await tty.expect('Console secret: ');
});

test('leaving between wrong console secrets does not shorten the wait', async () => {
  const hub = keep(await fakeHub());
  await hub.setup.begin();
  const config = join(mkdtempSync(join(tmpdir(), 'ingle-cfg-')), 'config.json');
  writeFileSync(config, JSON.stringify({ console_secret: await hashSecret('s') }));
  const tty = await consoleOn(hub, { INGLE_CONFIG: config });
  const waits: number[] = [];
  for (let i = 0; i < 2; i++) {
    await tty.expect('Enter');
    tty.write('\r');
    await tty.expect('Console secret: ');
    tty.write('wrong\r');
    const from = Date.now();
    await tty.expect('That is not the console secret.');
    waits.push(Date.now() - from);
    tty.write('\x03');
  }
  assert.ok(waits[1]! >= 2000, `${waits}`);
});

test('an Improv page provisions the hub over the same line', async () => {
  const hub = keep(await fakeHub());
  await hub.setup.begin();
  const tty = await consoleOn(hub);
  await tty.expect('Enter');
  tty.write(command(2));
  await tty.expect('IMPROV');
  // The state packet follows the "no error" packet; 2 = ready.
  await until(
    () => tty.bytes.includes(Buffer.from(serialPacket(packetType.state, new Uint8Array([2])))),
    'state: ready',
  );
  tty.write(command(3));
  await tty.expect('Ingle');
  tty.write(command(4));
  await tty.expect('Home "5G" <b>');
  tty.write(command(1, ...string('Café'), ...string('12345678')));
  await until(() => hub.world.joined.length === 1, 'the network was joined');
  assert.equal(hub.world.joined, ['Café/12345678/false']);
  await tty.expect('https://ingle.example/#v1');
  tty.write(new Uint8Array([...utf8('IMPROV'), 1, 3, 2, 99, 0, 7]));
  await until(
    () => tty.bytes.includes(Buffer.from(serialPacket(packetType.error, new Uint8Array([1])))),
    'error: invalid packet',
  );
});

/** A console that waits as a shell, and where setup would tell it that it is open. */
async function asleep(env: Record<string, string> = {}) {
  const hub = keep(await fakeHub());
  await hub.setup.begin();
  const runtime = mkdtempSync(join(tmpdir(), 'ingle-run-'));
  mkdirSync(join(runtime, 'setup'));
  const tty = await consoleOn(hub, { INGLE_RUNTIME: runtime, ...env }, { asleep: true });
  return {
    tty,
    open: join(runtime, 'setup/open'),
  };
}

test('a console nobody is at is a shell, and the first key starts the conversation', async () => {
  const { tty } = await asleep();
  assert.is(tty.program(), 'sh');
  // Whether it holds the line already or not, the key is not lost.
  tty.write('\r');
  await tty.expect('What next?');
  assert.is(tty.program(), process.execPath);
});

test('a packet of Improv that wakes the console is answered', async () => {
  const { tty } = await asleep();
  tty.write(serialPacket(packetType.command, new Uint8Array([3, 0])));
  await tty.expect('Ingle');
});

test('setup that opens wakes the console, which stays until setup is done and nobody types', async () => {
  const { tty, open } = await asleep({ INGLE_IDLE_MS: '400' });
  writeFileSync(open, '');
  await tty.expect('Enter: ');
  // Many times the idle time, as setup is open.
  await new Promise((resolve) => setTimeout(resolve, 2000));
  tty.write('\r');
  await tty.expect('What next?');
  rmSync(open);
  // The conversation is left first, as if the person had.
  await tty.expect('Enter: ');
  assert.is(await tty.ended, 0);
});

test.run();
