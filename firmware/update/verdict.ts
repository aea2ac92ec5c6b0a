// Judgements of an update: may this bundle be installed, and what came of the one that was. Pure.
import { IngleError } from '../protocol/errors.ts';
import { compareVersions, isVersion } from './version.ts';

/** Why an update did not go on, or did not stay; texts stand in text/update.ts. */
export type UpdateReason =
  /** The index cannot be fetched, or is not one. */
  | 'no_index'
  | 'bad_index'
  /** The bundle is not where it should be. */
  | 'not_found'
  /** The server was lost again and again, or answered nonsense. */
  | 'cut'
  /** The server sends more, or less, than the index says. */
  | 'wrong_size'
  | 'wrong_hash'
  | 'disk_full'
  /** Not signed by the maker of this device. */
  | 'bad_signature'
  /** Truncated, or no bundle at all. */
  | 'bad_bundle'
  | 'other_device'
  /** Older than this device allows. */
  | 'too_old'
  /** The version that runs must first go to one in between. */
  | 'too_far'
  /** Signed, but not the version the index promised. */
  | 'wrong_version'
  | 'install_failed'
  /** A power cut, or RAUC died, more often than it was tried again. */
  | 'interrupted'
  /** The restart did not come. */
  | 'not_restarted'
  /** The new version was started and did not prove itself. */
  | 'not_healthy'
  /** The old version was started instead. */
  | 'not_started'
  | 'canceled';

/** An error that says why an update does not go on. */
export function failed(reason: UpdateReason, message: string): IngleError {
  const codes: Partial<Record<UpdateReason, 'too_large' | 'conflict' | 'not_found' | 'unavailable'>> = {
    disk_full: 'too_large',
    canceled: 'conflict',
    not_found: 'not_found',
    cut: 'unavailable',
    no_index: 'unavailable',
  };
  return new IngleError(codes[reason] ?? 'invalid_request', message, { reason });
}

/** What RAUC says of a bundle whose signature it has checked. */
export interface BundleInfo {
  version: string;
  compatible: string;
  /** Of the manifest, to install exactly what was looked at; empty where RAUC does not tell. */
  hash: string;
}

/** Why a signed bundle may not be installed here; undefined when it may. */
export function refusal(
  bundle: Pick<BundleInfo, 'version' | 'compatible'>,
  device: { compatible: string; min_version: string; running: string },
  offer?: { version: string; min_version: string },
): UpdateReason | undefined {
  if (bundle.compatible !== device.compatible) return 'other_device';
  if (!isVersion(bundle.version)) return 'bad_bundle';
  // An index is not signed: it may not pass off an old bundle as a new one.
  if (offer && bundle.version !== offer.version) return 'wrong_version';
  if (isVersion(device.min_version) && compareVersions(bundle.version, device.min_version) < 0)
    return 'too_old';
  if (offer?.min_version && isVersion(device.running)) {
    if (compareVersions(device.running, offer.min_version) < 0) return 'too_far';
  }
  return undefined;
}

/** What an order to restart left behind: from where, to where, in which boot. */
export interface Passage {
  kind: 'update' | 'rollback';
  from: { slot: string; version: string };
  to: { slot: string; version: string };
  /** The kernel's boot id when the other slot was made the next one. */
  boot_id: string;
}

export type Outcome = 'same_boot' | 'on_trial' | 'came_up' | 'fell_back';

/** What came of a passage, by what runs now. */
export function judge(p: Passage, now: { boot_id: string; slot: string; committed: boolean }): Outcome {
  if (p.boot_id === now.boot_id) return 'same_boot';
  if (now.slot !== p.to.slot) return 'fell_back';
  return now.committed ? 'came_up' : 'on_trial';
}

/** Reason behind what RAUC says when it refuses or fails; its messages are not a contract, so the rest is general. */
export function reasonOf(message: string, otherwise: UpdateReason = 'install_failed'): UpdateReason {
  // Where a signature cannot even be found, nobody else's is there.
  if (/bundle format|signature size|signature from bundle|payload is corrupted/i.test(message))
    return 'bad_bundle';
  if (/signature|certificate|issuer|CMS|not signed|trust/i.test(message)) return 'bad_signature';
  if (/compatible/i.test(message)) return 'other_device';
  if (
    /version mismatch|min-bundle-version|minimum (?:bundle )?version|version (?:limit|is (?:older|too old))|older than/i.test(
      message,
    )
  )
    return 'too_old';
  if (/no such file|does not exist|404/i.test(message)) return 'not_found';
  if (/identifier|valid RAUC bundle|truncat|bundle size|squashfs|verity|payload|manifest/i.test(message))
    return 'bad_bundle';
  return otherwise;
}
