// How far a hub starts in tests of updates, and power cuts in the middle of an installation.
import type { Vm } from './lab.ts';

/** No part of an update, but part of every boot: each of many boots is emulated. */
const resting = [
  ...['ingle-firewall', 'systemd-resolved', 'systemd-timesyncd', 'systemd-journal-catalog-update'].map(
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
].join(' ');
/** The same with a network. */
export const wired = `${bare} ${wants('systemd-networkd.service')}`;
/** What a new version must show before it is kept. */
export const proof = wants('ingle-api.service', 'ingle-uplink.service', 'ingle-health.service');
/** A new version, and what restarts for the next one. */
export const whole = `${wired} ${proof} ${wants('ingle-update.service', 'ingle-restart.path')}`;

/** A percentage of RAUC's progress, or the moment the kernel is written to the ESP. */
export type Moment = number | 'esp';

/**
 * Starts an installation, lets it stand still at a moment, and cuts the power there.
 * @param bundle path in the machine
 */
export async function cutInstall(vm: Vm, bundle: string, at: Moment): Promise<void> {
  const written = 'read -r _ _ _ _ _ _ sectors _ </sys/block/vda/vda1/stat';
  const there =
    at === 'esp'
      ? `${written}; before=$sectors; while $runs && [ $sectors -lt $((before + 4096)) ]; do ${written}; done`
      : `while read -r -u 3 percent _ && ! [ "\${percent%\\%}" -ge ${at} ] 2>/dev/null; do :; done`;
  // `rauc install` prints a line a step: " 65% Copying ...".
  await vm.must(
    `exec 3< <(exec rauc install ${bundle} 2>&1); runs="[ -e /proc/$!/exe ]"; ${there}; pkill -STOP -x rauc; pkill -STOP -f [r]auc-backend; $runs`,
    { timeoutMs: 400_000 },
  );
  await vm.kill();
}
