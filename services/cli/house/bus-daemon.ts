// The private D-Bus daemon of a house on one's own computer, and the house's own connection to it; on a hub the system
// bus does this.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Bus, connect } from '../../../firmware/system/bus.ts';

const servicesOf = (dir: string) => join(dir, 'services');

/** Begins the log anew once it is long, and becomes the program. Its first argument is the log. */
const logged =
  'umask 077; [ -z "$(find "$0" -size +8192k 2>/dev/null)" ] || mv "$0" "$0.1"; exec "$@" >>"$0" 2>&1';

/**
 * Has the daemon start a program when a name is called; to be said before the daemon starts.
 * @param log file for what it says; `.1` holds what was there before it grew over 8 MiB
 */
export function activate(dir: string, name: string, log: string, command: readonly string[]): void {
  mkdirSync(servicesOf(dir), { recursive: true, mode: 0o700 });
  mkdirSync(dirname(log), { recursive: true, mode: 0o700 });
  const quoted = ['/bin/sh', '-c', logged, log, ...command]
    .map((part) => `'${part.replaceAll("'", `'\\''`)}'`)
    .join(' ');
  // The value of a key has escapes of its own (Desktop Entry Specification, 4).
  const value = quoted.replaceAll('\\', '\\\\');
  writeFileSync(join(servicesOf(dir), `${name}.service`), `[D-BUS Service]\nName=${name}\nExec=${value}\n`);
}

/** Writes a configuration under which only this user may connect, and says how to start the daemon. */
export function busDaemon(dir: string): { args: string[]; address: string } {
  const config = join(dir, 'bus.conf');
  const address = `unix:path=${dir}/bus`;
  writeFileSync(
    config,
    `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>${address}</listen><auth>EXTERNAL</auth>
<servicedir>${servicesOf(dir)}</servicedir>
<policy context="default">
<deny user="*"/><allow user="${process.getuid?.() ?? 0}"/>
<allow send_destination="*"/><allow receive_sender="*"/><allow own_prefix="io.ingle"/>
</policy>
</busconfig>`,
    { mode: 0o600 },
  );
  return { args: ['--config-file', config, '--nofork', '--nopidfile', '--nosyslog'], address };
}

/**
 * The house's connection, made when it is asked for, and anew when the daemon's successor is there.
 * @param serve puts on it what the house serves; the successor is to know that, too
 */
export function openConnection(address: string, serve: (b: Bus) => Promise<void>) {
  let bus: Promise<Bus> | undefined;
  let over = false;

  function connection(): Promise<Bus> {
    bus ??= connect(address).then(async (b) => {
      b.closed.then(() => {
        bus = undefined;
        comeBack();
      });
      await serve(b);
      return b;
    });
    bus.catch(() => (bus = undefined));
    return bus;
  }
  function comeBack(): void {
    if (!over) setTimeout(() => over || connection().catch(comeBack), 500).unref();
  }
  return {
    connection,
    /** @param before what is done with it once more, where there is one */
    async close(before: (b: Bus) => Promise<void>): Promise<void> {
      over = true;
      await bus?.then(before).catch(() => {});
      await bus?.then((b) => b.close()).catch(() => {});
    },
  };
}
