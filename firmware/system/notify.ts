// systemd's readiness and watchdog (sd_notify(3)). Node has no datagram socket for AF_UNIX, so systemd-notify speaks.
import { execFile } from 'node:child_process';

/** Settles when systemd has it, or does not take it in five seconds (systemd-notify's own limit). */
function notify(...state: string[]): Promise<void> {
  if (!process.env['NOTIFY_SOCKET']) return Promise.resolve();
  const args = [`--pid=${process.pid}`, ...state];
  return new Promise((resolve) => execFile('systemd-notify', args, () => resolve()));
}

/** Tells systemd the service is up, and keeps its watchdog fed while `healthy()` holds. */
export function ready(healthy: () => boolean = () => true): void {
  void notify('--ready');
  const usec = Number(process.env['WATCHDOG_USEC'] ?? 0);
  // Six pings per watchdog period: each starts a process, and a busy device may start it late.
  if (usec > 0) setInterval(() => healthy() && void notify('WATCHDOG=1'), usec / 6000).unref();
}

/** A line for `systemctl status`. */
export function status(text: string): void {
  void notify(`--status=${text}`);
}

/** Settles when systemd was told: nobody can speak for a process that is gone. */
export function stopping(): Promise<void> {
  // The option --stopping is newer than Debian 12 (systemd 254).
  return notify('STOPPING=1');
}
