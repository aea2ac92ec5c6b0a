// The way of an update: one table, stored before each move; what a state is there for is done by `pursue`, at the move
// as after a power cut. update.ts takes the orders; processes and devices come from services/update.
import { IngleError } from '../protocol/errors.ts';
import { openQueue } from '../protocol/queue.ts';
import { machine } from '../system/machine.ts';
import { translator } from '../text/i18n.ts';
import { updateText } from '../text/update.ts';
import { failed } from './download.ts';
import { type UpdateEvent, type UpdateState, updateTable } from './machine.ts';
import { isNight } from './night.ts';
import type { UpdateParts } from './parts.ts';
import type { Slot } from './rauc.ts';
import type { Job, Memory, Result } from './record.ts';
import { isNewer, slotsOf } from './slots.ts';
import { judge, reasonOf, refusal, type UpdateReason } from './verdict.ts';

export type Flow = Awaited<ReturnType<typeof openFlow>>;

/** An installation that is cut is begun anew so often. */
const MAX_TRIES = 3;

/** The stored way of an update, gone on from where it was. */
export async function openFlow(o: UpdateParts) {
  const { rauc, records, downloads, settings, log } = o;
  const now = o.now ?? (() => new Date());
  const seconds = () => now().getTime() / 1000;
  const t = translator(updateText, settings.language);
  const loaded = await records.load();
  const memory: Memory = loaded.record;
  let progress = { step: '', percent: -1, bytes: 0, total: 0 };
  let supported = false;
  let begun = false;
  let failure: UpdateReason | '' = '';
  /** What the present state does; a later state stops it. */
  let work = new AbortController();

  const m = machine<UpdateState, UpdateEvent>({
    name: 'update',
    table: updateTable,
    initial: loaded.state,
    log,
    onEnter(state, old) {
      work.abort();
      work = new AbortController();
      progress = { step: '', percent: -1, bytes: 0, total: 0 };
      o.events.state(state, old, failure);
      failure = '';
    },
  });

  const queued = openQueue().add;
  /** The one way the state moves: stored first, then done. @throws IngleError `conflict` */
  function move(event: UpdateEvent, patch: Partial<Memory> = {}): Promise<void> {
    return queued(async () => {
      const next = updateTable[m.state][event];
      if (next === undefined) throw new IngleError('conflict', t(`busy_${m.state}`));
      await records.save(next, { ...memory, ...patch });
      // Whoever looks meanwhile sees the old state with the old memory.
      Object.assign(memory, patch);
      m.fire(event);
      void pursue();
    });
  }
  const save = () => queued(() => records.save(m.state, memory));

  let told = 0;
  function tell(step: string, percent: number, bytes = 0, total = 0): void {
    const same = progress.step === step && percent < 100;
    progress = { step, percent, bytes, total };
    // A signal for each packet would flood the bus.
    if (same && Date.now() - told < 250) return;
    told = Date.now();
    o.events.progress(step, percent, bytes, total);
  }

  const slots = slotsOf(o, memory, t('noSlot'));
  const { look, previous } = slots;

  function needed(): void {
    if (!supported) throw new IngleError('not_supported', t('unsupported'));
    if (!begun) throw new IngleError('unavailable', t('noSlot'));
  }

  /** Ends what was under way: remembers why, and says what is still on offer. */
  async function fail(cause: unknown, given?: UpdateReason): Promise<void> {
    const e = cause as IngleError;
    // What is refused without a word that is known is no bundle of ours.
    const otherwise = e.code === 'invalid_request' ? 'bad_bundle' : 'install_failed';
    const said = (e.details?.['reason'] as UpdateReason | undefined) ?? reasonOf(e.message ?? '', otherwise);
    const reason = given ?? said;
    log.warn('the update failed', { reason, cause: e });
    failure = reason;
    const error = { reason, text: t(reason), at: seconds() };
    const spoilt: UpdateReason[] = [
      'bad_signature',
      'bad_bundle',
      'wrong_version',
      'other_device',
      'too_old',
    ];
    if (spoilt.includes(reason)) await downloads.sweep();
    const offer = memory.offer;
    await move('failed', { error, job: null, passage: null });
    if (offer && m.state === 'idle') await move('offered');
  }

  /** Does what the present state is there for. Its errors end in `fail`. */
  async function pursue(resumed = false): Promise<void> {
    const { signal } = work;
    try {
      if (m.state === 'downloading') await pursueDownload(signal);
      else if (m.state === 'verifying') await pursueVerify();
      else if (m.state === 'installing') await pursueInstall(resumed);
      else if (m.state === 'installed' && memory.job?.restart) await restart(memory.job.restart);
      else if (m.state === 'draining') later(o.drainMs ?? 5000, () => move('drained'));
      else if (m.state === 'restarting') {
        log.notice('restart asked for');
        o.askRestart();
        later(o.stuckMs ?? 120_000, () => {
          failure = 'not_restarted';
          const error = { reason: failure, text: t(failure), at: seconds() };
          return move('stuck', { error });
        });
      } else if (m.state === 'waiting') poll(waitForNight);
      else if (m.state === 'trial') poll(waitForProof);
    } catch (cause) {
      if (signal.aborted) return;
      await fail(cause).catch((e) => log.error('the failure could not be stored', { cause: e as Error }));
    }
  }
  /** Runs unless the state has been left by then. */
  function later(ms: number, f: () => Promise<unknown>): void {
    const { signal } = work;
    const drop = () => clearTimeout(timer);
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', drop);
      if (!signal.aborted) f().catch((cause) => log.warn('a step failed', { cause }));
    }, ms);
    signal.addEventListener('abort', drop);
  }
  function poll(look: () => Promise<boolean>): void {
    const { signal } = work;
    void look()
      .catch((cause) => log.warn('a look failed', { cause }))
      .then((over) => over || signal.aborted || later(o.pollMs ?? 5000, async () => poll(look)));
  }

  async function pursueDownload(signal: AbortSignal): Promise<void> {
    const offer = memory.offer;
    if (!offer) throw failed('not_found', 'Nothing is on offer.');
    await downloads.sweep(offer);
    await downloads.fetch(
      offer,
      (bytes) => tell(t('stepDownload'), Math.floor((100 * bytes) / offer.size), bytes, offer.size),
      signal,
    );
    await move('fetched');
    if (memory.job) await move('prepare');
  }

  /** What is to be installed, as RAUC takes it. */
  function sourceOf(job: Job | null): string {
    if (job?.source) return job.source;
    const { offer } = memory;
    const at = offer && (job?.stream ? offer.url : downloads.have(offer));
    if (!at) throw failed('not_found', 'The bundle is not there any more.');
    return at;
  }

  async function pursueVerify(): Promise<void> {
    const job = memory.job;
    if (!job) throw failed('not_found', 'Nothing is to be installed.');
    tell(t('stepVerify'), -1);
    const info = await rauc.inspect(sourceOf(job));
    const f = await look();
    const device = { compatible: f.compatible, min_version: settings.min_version, running: f.version };
    const reason = refusal(info, device, job.source ? undefined : (memory.offer ?? undefined));
    if (reason) throw failed(reason, t(reason));
    if (!f.other) throw new IngleError('internal', t('noSlot'));
    const seen = { ...memory.seen };
    delete seen[f.other.name];
    await move('verified', {
      seen,
      job: { ...job, hash: info.hash },
      passage: {
        kind: 'update',
        from: { slot: f.running.name, version: f.version },
        to: { slot: f.other.name, version: info.version },
        boot_id: o.boot.id,
      },
    });
  }

  async function pursueInstall(resumed: boolean): Promise<void> {
    const { job, passage } = memory;
    if (!job || !passage) throw failed('interrupted', 'What was installed is not known.');
    const show = (percent: number, step: string) => tell(step || t('stepInstall'), percent);
    const under = resumed && passage.boot_id === o.boot.id && (await rauc.busy());
    if (resumed && !under && (await isWritten(passage.to))) return written();
    try {
      if (under) await rauc.install(undefined, show);
      else {
        if (job.tries >= MAX_TRIES) throw failed('interrupted', 'It was cut too often.');
        // Counted before it begins: an installation that takes the hub down must not be tried for ever.
        memory.job = { ...job, tries: job.tries + 1 };
        await save();
        show(0, '');
        await rauc.install(sourceOf(job), show);
      }
    } catch (e) {
      if ((e as IngleError).code !== 'unavailable') throw e;
      log.warn('RAUC went away; the installation begins anew', { cause: e as Error });
      await new Promise((done) => setTimeout(done, 1000));
      if (await isWritten(passage.to)) return written();
      return pursueInstall(false);
    }
    await written();
  }
  async function isWritten(to: { slot: string; version: string }): Promise<boolean> {
    const slot = (await rauc.slots()).find((s) => s.name === to.slot);
    return slot?.version === to.version && isSeen(slot) && slot.whole && (await rauc.primary()) === to.slot;
  }
  /** Whether a slot holds the very bundle that was looked at, whatever lay there when RAUC opened it again. */
  const isSeen = (slot: Slot): boolean => !memory.job?.hash || slot.hash === memory.job.hash;
  async function written(): Promise<void> {
    const passage = memory.passage!;
    const slot = (await rauc.slots()).find((s) => s.name === passage.to.slot);
    if (slot && !isSeen(slot)) {
      await rauc.markActive(passage.from.slot);
      throw failed('wrong_version', 'The bundle is not the one that was looked at.');
    }
    if ((await rauc.primary()) !== passage.to.slot) await rauc.markActive(passage.to.slot);
    await downloads.sweep();
    await move('written', { passage: { ...passage, boot_id: o.boot.id }, error: null });
  }

  async function waitForNight(): Promise<boolean> {
    // A clock before the order has not been set yet since the start.
    if (seconds() < memory.since || !isNight(now())) return false;
    await move('restart');
    return true;
  }
  async function waitForProof(): Promise<boolean> {
    if (!o.boot.committed()) return false;
    await end('came_up');
    return true;
  }
  async function end(event: 'came_up' | 'fell_back'): Promise<void> {
    const p = memory.passage!;
    const f = await look();
    const ok = event === 'came_up';
    const target = [f.running, f.other].find((s) => s?.name === p.to.slot);
    const reason = ok ? '' : target?.good ? 'not_started' : 'not_healthy';
    const result: Result = {
      ok,
      kind: p.kind,
      from: p.from.version,
      to: p.to.version,
      reason,
      text: ok ? '' : o.boot.health(p.to.version),
      at: seconds(),
    };
    const offer = memory.offer && isNewer(memory.offer.version, f.version) ? memory.offer : null;
    failure = reason;
    await records.keep(result);
    await move(event, { result, passage: null, job: null, offer, error: null, since: 0 });
    o.events.result(result);
    if (offer) await move('offered');
    log.notice(ok ? 'the version that was started stays' : 'the hub went back', { ...result });
  }

  async function restart(when: 'now' | 'night'): Promise<void> {
    if (when === 'night') await move('night', { job: null, since: seconds() });
    else await move('restart', { job: null });
  }

  /** Looks what came of a restart and goes on where a cut left it. Called again until it settles. */
  async function begin(): Promise<void> {
    supported = await rauc.present();
    if (!supported || begun) return;
    if (m.state === 'installing' && memory.passage?.boot_id === o.boot.id && (await rauc.busy())) {
      // Until RAUC is done it tells nothing else.
      begun = true;
      void pursue(true);
      return;
    }
    const f = await look();
    memory.seen = { ...memory.seen, [f.running.name]: f.version };
    begun = true;
    const p = memory.passage;
    const now_ = { boot_id: o.boot.id, slot: f.running.name, committed: o.boot.committed() };
    const outcome = p ? judge(p, now_) : 'same_boot';
    // An installation that was cut goes on: there `fell_back` is no move of the table.
    if (p && outcome === 'on_trial' && m.can(outcome)) return move(outcome);
    if (p && (outcome === 'came_up' || outcome === 'fell_back') && m.can(outcome)) return end(outcome);
    await save();
    void pursue(true);
  }

  return {
    machine: m,
    memory,
    t,
    begin,
    look,
    previous,
    sourceOf,
    needed,
    move,
    save,
    restart,
    seconds,
    progress: () => progress,
    supported: () => supported,
    begun: () => begun,
    /** The newest look at the slots, without asking. */
    known: slots.known,
    stop(): void {
      work.abort();
      m.stop();
    },
  };
}
