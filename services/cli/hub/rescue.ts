// `ingle rescue`: the way into a hub that was started by its rescue entry (rescue.service, one on each terminal).
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rescueDialog } from '../../../firmware/setup/rescue.ts';
import { Left } from '../../../firmware/setup/talk.ts';
import { terminal } from '../../../firmware/setup/terminal.ts';
import { imageVersion } from '../../../firmware/system/config.ts';
import { must, run, start } from '../../../firmware/system/exec.ts';
import { pickLanguage } from '../../../firmware/text/i18n.ts';
import type { Here } from '../place.ts';
import type { Say } from '../say.ts';
import { doctor } from './doctor.ts';
import { exportJournal } from './export.ts';

const backend = '/usr/lib/ingle/rauc-backend';
const data = '/dev/disk/by-partlabel/ingle-data';

/** Talks on this process's terminal until that is gone or the machine restarts. */
export async function rescue(p: Here, say: Say): Promise<void> {
  const { stdin, stdout } = process;
  // The kernel's own font on a screen has Latin letters alone.
  const screen = /^tty\d/.test(process.env['INGLE_TTY'] ?? '');
  const language = pickLanguage(screen ? [] : [p.config.language]);
  // The terminal itself makes a new line of two.
  const term = terminal((bytes) => stdout.write(bytes.filter((b) => b !== 0x0d)), language);
  const raw = (on: boolean) => stdin.isTTY && stdin.setRawMode(on);
  stdin.on('data', (bytes: Buffer) => term.feed(bytes));
  stdin.on('end', () => term.hangup());
  raw(true);
  /** What a command of ours says to a person. */
  const said = async (work: (aloud: Say) => Promise<unknown>) => {
    let text = '';
    await work({
      ...say,
      event: () => {},
      line(line) {
        text += `${line}\n`;
      },
    });
    return text;
  };
  const talk = () =>
    rescueDialog(term, {
      model: p.config.model,
      version: imageVersion(),
      language,
      secret: p.config.console_secret,
      wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      async restart() {
        await must('systemctl', ['reboot']);
        // Nothing more is asked while it goes down.
        await new Promise(() => {});
      },
      check: () => said((aloud) => doctor(p, aloud, language)),
      logs: async () =>
        (await run('journalctl', ['-b', '-1', '-n', '200', '-o', 'short', '--no-pager'])).stdout.toString(),
      exportJournal: () => said((aloud) => exportJournal(p, 'usb', aloud, language)),
      async chooseOther() {
        const other = (await must(backend, ['get-current'])).toString().trim() === 'a' ? 'b' : 'a';
        if ((await must(backend, ['get-state', other])).toString().trim() !== 'good') return false;
        await must(backend, ['set-primary', other]);
        return true;
      },
      async reset() {
        // What cannot be mounted is made anew at the next boot.
        if ((await run('findmnt', ['/var'])).code !== 0)
          return void (await must('wipefs', ['--all', '--force', data]));
        // As ingle-reset does, which goes on where the power cuts this.
        const marker = join(p.data, 'setup', 'factory-reset');
        mkdirSync(dirname(marker), { recursive: true });
        writeFileSync(marker, '', { flush: true });
        await must('find', [p.data, '-mindepth', '2', '-not', '-path', marker, '-delete']);
        rmSync(marker);
        await must('sync', ['-f', p.data]);
      },
      async shell() {
        raw(false);
        stdin.pause();
        const child = start('/bin/bash', ['-l'], { stdio: 'inherit' });
        await once(child, 'close');
        stdin.resume();
        raw(true);
      },
    });
  try {
    // Ctrl-C leaves a question, and a person who typed it still has no other way in.
    for (;;)
      await talk().catch((e) => {
        if (!(e instanceof Left) || stdin.readableEnded) throw e;
      });
  } catch (e) {
    if (!(e instanceof Left)) throw e;
  } finally {
    raw(false);
  }
}
