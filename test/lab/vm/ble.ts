// A phone's BLE end in the lab: noble on the second of two linked controllers.
import { join } from 'node:path';
import { build } from 'esbuild';
import { top } from '../../../image/build.ts';
import { nativePath } from '../../../image/native.ts';
import { journal } from './hub.ts';
import type { Vm } from './lab.ts';

/** The program as one file. */
export async function bundleCentral(out: string): Promise<string> {
  const file = join(out, 'central.cjs');
  await build({
    entryPoints: [join(top, 'test/lab/vm/guest/central.ts')],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    // Never reached on Linux.
    external: ['ws', 'usb'],
    // The product's image carries it, for bleno.
    plugins: [
      {
        name: 'native',
        setup: (b) =>
          b.onResolve({ filter: /bluetooth_hci_socket\.node$/ }, () => ({
            path: `/${nativePath}/bluetooth_hci_socket.node`,
            external: true,
          })),
      },
    ],
  });
  return file;
}

export interface Heard {
  event: string;
  [key: string]: unknown;
}

/** Plugs in an adapter, linked by air with a phone's. */
export const plugAdapter = (vm: Vm) =>
  vm.must('modprobe hci_vhci; systemd-run -q --unit=lab-btvirt /run/lab/bin/btvirt -L -l2');

/** Runs the phone's BLE end on the second controller; what it heard, by event. Meanwhile it is in /run/central.out. */
export async function bleCentral(
  vm: Vm,
  mode: 'setup' | 'improv',
  given: unknown,
): Promise<Map<string, Heard>> {
  await vm.must('hciconfig hci1 down; rm -f /run/central.out');
  await vm.put('/run/central.json', JSON.stringify(given));
  // The kernel has no part in it: it would connect beside noble, and each wait 40 s for the other (L2CAP_CONN_TIMEOUT).
  const r = await vm.run(
    `set -o pipefail; NOBLE_HCI_DEVICE_ID=1 HCI_CHANNEL_USER=1 node /run/lab/central.cjs ${mode} "$(cat /run/central.json)" | tee /run/central.out`,
    { timeoutMs: 300_000 },
  );
  const heard = r.stdout
    .split('\n')
    .filter((l) => l.startsWith('{'))
    .map((l) => JSON.parse(l) as Heard);
  if (r.code !== 0) console.log(r.stdout, r.stderr, await journal(vm));
  return new Map(heard.map((h) => [h.event, h]));
}
