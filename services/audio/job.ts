// The one job that may use the microphone.
import { IngleError } from '../../firmware/protocol/errors.ts';
import { openQueue } from '../../firmware/protocol/queue.ts';

type Work<T> = (signal: AbortSignal) => Promise<T>;

export type Job = ReturnType<typeof openJob>;

export function openJob() {
  let job: { name: string; abort: AbortController } | undefined;
  const waiting = openQueue();

  async function exclusive<T>(name: string, work: Work<T>): Promise<T> {
    if (job)
      throw new IngleError('conflict', `The sound is in use (${job.name}). Wait for its end, or cancel it.`);
    const mine = { name, abort: new AbortController() };
    job = mine;
    try {
      return await work(mine.abort.signal);
    } finally {
      if (job === mine) job = undefined;
    }
  }
  return {
    /** Runs now. @throws IngleError `conflict` while another job runs */
    exclusive,
    /** Runs after the job at work and what waits already: a spoken password must not be lost to a running test. */
    queued<T>(name: string, work: Work<T>): Promise<T> {
      return waiting.add(async () => {
        while (job) await new Promise((resolve) => setTimeout(resolve, 100));
        return exclusive(name, work);
      });
    },
    cancel: (): void => job?.abort.abort(),
    idle: (): boolean => job === undefined && waiting.size === 0,
  };
}
