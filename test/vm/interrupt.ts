// Power cuts in the middle of an installation.
import type { Vm } from './lab.ts';

/** Nothing but what RAUC needs: for boots that are cut. */
export const bare = 'systemd.unit=basic.target';

/** A percentage of RAUC's progress, or the moment the kernel is written to the ESP. */
export type Moment = number | 'esp';

const progress =
  'busctl get-property de.pengutronix.rauc / de.pengutronix.rauc.Installer Progress 2>/dev/null | cut -d" " -f2';

/** Starts an installation, lets it stand still at a moment, cuts the power there and boots again. */
export async function cutInstall(vm: Vm, bundle: string, at: Moment): Promise<void> {
  const there =
    at === 'esp'
      ? 'while read -r _ _ _ _ _ _ now _ </sys/block/vda/vda1/stat && [ $now -lt $((before + 4096)) ]; do :; done'
      : `until [ "$(${progress})" -ge ${at} ] 2>/dev/null; do sleep 0.05; done`;
  await vm.must(
    'read -r _ _ _ _ _ _ before _ </sys/block/vda/vda1/stat; ' +
      `systemd-run -q --collect --unit=lab-install rauc install ${bundle}; ` +
      `${there}; pkill -STOP -x rauc; pkill -STOP -f rauc-backend; systemctl is-active lab-install`,
    { timeoutMs: 200_000 },
  );
  await vm.kill();
  await vm.start(bare);
}
