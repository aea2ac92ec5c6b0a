// What a skill may take of the machine: what its manifest asks for, under the caps of the hub. Pure.

/** The caps: what the unit of every slot has (systemd/units/ingle-skill@.service). */
export const CAPS = { memory_mib: 128, cpu_percent: 50 } as const;
/** Node does not start with less. */
export const LEAST = { memory_mib: 64, cpu_percent: 5 } as const;

export type Limits = { readonly [K in keyof typeof CAPS]?: number | undefined };

/** As systemd has it: bytes, and microseconds of a processor a second. */
export interface Bounds {
  memory: number;
  cpu: number;
}

export const boundsOf = ({ memory_mib, cpu_percent }: Limits = {}): Bounds => ({
  memory: Math.min(memory_mib ?? CAPS.memory_mib, CAPS.memory_mib) * 2 ** 20,
  cpu: Math.min(cpu_percent ?? CAPS.cpu_percent, CAPS.cpu_percent) * 10_000,
});
