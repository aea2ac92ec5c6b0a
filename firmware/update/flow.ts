// The way of an update: one durable machine. What a state is there for is in `acts`, at the move as after a power cut.
// update.ts takes the orders; processes and devices come from services/update.
import { setTimeout } from 'node:timers/promises';
import { IngleError } from '../protocol/errors.ts';
import { openDurable } from '../system/durable.ts';
import { translator } from '../text/i18n.ts';
import { updateText } from '../text/update.ts';
import type { At, Core } from './core.ts';
import { installer } from './install.ts';
import { type UpdateEvent, type UpdateState, updateTable } from './machine.ts';
import { isNight } from './night.ts';
import type { UpdateParts } from './parts.ts';
import { openTelling } from './progress.ts';
import { keepResult, type Memory, nothing, type Result } from './record.ts';
import { isNewer, slotsOf } from './slots.ts';
import { failed, judge, reasonOf, type UpdateReason } from './verdict.ts';

type Acts = Partial<Record<UpdateState, (here: At) => void | Promise<void>>>;

export type Flow = Awaited<ReturnType<typeof openFlow>>;

/** Why it moved, for those who follow. */
function reasonOfMove(event: UpdateEvent, { error, result }: Memory): UpdateReason | '' {
  if (event === 'failed' || event === 'stuck') return error?.reason ?? '';
  return event === 'fell_back' ? (result?.reason ?? '') : '';
}

/** The stored way of an update, ready to go on from where it was. */
export async function openFlow(parts: UpdateParts) {
  const { rauc, log, events } = parts;
  const now = parts.now ?? (() => new Date());
  const telling = openTelling(events.progress);
  let acts: Acts = {};
  const rows = await openDurable<UpdateState, UpdateEvent, Memory>({
    name: 'updates',
    store: parts.store,
    table: updateTable,
    initial: 'idle',
    memory: nothing,
    log,
    now: () => now().getTime(),
    onMove(row, old, event) {
      telling.reset();
      events.state(row.state, old, reasonOfMove(event, row.memory));
    },
    act: (_, here) => acts[here.state]?.(here),
    onError: (_, cause) =>
      void fail(core, cause).catch((e) =>
        log.error('the failure could not be stored', { cause: e as Error }),
      ),
  });
  const row = rows.row('updates');
  const t = translator(updateText, parts.settings.language);
  const core: Core = {
    parts,
    row,
    t,
    telling,
    slots: slotsOf(parts, () => row.memory, t('noSlot')),
    seconds: () => now().getTime() / 1000,
    async move(event, patch) {
      if (!(await row.move(event, patch))) throw new IngleError('conflict', t(`busy_${row.state}`));
    },
    sourceOf(job) {
      if (job?.source) return job.source;
      const { offer } = row.memory;
      const at = offer && (job?.stream ? offer.url : parts.downloads.have(offer));
      if (!at) throw failed('not_found', 'The bundle is not there any more.');
      return at;
    },
  };
  acts = actsOf(core, now);
  let supported = false;
  let begun = false;
  return {
    ...core,
    restart: (when: 'now' | 'night') => restart(core, when),
    needed(): void {
      if (!supported) throw new IngleError('not_supported', t('unsupported'));
      if (!begun) throw new IngleError('unavailable', t('noSlot'));
    },
    /** Looks what came of a restart and goes on where a cut left it. Called again until it settles. */
    async begin(): Promise<void> {
      supported = await rauc.present();
      if (!supported || begun) return;
      const { memory } = row;
      // Until RAUC is done it tells nothing else.
      const under = row.state === 'installing' && memory.passage?.boot_id === parts.boot.id;
      if (!under || !(await rauc.busy())) return goOn(core, () => (begun = true));
      begun = true;
      row.resume();
    },
    supported: () => supported,
    begun: () => begun,
    stop: rows.stop,
  };
}

function actsOf(core: Core, now: () => Date): Acts {
  const { parts, row } = core;
  const { log } = parts;
  const installs = installer(core);
  return {
    downloading: (here) => download(core, here),
    verifying: installs.verify,
    installing: (here) => installs.install(here.by === undefined),
    async installed() {
      if (row.memory.job?.restart) await restart(core, row.memory.job.restart);
    },
    draining: (here) => here.after(parts.drainMs ?? 5000, 'drained'),
    restarting(here) {
      log.notice('restart asked for');
      parts.askRestart();
      here.after(parts.stuckMs ?? 120_000, 'stuck', () => ({ error: errorOf(core, 'not_restarted') }));
    },
    waiting: (here) =>
      poll(core, here, async () => {
        // A clock before the order has not been set yet since the start.
        if (core.seconds() < row.memory.since || !isNight(now())) return false;
        await core.move('restart');
        return true;
      }),
    trial: (here) =>
      poll(core, here, async () => {
        if (!parts.boot.committed()) return false;
        await end(core, 'came_up');
        return true;
      }),
  };
}

/** Looks again and again until the look says it is over, or the state has been left. */
async function poll({ parts }: Core, { signal }: At, look: () => Promise<boolean>): Promise<void> {
  while (!signal.aborted) {
    const over = await look().catch((cause: Error) => {
      if (!signal.aborted) parts.log.warn('a look failed', { cause });
      return false;
    });
    if (over || signal.aborted) return;
    // Rejects when the state is left.
    await setTimeout(parts.pollMs ?? 5000, undefined, { signal }).catch(() => {});
  }
}

async function download({ parts, row, telling, t, move }: Core, { signal }: At): Promise<void> {
  const { offer } = row.memory;
  if (!offer) throw failed('not_found', 'Nothing is on offer.');
  const { downloads } = parts;
  await downloads.sweep(offer);
  const tell = (bytes: number) =>
    telling.tell(t('stepDownload'), Math.floor((100 * bytes) / offer.size), bytes, offer.size);
  await downloads.fetch(offer, tell, signal);
  await move('fetched');
  if (row.memory.job) await move('prepare');
}

async function restart({ move, seconds }: Core, when: 'now' | 'night'): Promise<void> {
  if (when === 'night') await move('night', { job: null, since: seconds() });
  else await move('restart', { job: null });
}

const errorOf = ({ t, seconds }: Core, reason: UpdateReason) => ({ reason, text: t(reason), at: seconds() });

/** Reasons that spoil what was downloaded: it would be refused again. */
const spoilt: readonly UpdateReason[] = [
  'bad_signature',
  'bad_bundle',
  'wrong_version',
  'other_device',
  'too_old',
];

/** Ends what was under way: remembers why, and says what is still on offer. */
async function fail(core: Core, cause: Error): Promise<void> {
  const { parts, row, move } = core;
  const e = cause as IngleError;
  // What is refused without a word that is known is no bundle of ours.
  const otherwise = e.code === 'invalid_request' ? 'bad_bundle' : 'install_failed';
  const reason = (e.details?.['reason'] as UpdateReason | undefined) ?? reasonOf(e.message ?? '', otherwise);
  parts.log.warn('the update failed', { reason, cause: e });
  if (spoilt.includes(reason)) await parts.downloads.sweep();
  const { offer } = row.memory;
  await move('failed', { error: errorOf(core, reason), job: null, passage: null });
  if (offer && row.state === 'idle') await move('offered');
}

async function end(core: Core, event: 'came_up' | 'fell_back'): Promise<void> {
  const { parts, row, move, slots, seconds } = core;
  const p = row.memory.passage!;
  const f = await slots.look();
  const ok = event === 'came_up';
  const target = [f.running, f.other].find((s) => s?.name === p.to.slot);
  const result: Result = {
    ok,
    kind: p.kind,
    from: p.from.version,
    to: p.to.version,
    reason: ok ? '' : target?.good ? 'not_started' : 'not_healthy',
    text: ok ? '' : parts.boot.health(p.to.version),
    at: seconds(),
  };
  const known = row.memory.offer;
  const offer = known && isNewer(known.version, f.version) ? known : null;
  await keepResult(parts.store, result);
  await move(event, { result, passage: null, job: null, offer, error: null, since: 0 });
  parts.events.result(result);
  if (offer) await move('offered');
  parts.log.notice(ok ? 'the version that was started stays' : 'the hub went back', { ...result });
}

/** @param looked called once RAUC has said what runs */
async function goOn(core: Core, looked: () => void): Promise<void> {
  const { parts, row, slots, move } = core;
  const f = await slots.look();
  await row.remember({ seen: { ...row.memory.seen, [f.running.name]: f.version } });
  looked();
  const p = row.memory.passage;
  const boot = { boot_id: parts.boot.id, slot: f.running.name, committed: parts.boot.committed() };
  const outcome = p ? judge(p, boot) : 'same_boot';
  // An installation that was cut goes on: there `fell_back` is no move of the table.
  if (outcome === 'on_trial' && row.can(outcome)) return move(outcome);
  if ((outcome === 'came_up' || outcome === 'fell_back') && row.can(outcome)) return end(core, outcome);
  row.resume();
}
