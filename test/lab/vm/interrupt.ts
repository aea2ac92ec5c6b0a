// How far a hub starts in tests of updates, and power cuts in the middle of an installation.
import type { Vm } from './lab.ts';

/** No part of an update, but part of every boot: each of many boots is emulated. */
const resting = [
  ...['systemd-resolved', 'systemd-timesyncd', 'systemd-journal-catalog-update'].map(
    (unit) => `${unit}.service`,
  ),
  ...['configfs', 'drm', 'efi_pstore', 'fuse'].map((module) => `modprobe@${module}.service`),
  ...['sys-kernel-debug.mount', 'sys-kernel-tracing.mount', 'dev-mqueue.mount', 'dev-hugepages.mount'],
];
const wants = (...units: string[]) => units.map((unit) => `systemd.wants=${unit}`).join(' ');

/** Nothing but what RAUC needs, and the mark that the boot came to its end. */
export const bare = [
  'systemd.unit=basic.target',
  wants('ingle-booted.service'),
  ...resting.map((unit) => `systemd.mask=${unit}`),
  // Debian's kernel has more security modules than these; the hub gives none of them anything to do.
  'lsm=landlock,bpf',
].join(' ');
/** The same with a network. */
export const wired = `${bare} ${wants('systemd-networkd.service')}`;
/** What a new version must show before it is kept. */
export const proof = wants('ingle-api.service', 'ingle-uplink.service', 'ingle-health.service');
/** A new version, and what restarts for the next one. Emulated, its services may need more than four minutes. */
export const whole = `${wired} ${proof} ${wants('ingle-update.service', 'ingle-restart.path')} systemd.setenv=INGLE_HEALTH_S=330`;

/** Megabytes of the root, or of kernel and initial RAM disk on the ESP, that are on the medium when the power goes. */
export interface Moment {
  of: 'root' | 'esp';
  mb: number;
}

/**
 * Starts an installation, lets it stand still at a moment, and cuts the power there.
 * @param bundle path in the machine
 */
export async function cutInstall(vm: Vm, bundle: string, at: Moment): Promise<void> {
  // The root that runs is not written meanwhile.
  const parts = at.of === 'esp' ? 'vda1' : 'vda2 vda3';
  const count = `sum=0; for p in ${parts}; do read -r _ _ _ _ _ _ n _ </sys/block/vda/$p/stat; sum=$((sum + n)); done`;
  await vm.must(
    `count() { ${count}; }; count; before=$sum; exec 3< <(exec rauc install ${bundle} 2>&1); ` +
      'runs="[ -e /proc/$!/exe ]"; ' +
      `while $runs && count && [ $((sum - before)) -lt ${at.mb * 2048} ]; do read -r -t 0.05 -u 3 _; done; ` +
      'pkill -STOP -x rauc; pkill -STOP -f [r]auc-backend; $runs',
    { timeoutMs: 900_000 },
  );
  await vm.kill();
}
