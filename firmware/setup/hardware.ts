// What the kernel lists of this machine, as setup asks for it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Names in a folder; one that is not there has none. */
function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    // An interface that is down does not tell its carrier.
    return '';
  }
}

/** Whether there is a sound card. @param sys where sysfs is */
export function hasSoundCard(sys = '/sys'): boolean {
  return list(join(sys, 'class/sound')).some((name) => /^card\d+$/.test(name));
}

/** Whether a wired network is plugged in: a real device, with a carrier, that is no radio. */
export function hasCable(sys = '/sys'): boolean {
  const net = join(sys, 'class/net');
  return list(net).some((name) => {
    if (!existsSync(join(net, name, 'device')) || existsSync(join(net, name, 'phy80211'))) return false;
    return read(join(net, name, 'carrier')) === '1';
  });
}

/** Serial number of a device whose maker wrote none: the machine's own id. */
export function machineId(file = '/etc/machine-id'): string {
  return read(file) || '0000';
}
