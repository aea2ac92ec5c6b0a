// Sinks and sources as the hub knows them.

export type DeviceType = 'builtin' | 'bluetooth' | 'usb' | 'hdmi' | 'virtual' | 'loopback';

export interface Device {
  id: string;
  name: string;
  type: DeviceType;
  muted: boolean;
  /** 1 = 100 %. */
  volume: number;
  /** Plugged in, and not suspended away from the hub by its port. */
  connected: boolean;
  /** A sink's monitor, a stereo mix or a loopback: hears what is played, not the room. */
  monitor: boolean;
  rate: number;
  channels: number;
}

/** For a sink: the source that carries what it plays. */
export interface Sink extends Device {
  monitor_id: string;
}

export interface Devices {
  sinks: Sink[];
  sources: Device[];
}

export interface DeviceChanges {
  added: string[];
  removed: string[];
  changed: string[];
}

/** What differs between two enumerations. */
export function compare(old: Devices, now: Devices): DeviceChanges {
  const index = (d: Devices) => new Map([...d.sinks, ...d.sources].map((x) => [x.id, x]));
  const before = index(old);
  const after = index(now);
  return {
    added: [...after.keys()].filter((id) => !before.has(id)),
    removed: [...before.keys()].filter((id) => !after.has(id)),
    changed: [...after.values()]
      .filter((d) => before.has(d.id) && JSON.stringify(before.get(d.id)) !== JSON.stringify(d))
      .map((d) => d.id),
  };
}
