// What the suites of updates share: a flashed hub beside a maker's server with bundles, and looks at its slots.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Flash, flash } from '../../../image/flash.ts';
import { bundlesFor, withoutFirmware } from './bundles.ts';
import { boot, type Vm } from './lab.ts';
import { type Shelf, shelf } from './shelf.ts';
import { figure, type Lab } from './suite.ts';

export interface World extends Lab {
  /** What is flashed. */
  a: Flash;
  server: Shelf;
}

/** An emulated machine takes its time to install half a gigabyte, or to fail three boots. */
export const slow = 900_000;

/**
 * Begins and ends a suite: a hub flashed with `a`, which keeps a file, and all bundles on a server.
 * @param o.cuts a power cut takes what was not flushed
 */
export function flashed(
  test: Test<World>,
  why: string | undefined,
  cmdline: string,
  o: { cuts?: boolean } = {},
): void {
  test.before(async (c) => {
    if (why) return;
    c.a = await flash({ change: withoutFirmware });
    const dir = await bundlesFor(c.a);
    figure('bundle_bytes', statSync(join(dir, 'b.raucb')).size);
    c.server = await shelf(dir);
    c.vm = await boot({ ...o, flash: c.a, cable: true, cmdline });
    await c.vm.put('/var/lab/kept', 'kept');
  });
  test.after(async (c) => {
    await c.vm?.stop();
    c.server?.close();
  });
}

export const backend = (vm: Vm, ...args: string[]) =>
  vm.must(`/usr/lib/ingle/rauc-backend ${args.join(' ')}`);
/** Brings bundles to the machine's own disk, once its network is there. */
export const carry = (c: World, names: readonly string[]) =>
  c.vm.until(
    `cd /var/lab && curl -sSf --remote-name-all ${names.map((n) => `${c.server.http}/${n}.raucb`).join(' ')}`,
    { timeoutMs: slow },
  );

/** This slot runs, starts next, and the data is there. */
export async function isOn(vm: Vm, slot: 'a' | 'b'): Promise<void> {
  const said = await vm.must(
    'systemctl start ingle-booted && cat /run/ingle/slot /var/lab/kept && echo && /usr/lib/ingle/rauc-backend get-primary',
  );
  assert.is(said, `${slot}\nkept\n${slot}`);
}
