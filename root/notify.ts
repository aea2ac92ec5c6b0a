// What root tells systemd (sd_notify(3)). Node has no datagram socket for AF_UNIX, so systemd-notify speaks.
import { execFile } from 'node:child_process';
import { log } from './log.ts';

/** Root serves. Without a supervisor that asked for it nobody is told. */
export function ready(): void {
  if (process.env['NOTIFY_SOCKET'])
    execFile('systemd-notify', [`--pid=${process.pid}`, '--ready'], { timeout: 10_000 }, (e) => {
      if (e) log('warn', 'systemd was not told that root is ready', { why: e.message });
    });
}
