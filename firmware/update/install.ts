// Verifying a bundle and writing it into the slot that does not run, over cuts of RAUC and of the power.
import { IngleError } from '../protocol/errors.ts';
import type { Core } from './core.ts';
import type { Slot } from './rauc.ts';
import { failed, refusal } from './verdict.ts';

/** An installation that is cut is begun anew so often. */
const MAX_TRIES = 3;

export function installer({ parts, row, t, slots, telling, move, sourceOf }: Core) {
  const { rauc, downloads, settings, log } = parts;

  /** Whether a slot holds the very bundle that was looked at, whatever lay there when RAUC opened it again. */
  const isSeen = (slot: Slot): boolean => !row.memory.job?.hash || slot.hash === row.memory.job.hash;
  const slotOf = async (name: string) => (await rauc.slots()).find((s) => s.name === name);

  async function isWritten(to: { slot: string; version: string }): Promise<boolean> {
    const slot = await slotOf(to.slot);
    return slot?.version === to.version && isSeen(slot) && slot.whole && (await rauc.primary()) === to.slot;
  }

  async function written(): Promise<void> {
    const passage = row.memory.passage!;
    const slot = await slotOf(passage.to.slot);
    if (slot && !isSeen(slot)) {
      await rauc.markActive(passage.from.slot);
      throw failed('wrong_version', 'The bundle is not the one that was looked at.');
    }
    if ((await rauc.primary()) !== passage.to.slot) await rauc.markActive(passage.to.slot);
    await downloads.sweep();
    await move('written', { passage: { ...passage, boot_id: parts.boot.id }, error: null });
  }

  /** @param resumed the service has started since the order */
  async function install(resumed: boolean): Promise<void> {
    const { job, passage } = row.memory;
    if (!job || !passage) throw failed('interrupted', 'What was installed is not known.');
    const show = (percent: number, step: string) => telling.tell(step || t('stepInstall'), percent);
    const under = resumed && passage.boot_id === parts.boot.id && (await rauc.busy());
    if (resumed && !under && (await isWritten(passage.to))) return written();
    try {
      if (under) await rauc.install(undefined, show);
      else {
        if (job.tries >= MAX_TRIES) throw failed('interrupted', 'It was cut too often.');
        // Counted before it begins: an installation that takes the hub down must not be tried for ever.
        await row.remember({ job: { ...job, tries: job.tries + 1 } });
        show(0, '');
        await rauc.install(sourceOf(job), show);
      }
    } catch (e) {
      if ((e as IngleError).code !== 'unavailable') throw e;
      log.warn('RAUC went away; the installation begins anew', { cause: e as Error });
      await new Promise((done) => setTimeout(done, 1000));
      if (await isWritten(passage.to)) return written();
      return install(false);
    }
    await written();
  }

  return {
    install,
    async verify(): Promise<void> {
      const { job, offer, seen } = row.memory;
      if (!job) throw failed('not_found', 'Nothing is to be installed.');
      telling.tell(t('stepVerify'), -1);
      const info = await rauc.inspect(sourceOf(job));
      const f = await slots.look();
      const device = { compatible: f.compatible, min_version: settings.min_version, running: f.version };
      const reason = refusal(info, device, job.source ? undefined : (offer ?? undefined));
      if (reason) throw failed(reason, t(reason));
      if (!f.other) throw new IngleError('internal', t('noSlot'));
      const { [f.other.name]: _, ...others } = seen;
      await move('verified', {
        seen: others,
        job: { ...job, hash: info.hash },
        passage: {
          kind: 'update',
          from: { slot: f.running.name, version: f.version },
          to: { slot: f.other.name, version: info.version },
          boot_id: parts.boot.id,
        },
      });
    },
  };
}
