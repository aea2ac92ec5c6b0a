// Ways into setup a device maker has left open (device file, `channels`). Pure.
import type { Channel } from '../device/device.ts';
import type { Ports } from './ports.ts';

/** The ports without the channels that are not `open`: a closed access point is a hub without a radio for one. */
export function enabled(ports: Ports, open: readonly Channel[]): Ports {
  const closed = !open.includes('softap');
  return {
    ...ports,
    ...(closed ? { wifi: { ...ports.wifi, radios: async () => 0 } } : {}),
    channels: ports.channels.filter((c) => open.includes(c.name)),
  };
}
