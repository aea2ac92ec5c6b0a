// The kernel modules a hub may need, by purpose, out of the thousands Debian ships. Pure but for the lists.
import { IngleError } from '../firmware/protocol/errors.ts';
import { chosen, rulesOf } from './rules.ts';

/** Paths below `kernel/` without `.ko` and what follows. */
const kept = rulesOf(`
  # The machine itself: clocks, buses, power, heat, keys, random numbers.
  arch/ !arch/x86/crypto/sha1-* !arch/x86/crypto/sha512-* !arch/x86/kvm/ !arch/arm64/kvm/ !arch/x86/events/ block/ crypto/ lib/
  drivers/acpi/ drivers/base/ drivers/bus/ drivers/char/hw_random/ drivers/char/tpm/ drivers/clk/ drivers/cpufreq/
  drivers/devfreq/ drivers/dma/ !drivers/dma/idxd/ !drivers/dma/ioat/ drivers/extcon/ drivers/firmware/ drivers/gpio/ drivers/hwspinlock/ drivers/i2c/
  drivers/iommu/ drivers/leds/ drivers/mailbox/ drivers/mfd/ drivers/mux/ drivers/nvmem/ drivers/pci/ drivers/phy/
  drivers/pinctrl/ drivers/pmdomain/ drivers/power/ drivers/powercap/ drivers/pwm/ drivers/regulator/ drivers/reset/
  drivers/rtc/ drivers/soc/ drivers/spi/ drivers/spmi/ drivers/thermal/ drivers/tty/serial/ drivers/virtio/
  drivers/watchdog/ drivers/hwmon/coretemp drivers/hwmon/k10temp drivers/hwmon/raspberrypi-hwmon
  drivers/hwmon/pwm-fan drivers/hwmon/gpio-fan drivers/hwmon/scmi-hwmon
  # Storage.
  drivers/ata/ drivers/mmc/ drivers/nvme/host/nvme drivers/nvme/host/nvme-core drivers/nvme/common/ drivers/ufs/ drivers/misc/cardreader/
  drivers/misc/eeprom/ drivers/usb/storage/ drivers/scsi/sd_mod drivers/scsi/scsi_mod drivers/scsi/scsi_common
  drivers/scsi/sg drivers/scsi/virtio_scsi drivers/block/loop drivers/block/nbd drivers/block/virtio_blk
  drivers/block/zram/ drivers/md/dm-mod drivers/md/dm-verity drivers/md/dm-bufio drivers/md/dm-crypt
  fs/ext4/ fs/jbd2/ fs/fat/ fs/exfat/ fs/ntfs3/ fs/erofs/ fs/squashfs/ fs/overlayfs/ fs/fuse/ fs/autofs/
  fs/efivarfs/ fs/configfs/ fs/pstore/ fs/quota/ !fs/quota/quota_v1 fs/mbcache fs/binfmt_misc fs/nls/nls_ascii fs/nls/nls_utf8 fs/nls/nls_ucs2_utils
  fs/nls/nls_cp437 fs/nls/nls_cp866 fs/nls/nls_cp1251 fs/nls/nls_iso8859-1
  # Networks by cable, Wi-Fi and Bluetooth, and the firewall.
  drivers/net/mii drivers/net/mdio/ drivers/net/phy/ drivers/net/pcs/ drivers/net/usb/ drivers/net/virtio_net
  drivers/net/net_failover drivers/net/veth drivers/net/dummy drivers/net/tun
  drivers/net/ethernet/intel/e100 drivers/net/ethernet/intel/e1000/ drivers/net/ethernet/intel/e1000e/
  drivers/net/ethernet/intel/igb/ drivers/net/ethernet/intel/igc/ drivers/net/ethernet/realtek/
  drivers/net/ethernet/atheros/ drivers/net/ethernet/broadcom/tg3 drivers/net/ethernet/broadcom/genet/
  drivers/net/ethernet/cadence/ drivers/net/ethernet/marvell/ drivers/net/ethernet/stmicro/
  drivers/net/ethernet/freescale/ !drivers/net/ethernet/freescale/dpaa/ !drivers/net/ethernet/freescale/dpaa2/
  drivers/net/ethernet/allwinner/ drivers/net/ethernet/davicom/ drivers/net/ethernet/smsc/
  drivers/net/ethernet/microchip/ drivers/net/ethernet/mediatek/ drivers/net/ethernet/amd/pcnet32
  !drivers/net/ethernet/marvell/octeon* !drivers/net/ethernet/marvell/prestera/ !drivers/net/ethernet/microchip/lan966x/
  !drivers/net/ethernet/microchip/sparx5/
  drivers/net/wireless/realtek/ drivers/net/wireless/mediatek/ drivers/net/wireless/broadcom/brcm80211/
  drivers/net/wireless/intel/iwlwifi/ drivers/net/wireless/ath/ drivers/net/wireless/ralink/
  drivers/net/wireless/marvell/mwifiex/ drivers/staging/rtl8723bs/
  !drivers/net/wireless/ath/ath5k/ !drivers/net/wireless/ath/ath6kl/ !drivers/net/wireless/ath/ath11k/
  !drivers/net/wireless/ath/ath12k/ !drivers/net/wireless/ath/wil6210/ !drivers/net/wireless/ath/carl9170/
  !drivers/net/wireless/ath/ar5523/ !drivers/net/wireless/ath/wcn36xx/
  drivers/bluetooth/ net/bluetooth/ net/mac80211/ net/wireless/ net/rfkill/ net/bridge/ net/llc/ net/802/ net/8021q/
  net/core/ net/ipv4/ net/ipv6/ net/packet/ net/unix/ net/key/ net/tls/ net/dns_resolver/ net/vmw_vsock/
  !net/vmw_vsock/vmw_vsock_vmci* !net/vmw_vsock/hv_sock !net/bridge/netfilter/ !net/ipv4/netfilter/ !net/ipv6/netfilter/
  net/ipv4/netfilter/nf_* net/ipv6/netfilter/nf_* net/ipv4/netfilter/nft_* net/ipv6/netfilter/nft_*
  net/netfilter/nf_* net/netfilter/nft_* net/netfilter/nfnetlink*
  net/sched/sch_fq net/sched/sch_fq_codel net/sched/sch_cake net/sched/sch_ingress net/sched/act_api
  # Sound by USB, HDA and, where boards carry it, I2S.
  sound/soundcore sound/ac97_bus sound/core/ sound/hda/ sound/pci/hda/ sound/usb/ sound/virtio/ sound/pci/ac97/
  sound/pci/snd-intel8x0
  # Keys, remote controls, serial adapters and other things on USB.
  drivers/hid/ drivers/input/input* drivers/input/evdev drivers/input/ff-memless drivers/input/keyboard/
  drivers/input/misc/ !drivers/input/misc/pcspkr drivers/input/serio/ !drivers/input/serio/serio_raw drivers/input/matrix-keymap drivers/input/sparse-keymap
  !drivers/hid/hid-sensor* !drivers/hid/intel-ish-hid/ !drivers/hid/amd-sfh-hid/ !drivers/hid/surface-hid/
  drivers/usb/common/ drivers/usb/core/ drivers/usb/host/ drivers/usb/dwc2/ drivers/usb/dwc3/ drivers/usb/cdns3/
  drivers/usb/chipidea/ drivers/usb/musb/ drivers/usb/phy/ drivers/usb/roles/ drivers/usb/typec/ drivers/usb/class/
  drivers/usb/serial/
  # What the hub is tried with, so that the image that is tried is the image that is flashed.
  drivers/net/wireless/virtual/mac80211_hwsim sound/drivers/snd-aloop drivers/char/virtio_console
`);

/** Boards have what PCs have not. */
const keptOn: Record<string, string[]> = {
  amd64: rulesOf('drivers/platform/x86/intel/ drivers/platform/x86/wmi drivers/ptp/ drivers/pps/'),
  arm64: rulesOf(`
    sound/soc/bcm/ sound/soc/codecs/ sound/soc/generic/ sound/soc/rockchip/ sound/soc/sunxi/ sound/soc/meson/
    sound/soc/fsl/ sound/soc/snd-soc-core drivers/gpu/drm/vc4/ drivers/gpu/drm/tiny/simpledrm
    drivers/ptp/ drivers/pps/ drivers/net/ethernet/hisilicon/hip04_eth drivers/staging/vc04_services/
    drivers/interconnect/ drivers/memory/ drivers/perf/arm*`),
};

/** `kernel/drivers/net/veth.ko.xz` -> `drivers/net/veth`. */
const plain = (file: string) => file.replace(/^kernel\//, '').replace(/\.ko(\.\w+)?$/, '');
const nameOf = (file: string) => plain(file).split('/').at(-1)!.replaceAll('-', '_');

/**
 * The module files that stay, with all they need.
 * @param dep text of modules.dep
 * @param arch Debian architecture
 * @param more names of modules a device adds, such as `ath11k_pci`
 * @throws IngleError `invalid_request` for a name in `more` that the kernel has not
 */
export function keptModules(dep: string, arch: string, more: readonly string[] = []): Set<string> {
  const needs = new Map<string, string[]>();
  for (const line of dep.split('\n')) {
    const [file, rest] = line.split(':');
    if (file && rest !== undefined) needs.set(file, rest.trim().split(/\s+/).filter(Boolean));
  }
  const rules = [...kept, ...(keptOn[arch] ?? [])];
  const stay = new Set<string>();
  const keep = (file: string) => {
    stay.add(file);
    for (const f of needs.get(file) ?? []) stay.add(f);
  };
  for (const file of needs.keys()) if (chosen(plain(file), rules)) keep(file);
  for (const name of more) {
    const file = [...needs.keys()].find((f) => nameOf(f) === name.replaceAll('-', '_'));
    if (!file)
      throw new IngleError('invalid_request', `The kernel has no module "${name}".`, { modules: [name] });
    keep(file);
  }
  return stay;
}
