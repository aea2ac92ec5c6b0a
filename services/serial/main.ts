// ingle-serial@<tty>: the setup conversation and the technician's console on one line, with Improv Serial beside.
// A shell (image/overlay/usr/lib/ingle/console) starts it when somebody is at the line; it goes when nobody is.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SerialPort } from 'serialport';
import { topics } from '../../firmware/io/topics.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { attendance } from '../../firmware/setup/attendance.ts';
import { openConsole } from '../../firmware/setup/console.ts';
import { setup1 } from '../../firmware/setup/contract.ts';
import { packetType, serialPacket, serialResult, serialSplitter } from '../../firmware/setup/improv.ts';
import { improvDevice } from '../../firmware/setup/improv-device.ts';
import { progressOf } from '../../firmware/setup/progress.ts';
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
const t = translator(dialogTexts, language);
const baudRate = Number(process.env['INGLE_BAUD'] ?? 115200);

const setup = bus.client(setup1);
const onProgress = progressOf(bus);
/** Before the line is read, so that nothing is missed; who prints it decides later. */
const printers = new Set<(payload: unknown) => void>();
await bus.subscribe(topics.print, (_, payload) => {
  for (const print of printers) print(payload);
});
const port = new SerialPort({ path, baudRate, lock: false, hupcl: false });
port.on('error', (e) => life.stop(new IngleError('unavailable', `The line ${path} fails: ${e.message}`)));
port.on('close', () => life.stop());

const person = attendance(IDLE_MS);
const term = terminal((bytes) => port.write(bytes), language);
const line = openConsole({
  ...{ way, term, person, setup, onProgress, language, log },
  onPrint: (f) => void printers.add(f),
  secret: config.console_secret,
  technician: {
    logs: async (lines) =>
      (await run('journalctl', ['-n', String(lines), '-o', 'short', '--no-pager'])).stdout.toString(),
    network: async () =>
      (await Promise.all([run('ip', ['-brief', 'address']), run('ip', ['route'])]))
        .map((r) => r.stdout.toString())
        .join(''),
    ask: (what) => askTechnician(config.runtime, what, language, 10 * 60_000).catch(() => t('no_technician')),
  },
});
const send = (packet: Uint8Array) => port.write(packet);
const improv = improvDevice({
  setup,
  channel: 'serial',
  device: { name: config.name, model: config.model, version },
  state: (s) => send(serialPacket(packetType.state, new Uint8Array([s]))),
  error: (e) => send(serialPacket(packetType.error, new Uint8Array([e]))),
  result: (command, strings) => send(serialResult(command, strings)),
  onProgress,
  proven: line.proven,
});
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

// Who typed the console secret is forgotten with this process, and so is what they were shown.
life.onStop(() => {
  if (config.console_secret && line.proven().length > 0) term.clear();
});
setInterval(
  () => {
    const next = person.look(existsSync(openFile));
    // As if the person had said so; what is under way is waited for.
    if (next === 'break_off') term.feed(Uint8Array.of(3));
    else if (next === 'leave') life.stop();
  },
  Math.min(5000, IDLE_MS / 4),
);

if (config.channels.includes('serial')) {
  await bus.onSignal(setup1, 'SecretsChanged', () => void line.showSecrets());
  const talking = line.converse();
  life.ready();
  // The line is read once there is somebody to answer.
  setImmediate(() => {
    if (typed.length > 0) take(typed);
    port.on('data', take);
  });
  await talking;
} else {
  // The maker may leave the line to the kernel's messages.
  await term.say(t('closed'));
  port.resume();
  life.ready();
}
