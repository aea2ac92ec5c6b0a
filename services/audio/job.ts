// The one job that may use the microphone, and the listening that gives way to each of them.
import { IngleError } from '../../firmware/protocol/errors.ts';
import { openQueue } from '../../firmware/protocol/queue.ts';

type Work<T> = (signal: AbortSignal) => Promise<T>;

export type Job = ReturnType<typeof openJob>;

export function openJob() {
  let job: { name: string; abort: AbortController } | undefined;
  /** Of those that wait for one that was cancelled. */
  const coming = new Set<AbortController>();
  /** The patient work under way. */
  let patient: { abort: AbortController; gone: Promise<unknown> } | undefined;
  const waiting = openQueue();
  const moment = () => new Promise((resolve) => setTimeout(resolve, 100));

  async function exclusive<T>(name: string, work: Work<T>): Promise<T> {
    const mine = { name, abort: new AbortController() };
    // Who stops the hub and speaks again at once need not know that the recorder is only just closing.
    coming.add(mine.abort);
    while (job?.abort.signal.aborted) await moment();
    coming.delete(mine.abort);
    if (mine.abort.signal.aborted) throw new IngleError('conflict', 'It was cancelled before it began.');
    if (job)
      throw new IngleError('conflict', `The sound is in use (${job.name}). Wait for its end, or cancel it.`);
    job = mine;
    try {
      patient?.abort.abort();
      await patient?.gone;
      return await work(mine.abort.signal);
    } finally {
      if (job === mine) job = undefined;
    }
  }
  return {
    /** Runs now, or once one that was cancelled is gone. @throws IngleError `conflict` while another job runs */
    exclusive,
    /** Runs after the job at work and what waits already: a spoken password must not be lost to a running test. */
    queued<T>(name: string, work: Work<T>): Promise<T> {
      return waiting.add(async () => {
        while (job) await moment();
        return exclusive(name, work);
      });
    },
    /**
     * Runs while nothing else does. A job that comes ends it at once, and it begins anew after that, until it has an
     * answer or `until` is aborted.
     */
    async patiently<T>(until: AbortSignal, work: Work<T>): Promise<T | undefined> {
      while (!until.aborted) {
        if (job) {
          await moment();
          continue;
        }
        const abort = new AbortController();
        const ended = () => abort.abort();
        until.addEventListener('abort', ended, { once: true });
        const working = work(abort.signal);
        const mine = { abort, gone: working.catch(() => {}) };
        patient = mine;
        try {
          const answer = await working;
          if (!abort.signal.aborted) return answer;
        } catch (e) {
          // What was cut short may fail for that.
          if (!abort.signal.aborted) throw e;
        } finally {
          until.removeEventListener('abort', ended);
          if (patient === mine) patient = undefined;
        }
      }
      return undefined;
    },
    cancel(): void {
      job?.abort.abort();
      for (const c of coming) c.abort();
    },
    idle: (): boolean => job === undefined && waiting.size === 0,
  };
}
