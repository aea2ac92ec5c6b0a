// What Update1 does: the orders a person gives, and what is told of an update.
import { IngleError } from '../protocol/errors.ts';
import { check } from './check.ts';
import { type Flow, openFlow } from './flow.ts';
import { restful } from './machine.ts';
import { bundleUrl } from './offer.ts';
import type { UpdateParts } from './parts.ts';
import type { Job } from './record.ts';
import { type Facts, isNewer } from './slots.ts';
import { statusOf } from './status.ts';
import { failed, reasonOf, refusal } from './verdict.ts';

export type Update = Awaited<ReturnType<typeof createUpdate>>;

export async function createUpdate(o: UpdateParts) {
  const { rauc, downloads, settings } = o;
  const flow = await openFlow(o);
  const { row, t, sourceOf, needed, move } = flow;
  const { look, previous } = flow.slots;

  /** Installs the offered bundle: the one that lies here, one read from the network, or once it is downloaded. */
  async function installOffer(job: Job, asStream: boolean): Promise<void> {
    const offer = row.memory.offer;
    if (!offer) throw new IngleError('conflict', t('nothingOffered'));
    const there = downloads.have(offer) !== undefined;
    const stream = asStream || (!there && offer.url.startsWith('https:') && !(await downloads.room(offer)));
    if (stream || there) return move('prepare', { job: { ...job, stream: stream && !there }, error: null });
    if (row.state !== 'downloaded') {
      if (!(await downloads.room(offer))) throw failed('disk_full', t('disk_full'));
    } else await move('offered');
    return move('fetch', { job, error: null });
  }

  /** What is installed and was not started yet is not started. */
  async function setAside(f: Facts) {
    await rauc.markActive(f.running.name);
    const known = row.memory.offer;
    const offer = known && isNewer(known.version, f.version) ? known : null;
    await move('set_aside', { passage: null, job: null, since: 0, offer });
    if (offer) await move('offered');
    return { version: f.version, restarts: false };
  }

  async function rollBack(f: Facts) {
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
  }

  return {
    begin: flow.begin,
    /** States where the service may end. */
    restful: () => !flow.supported() || (flow.begun() && restful.has(row.state)),
    status: () => statusOf(o, flow),
    check: (channel: string, asked = true) => check(o, flow, channel, asked),

    async download() {
      needed();
      if (row.memory.offer && row.can('fetch') && !(await downloads.room(row.memory.offer)))
        throw failed('disk_full', t('disk_full'));
      await move('fetch', { job: null, error: null });
    },

    async verify(source: string) {
      needed();
      const at = await resolve(o, t, source);
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
      const at = source === 'stream' ? '' : await resolve(o, t, source);
      const job: Job = { source: at, stream: at.includes('://'), restart, hash: '', tries: 0 };
      return at ? move('prepare', { job, error: null }) : installOffer(job, source === 'stream');
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
      return row.can('set_aside') ? setAside(f) : rollBack(f);
    },

    sticks: () => o.sticks(),
    stop: flow.stop,
  };
}

/** A caller's source as RAUC takes it; empty for the offered one. */
async function resolve(o: UpdateParts, t: Flow['t'], source: string): Promise<string> {
  if (source === '') return '';
  if (source === 'usb') {
    const [stick] = await o.sticks();
    if (!stick) throw new IngleError('not_found', t('noStick'));
    return stick.path;
  }
  if (source.includes('://')) return bundleUrl(source, o.settings.url);
  if (!/^\/[^\0]{1,1000}\.raucb$/.test(source) || source.split('/').includes('..'))
    throw new IngleError('invalid_request', t('badSource'), { pointer: '/source' });
  return source;
}

function isRestart(text: string): text is Job['restart'] {
  return text === '' || text === 'now' || text === 'night';
}
