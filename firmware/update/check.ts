// A look at the update server: what it offers, and whether that is worth anything here.
import { IngleError } from '../protocol/errors.ts';
import type { Flow } from './flow.ts';
import { indexUrl, isChannel, type Offer, parseIndex } from './offer.ts';
import type { UpdateParts } from './parts.ts';
import type { Memory } from './record.ts';
import { isNewer } from './slots.ts';
import { failed, type UpdateReason } from './verdict.ts';
import { compareVersions, isVersion } from './version.ts';

/** What an offer is to a hub that runs a version; `too_far`: it must go to one in between first. */
export function worthOf(offer: Pick<Offer, 'version' | 'min_version'>, running: string) {
  if (!isNewer(offer.version, running)) return 'none';
  const { min_version } = offer;
  return min_version && isVersion(running) && compareVersions(running, min_version) < 0 ? 'too_far' : 'newer';
}

async function offerAt(o: UpdateParts, url: string): Promise<Offer> {
  const text = await o.index(url);
  try {
    return parseIndex(text, url);
  } catch (e) {
    throw failed('bad_index', (e as Error).message);
  }
}

/** @param asked whether a person asked: what goes wrong by itself is nobody's trouble */
export async function check(o: UpdateParts, flow: Flow, channel: string, asked: boolean) {
  const { row, t, needed, move, seconds } = flow;
  const { look } = flow.slots;
  needed();
  const wanted = channel || row.memory.channel || o.settings.channel;
  if (!isChannel(wanted)) throw new IngleError('invalid_request', t('noChannel'), { pointer: '/channel' });
  if (!o.settings.url) throw new IngleError('not_supported', t('noServer'));
  if (!row.can('offered') && row.state !== 'idle') throw new IngleError('conflict', t(`busy_${row.state}`));
  const f = await look();
  const at = indexUrl(o.settings.url, wanted, f.compatible);
  const offer = await offerAt(o, at).catch(async (e) => {
    const reason = ((e as IngleError).details?.['reason'] as UpdateReason) ?? 'no_index';
    if (asked) await row.remember({ error: { reason, text: t(reason), at: seconds() } });
    throw new IngleError('unavailable', t(reason), { reason });
  });
  const worth = worthOf(offer, f.version);
  const patch: Partial<Memory> = {
    channel: wanted,
    checked_at: seconds(),
    error: worth === 'too_far' ? { reason: 'too_far', text: t('too_far'), at: seconds() } : null,
    offer: worth === 'newer' ? offer : null,
  };
  const same = row.memory.offer?.sha256 === offer.sha256 && row.state === 'downloaded';
  if (patch.offer && !same) await move('offered', patch);
  else if (!patch.offer && row.can('none')) await move('none', patch);
  else await row.remember(patch);
  const { version, size, notes } = offer;
  const available = Boolean(patch.offer);
  return { available, version, size: BigInt(size), notes: notes[o.settings.language] };
}
