// The chip firmware that stays: what the kernel modules that stay ask for, and what Bluetooth drivers ask for by names
// they make themselves. Pure.
import { chosen, rulesOf } from './rules.ts';

/** Asked for by a name that is put together when the chip is seen; no module declares these. */
const undeclared = rulesOf(`
  regulatory.db*
  intel/ibt-* rtl_bt/ ar3k/ qca/rampatch_usb_* qca/nvm_usb_* brcm/BCM* brcm/brcmfmac*
  mediatek/BT_RAM_CODE_* ath10k/QCA6174/ ath10k/QCA9377/ ath9k_htc/ htc_*
`);

/** `brcm/brcmfmac*-sdio.*.txt` as a pattern; most names have no star. */
const pattern = (name: string) =>
  new RegExp(`^${name.replace(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^/]*')}$`);

/** `iwlwifi-so-a0-gf-a0-89.ucode` -> its family and version. */
function intel(file: string): { family: string; device: string; version: number } | undefined {
  const m = /^iwlwifi-(([^-]+).*?)-(\d+)\.ucode$/.exec(file);
  return m ? { family: m[1]!, device: m[2]!, version: Number(m[3]) } : undefined;
}

/**
 * The newest version of each family of Intel's that the driver takes: it declares its newest, and takes a somewhat
 * older one where there is no other.
 */
function intelNewest(files: readonly string[], declared: readonly string[]): string[] {
  const most = new Map<string, number>();
  for (const { family, device, version } of declared.flatMap((d) => intel(d) ?? []))
    for (const key of [family, device]) most.set(key, Math.max(version, most.get(key) ?? 0));
  const newest = new Map<string, { file: string; version: number }>();
  for (const file of files) {
    const i = intel(file);
    const limit = i && (most.get(i.family) ?? most.get(i.device));
    if (!i || limit === undefined || i.version > limit) continue;
    if (i.version > (newest.get(i.family)?.version ?? -1)) newest.set(i.family, { file, version: i.version });
  }
  return [...newest.values()].map((n) => n.file);
}

/**
 * @param files paths below usr/lib/firmware
 * @param links those of them that are symbolic links: path -> path they lead to, both below usr/lib/firmware
 * @param declared what `modinfo -F firmware` says of the modules that stay
 */
export function keptFirmware(
  files: readonly string[],
  links: ReadonlyMap<string, string>,
  declared: readonly string[],
): Set<string> {
  const names = new Set(declared);
  const patterns = declared.filter((d) => d.includes('*')).map(pattern);
  const families = new Set(intelNewest(files, declared));
  const stay = new Set(
    files.filter(
      (f) =>
        families.has(f) ||
        (names.has(f) && !intel(f)) ||
        /^iwlwifi-.*\.pnvm$/.test(f) ||
        chosen(f, undeclared) ||
        patterns.some((p) => p.test(f)),
    ),
  );
  for (const f of [...stay])
    for (let to = links.get(f); to !== undefined && !stay.has(to); to = links.get(to)) stay.add(to);
  return stay;
}
