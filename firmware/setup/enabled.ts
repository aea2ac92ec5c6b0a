// Ways into setup a device maker has left open (device file, `channels`). Pure.
import type { Channel } from '../device/device.ts';
import type { Ports } from './ports.ts';

/** The ports without the channels that are not `open`. */
export const enabled = (ports: Ports, open: readonly Channel[]): Ports => ({
  ...ports,
  channels: ports.channels.filter((c) => open.includes(c.name)),
});
