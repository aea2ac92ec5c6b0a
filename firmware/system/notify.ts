// systemd's readiness and watchdog (sd_notify(3)). Node has no datagram socket for AF_UNIX, so systemd-notify speaks.
import { execFile } from 'node:child_process';

function notify(...state: string[]): void {
  if (!process.env['NOTIFY_SOCKET']) return;
  execFile('systemd-notify', [`--pid=${process.pid}`, ...state], () => {});
}

/** Tells systemd the service is up, and keeps its watchdog fed while `healthy()` holds. */
export function ready(healthy: () => boolean = () => true): void {
  notify('--ready');
  const usec = Number(process.env['WATCHDOG_USEC'] ?? 0);
  if (usec > 0) setInterval(() => healthy() && notify('WATCHDOG=1'), usec / 3000).unref();
}

/** A line for `systemctl status`. */
export function status(text: string): void {
  notify(`--status=${text}`);
}

export function stopping(): void {
  notify('--stopping');
}
