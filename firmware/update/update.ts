// What Update1 does: the orders a person gives, and what is told of an update.
import { IngleError } from '../protocol/errors.ts';
import { failed } from './download.ts';
import { openFlow } from './flow.ts';
import { restful, type UpdateEvent } from './machine.ts';
import { nextNight } from './night.ts';
import { bundleUrl, indexUrl, isChannel, type Offer, parseIndex } from './offer.ts';
import type { UpdateParts } from './parts.ts';
import type { Job, Memory } from './record.ts';
import { isNewer } from './slots.ts';
import { reasonOf, refusal, type UpdateReason } from './verdict.ts';
import { compareVersions, isVersion } from './version.ts';

export type Update = Awaited<ReturnType<typeof createUpdate>>;

export async function createUpdate(o: UpdateParts) {
  const { rauc, downloads, settings } = o;
  const flow = await openFlow(o);
  const { row, t, sourceOf, needed, move, seconds } = flow;
  const { look, previous, known } = flow.slots;
  const now = o.now ?? (() => new Date());

  /** A caller's source as RAUC takes it; empty for the offered one. */
  async function resolve(source: string): Promise<string> {
    if (source === '') return '';
    if (source === 'usb') {
      const [stick] = await o.sticks();
      if (!stick) throw new IngleError('not_found', t('noStick'));
      return stick.path;
    }
    if (source.includes('://')) return bundleUrl(source, settings.url);
    if (!/^\/[^\0]{1,1000}\.raucb$/.test(source) || source.split('/').includes('..'))
      throw new IngleError('invalid_request', t('badSource'), { pointer: '/source' });
    return source;
  }
  return {
    begin: flow.begin,
    /** States where the service may end. */
    restful: () => !flow.supported() || (flow.begun() && restful.has(row.state)),
    async status() {
      const f =
        flow.supported() && flow.begun() && row.state !== 'installing' ? await look().catch(known) : known();
      const back = f && previous(f);
      const begun = flow.begun();
      const can = (e: UpdateEvent) => begun && row.can(e);
      const aside = can('set_aside');
      const free = restful.has(row.state) && row.state !== 'installed';
      const orders = {
        check: begun && free && settings.url !== '',
        download: can('fetch'),
        install: can('prepare') && row.memory.offer !== null && free,
        restart: can('restart'),
        night: can('night'),
        cancel: can('cancel'),
        rollback: aside || (can('roll_back') && back !== undefined),
      };
      const { memory } = row;
      const { offer, error, result, passage, since } = memory;
      return {
        state: flow.supported() ? row.state : ('unsupported' as const),
        version: f?.version ?? (o.boot.version || o.boot.built),
        slot: f?.running.bootname ?? '',
        detail: {
          channel: memory.channel || settings.channel,
          checked_at: memory.checked_at,
          ...(offer
            ? { offer: { version: offer.version, size: offer.size, notes: offer.notes[settings.language] } }
            : {}),
          target: passage?.to.version ?? (row.state === 'downloading' ? (offer?.version ?? '') : ''),
          percent: flow.telling.now().percent,
          step: flow.telling.now().step,
          ...(error ? { error } : {}),
          ...(result ? { result } : {}),
          ...(back ? { previous: back } : {}),
          restart_at: row.state === 'waiting' && since ? nextNight(now()).getTime() / 1000 : 0,
          can: Object.entries(orders).flatMap(([name, is]) => (is ? [name] : [])),
        },
      };
    },

    /** @param asked whether a person asked: what goes wrong by itself is nobody's trouble */
    async check(channel: string, asked = true) {
      needed();
      const wanted = channel || row.memory.channel || settings.channel;
      if (!isChannel(wanted))
        throw new IngleError('invalid_request', t('noChannel'), { pointer: '/channel' });
      if (!settings.url) throw new IngleError('not_supported', t('noServer'));
      if (!row.can('offered') && row.state !== 'idle')
        throw new IngleError('conflict', t(`busy_${row.state}`));
      const f = await look();
      const at = indexUrl(settings.url, wanted, f.compatible);
      let offer: Offer;
      try {
        const text = await o.index(at);
        try {
          offer = parseIndex(text, at);
        } catch (e) {
          throw failed('bad_index', (e as Error).message);
        }
      } catch (e) {
        const reason = ((e as IngleError).details?.['reason'] as UpdateReason) ?? 'no_index';
        if (asked) {
          await row.remember({ error: { reason, text: t(reason), at: seconds() } });
        }
        throw new IngleError('unavailable', t(reason), { reason });
      }
      const newer = isNewer(offer.version, f.version);
      const tooFar =
        newer &&
        offer.min_version &&
        isVersion(f.version) &&
        compareVersions(f.version, offer.min_version) < 0;
      const patch: Partial<Memory> = {
        channel: wanted,
        checked_at: seconds(),
        error: tooFar ? { reason: 'too_far', text: t('too_far'), at: seconds() } : null,
        offer: newer && !tooFar ? offer : null,
      };
      const same = row.memory.offer?.sha256 === offer.sha256 && row.state === 'downloaded';
      if (patch.offer && !same) await move('offered', patch);
      else if (!patch.offer && row.can('none')) await move('none', patch);
      else await row.remember(patch);
      const { version, size, notes } = offer;
      const available = Boolean(patch.offer);
      return { available, version, size: BigInt(size), notes: notes[settings.language] };
    },

    async download() {
      needed();
      if (row.memory.offer && row.can('fetch') && !(await downloads.room(row.memory.offer)))
        throw failed('disk_full', t('disk_full'));
      await move('fetch', { job: null, error: null });
    },

    async verify(source: string) {
      needed();
      const at = await resolve(source);
      const info = await rauc.inspect(at || sourceOf({ source: '', stream: false } as Job)).catch((e) => {
        if ((e as IngleError).code !== 'invalid_request') throw e;
        o.log.info('RAUC refuses a bundle', { cause: e as Error });
        return { reason: reasonOf((e as Error).message, 'bad_bundle') };
      });
      if ('reason' in info) return { version: '', compatible: '', reason: info.reason };
      const f = await look();
      const device = { compatible: f.compatible, min_version: settings.min_version, running: f.version };
      const offer = at === '' ? (row.memory.offer ?? undefined) : undefined;
      const { version, compatible } = info;
      return { version, compatible, reason: refusal(info, device, offer) ?? '' };
    },

    async install(source: string, restart: string) {
      needed();
      if (!isRestart(restart)) throw new IngleError('invalid_request', t('badWhen'), { pointer: '/restart' });
      const at = source === 'stream' ? '' : await resolve(source);
      const job: Job = { source: at, stream: at.includes('://'), restart, hash: '', tries: 0 };
      if (at) return move('prepare', { job, error: null });
      const offer = row.memory.offer;
      if (!offer) throw new IngleError('conflict', t('nothingOffered'));
      const there = downloads.have(offer) !== undefined;
      const stream =
        source === 'stream' || (!there && offer.url.startsWith('https:') && !(await downloads.room(offer)));
      if (stream || there) return move('prepare', { job: { ...job, stream: stream && !there }, error: null });
      if (row.state !== 'downloaded') {
        if (!(await downloads.room(offer))) throw failed('disk_full', t('disk_full'));
        return move('fetch', { job, error: null });
      }
      await move('offered');
      return move('fetch', { job, error: null });
    },

    async restart(when: string) {
      needed();
      if (when !== 'now' && when !== 'night')
        throw new IngleError('invalid_request', t('badWhen'), { pointer: '/when' });
      await flow.restart(when);
    },

    async cancel() {
      needed();
      await move('cancel', { job: null, since: 0 });
    },

    async rollback() {
      needed();
      const f = await look();
      if (row.can('set_aside')) {
        await rauc.markActive(f.running.name);
        const offer =
          row.memory.offer && isNewer(row.memory.offer.version, f.version) ? row.memory.offer : null;
        await move('set_aside', { passage: null, job: null, since: 0, offer });
        if (offer) await move('offered');
        return { version: f.version, restarts: false };
      }
      const back = previous(f);
      if (!back) throw new IngleError('conflict', t('nothingBefore'));
      if (!row.can('roll_back')) throw new IngleError('conflict', t(`busy_${row.state}`));
      await rauc.markActive(back.slot);
      const from = { slot: f.running.name, version: f.version };
      await move('roll_back', {
        job: null,
        passage: { kind: 'rollback', from, to: back, boot_id: o.boot.id },
      });
      return { version: back.version, restarts: true };
    },

    sticks: () => o.sticks(),
    stop: flow.stop,
  };
}
function isRestart(text: string): text is Job['restart'] {
  return text === '' || text === 'now' || text === 'night';
}
