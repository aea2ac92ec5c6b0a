// The ladder's tests of sound: the whole wizard first, and a quick look once there is a network.
import { toIngleError } from '../protocol/errors.ts';
import { type At, askOwner, type Core, isOwned } from './core.ts';
import { afterAudio, afterRetest } from './owner.ts';
import type { AudioOutcome } from './ports.ts';

const failed = (e: unknown): AudioOutcome => ({ ok: false, reason: toIngleError(e).code });

/** AUDIO: gives way to the channels when it takes too long. */
export async function probe(core: Core, here: At): Promise<void> {
  const { ladder, ports, time } = core;
  here.after(time.audio, 'audio_late');
  await ladder.remember({ mode: 'audio', attempts: ladder.memory.attempts + 1 });
  core.onProgress('audio', 'start', 'audio_testing', {});
  const outcome = await ports.audio.probe(here.signal).catch(failed);
  if (here.signal.aborted) return;
  await tell(core, outcome);
  const online = outcome.ok && (await ports.online().catch(() => false));
  if (online) await askOwner(core);
  await here.move(afterAudio(outcome.ok, { online, owned: isOwned(core) }));
}

/** RETEST. */
export async function retest(core: Core, here: At): Promise<void> {
  const { ladder, ports, time } = core;
  core.onProgress('audio', 'start', 'audio_retest', {});
  const late = AbortSignal.timeout(time.retest);
  const outcome = await Promise.race([
    ports.audio.retest(AbortSignal.any([here.signal, late])).catch(failed),
    lateAnswer(late),
  ]);
  if (here.signal.aborted) return;
  await tell(core, outcome);
  await here.move(afterRetest(outcome.ok, { owned: isOwned(core), byHand: ladder.memory.by_hand }));
}

function lateAnswer(signal: AbortSignal): Promise<AudioOutcome> {
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve({ ok: false, reason: 'late' }), { once: true }),
  );
}

async function tell({ ladder, onProgress }: Core, outcome: AudioOutcome): Promise<void> {
  const { ok, reason, sink_id, source_id } = outcome;
  if (ok && sink_id && source_id) await ladder.remember({ verified_profile: { sink_id, source_id } });
  onProgress('audio', ok ? 'ok' : 'failed', ok ? 'audio_ok' : 'audio_failed', { reason });
}
