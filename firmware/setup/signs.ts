// Files at whose sight other parts of the system start, stop or erase (ARCHITECTURE.md, D21).
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Signs {
  /** ingle-wizard runs while the file is there, and reads from it where to listen. @param cidr such as `10.0.0.1/24` */
  accessPoint(cidr: string): void;
  noAccessPoint(): void;
  /** Consoles sleep while the file is not there (image/overlay/usr/lib/ingle/console). */
  open(open: boolean): void;
  /** A factory reset is done by root at the sight of the file, also after a power cut. */
  erase(): void;
}

/**
 * The signs of ingle-setup. An access point of an earlier run is taken back: it went with its process.
 * @param o.runtime folder of this boot, which others read
 * @param o.data folder that stays, which root reads
 */
export function signs(o: { runtime: string; data: string }): Signs {
  mkdirSync(o.runtime, { recursive: true, mode: 0o755 });
  const accessPoint = join(o.runtime, 'access-point.json');
  const open = join(o.runtime, 'open');
  const noAccessPoint = () => rmSync(accessPoint, { force: true });
  noAccessPoint();
  return {
    accessPoint(cidr) {
      // Another user reads it, at its sight: never half of it, and readable whatever the umask.
      const next = `${accessPoint}.new`;
      writeFileSync(next, JSON.stringify({ address: cidr.replace(/\/\d+$/, '') }));
      chmodSync(next, 0o644);
      renameSync(next, accessPoint);
    },
    noAccessPoint,
    open(is) {
      if (is) writeFileSync(open, '');
      else rmSync(open, { force: true });
    },
    erase: () => writeFileSync(join(o.data, 'factory-reset'), ''),
  };
}
