// Power cuts in the middle of an installation.
import type { Vm } from './lab.ts';

const network = ['systemd-networkd', 'systemd-resolved', 'systemd-timesyncd', 'ingle-firewall'];
/** Nothing but what RAUC needs, and the mark that the boot came to its end: for boots that are cut. */
export const bare = [
  'systemd.unit=basic.target',
  'systemd.wants=ingle-booted.service',
  ...network.map((unit) => `systemd.mask=${unit}.service`),
].join(' ');

/** A percentage of RAUC's progress, or the moment the kernel is written to the ESP. */
export type Moment = number | 'esp';

const progress =
  'busctl get-property de.pengutronix.rauc / de.pengutronix.rauc.Installer Progress 2>/dev/null | cut -d" " -f2';

/**
 * Starts an installation, lets it stand still at a moment, and cuts the power there.
 * @param bundle path in the machine
 */
export async function cutInstall(vm: Vm, bundle: string, at: Moment): Promise<void> {
  const there =
    at === 'esp'
      ? 'while read -r _ _ _ _ _ _ now _ </sys/block/vda/vda1/stat && [ $now -lt $((before + 4096)) ]; do :; done'
      : `until [ "$(${progress})" -ge ${at} ] 2>/dev/null; do sleep 0.05; done`;
  await vm.must(
    'read -r _ _ _ _ _ _ before _ </sys/block/vda/vda1/stat; ' +
      `systemd-run -q --collect --unit=lab-install rauc install ${bundle}; ` +
      `${there}; pkill -STOP -x rauc; pkill -STOP -f [r]auc-backend; systemctl is-active lab-install`,
    { timeoutMs: 200_000 },
  );
  await vm.kill();
}
