// ingle-serial@<tty>: the setup conversation and the technician's console on one line, with Improv Serial beside.
// A shell (image/overlay/usr/lib/ingle/console) starts it when somebody is at the line; it goes when nobody is.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SerialPort } from 'serialport';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { may, type Proof } from '../../firmware/setup/access.ts';
import { attendance } from '../../firmware/setup/attendance.ts';
import { checkSecret } from '../../firmware/setup/console-secret.ts';
import { setup1 } from '../../firmware/setup/contract.ts';
import { Left, sayPairing, setupDialog } from '../../firmware/setup/dialog.ts';
import { packetType, serialPacket, serialResult, serialSplitter } from '../../firmware/setup/improv.ts';
import { improvDevice } from '../../firmware/setup/improv-device.ts';
import { progressOf, stepText } from '../../firmware/setup/progress.ts';
import { askTechnician } from '../../firmware/setup/technician.ts';
import { terminal } from '../../firmware/setup/terminal.ts';
import { readConfig, version } from '../../firmware/system/config.ts';
import { run } from '../../firmware/system/exec.ts';
import { idleTime, startService } from '../../firmware/system/service.ts';
import { dialogTexts } from '../../firmware/text/dialog.ts';
import { pickLanguage, translator } from '../../firmware/text/i18n.ts';

const life = await startService('serial');
const { bus, log } = life;
const config = readConfig();
const path = process.argv[2] ?? '/dev/ttyS0';
/** What was typed before this program was there. */
const typed = Buffer.from((process.argv[3] ?? '').replace(/\s/g, ''), 'hex');
/** Without a key for so long a conversation ends, and the console goes, milliseconds. */
const IDLE_MS = idleTime(5 * 60_000);
/** There while setup has something to show or to ask: the console stays. */
const openFile = join(config.runtime, 'setup', 'open');
// The kernel's own font on a screen has Latin letters alone.
const way = /\/tty\d+$/.test(path) ? 'screen' : 'serial';
const language = pickLanguage(way === 'screen' ? [] : [config.language]);
const baudRate = Number(process.env['INGLE_BAUD'] ?? 115200);

const setup = bus.client(setup1);
const onProgress = progressOf(bus);
const port = new SerialPort({ path, baudRate, lock: false, hupcl: false });
port.on('error', (e) => life.stop(new IngleError('unavailable', `The line ${path} fails: ${e.message}`)));
port.on('close', () => life.stop());

const person = attendance(IDLE_MS);
const term = terminal((bytes) => port.write(bytes), language);
const send = (packet: Uint8Array) => port.write(packet);
const improv = improvDevice({
  setup,
  channel: 'serial',
  device: { name: config.name, model: config.model, version },
  state: (s) => send(serialPacket(packetType.state, new Uint8Array([s]))),
  error: (e) => send(serialPacket(packetType.error, new Uint8Array([e]))),
  result: (command, strings) => send(serialResult(command, strings)),
  onProgress,
  proven,
});
function proven(): Proof[] {
  return person.inside || !config.console_secret ? ['console'] : [];
}
const split = serialSplitter();
function take(piece: Buffer): void {
  person.key();
  for (const input of split(piece)) {
    if (input.kind === 'text') term.feed(input.bytes);
    else if (input.kind === 'error') send(serialPacket(packetType.error, new Uint8Array([input.error])));
    else
      void improv.run(input.command).catch((e) => log.warn('Improv was not served', { error: e as Error }));
  }
}

setInterval(
  () => {
    const next = person.look(existsSync(openFile));
    // As if the person had said so; what is under way is waited for.
    if (next === 'break_off') term.feed(Uint8Array.of(3));
    else if (next === 'leave') life.stop();
  },
  Math.min(5000, IDLE_MS / 4),
);
const t = translator(dialogTexts, language);

/** Shows what setup tells everybody, as far as this line may know it. */
async function follow(): Promise<void> {
  await bus.onSignal(setup1, 'SecretsChanged', () => void showSecrets());
  onProgress((step, state, text, detail) => {
    // A locked line shows neither codes nor that somebody is guessing.
    if (!may(way, 'owned', 'pair', proven())) return;
    const told = text === 'pin_wait' || (step === 'pairing' && state === 'ok');
    if (!told) return;
    const line = stepText(text, detail, language);
    void term
      .say(line)
      .then(() => (step === 'pairing' ? sayPairing(term, { setup, language }) : undefined))
      .catch((e) => log.info('the code is not shown', { error: e as Error }));
  });
}

/** A person without a screen reads the access point's password here, unless the console has a secret of its own. */
async function showSecrets(): Promise<void> {
  if (config.console_secret) return;
  await term.say(t('secrets', { ...(await setup.Secrets({})) })).catch(() => {});
}

/** Wrong console secrets since the last right one; who leaves in between has to wait all the same. */
let wrong = 0;

/** The line is a login for nobody who has not the console secret, where the maker sets one. */
async function login(): Promise<void> {
  while (config.console_secret && !person.inside) {
    const given = await term.ask(t('login'), true);
    if (await checkSecret(given, config.console_secret)) {
      person.enter();
      break;
    }
    log.warn('a wrong console secret', { path });
    await new Promise((resolve) => setTimeout(resolve, Math.min(30_000, 1000 * 2 ** wrong++)));
    await term.say(t('login_wrong'));
  }
  wrong = 0;
}

const technician = {
  logs: async (lines: number) =>
    (await run('journalctl', ['-n', String(lines), '-o', 'short', '--no-pager'])).stdout.toString(),
  network: async () =>
    (await Promise.all([run('ip', ['-brief', 'address']), run('ip', ['route'])]))
      .map((r) => r.stdout.toString())
      .join(''),
  ask: (what: 'doctor' | 'selftest' | 'export') =>
    askTechnician(config.runtime, what, language, 10 * 60_000).catch(() => t('no_technician')),
};

/** One person after another, for as long as the console is there. */
async function converse(): Promise<void> {
  for (;;) {
    try {
      person.over();
      await term.ask('\r\nEnter');
      person.begin();
      await login();
      if (!config.console_secret) await showSecrets();
      await setupDialog(term, {
        channel: 'serial',
        may: (stage, action) => may(way, stage, action, proven()),
        setup,
        language,
        onProgress,
        technician,
      });
    } catch (e) {
      if (!(e instanceof Left)) {
        log.error('the conversation broke off', { error: e as Error });
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
    }
  }
}

if (config.channels.includes('serial')) {
  await follow();
  life.ready();
  // The line is read once there is somebody to answer.
  setImmediate(() => {
    if (typed.length > 0) take(typed);
    port.on('data', take);
  });
  await converse();
} else {
  // The maker may leave the line to the kernel's messages.
  await term.say(t('closed'));
  port.resume();
  life.ready();
}
