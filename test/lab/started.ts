// What a suite needs before its first test: all of it, or an error and nothing left running.

type Running = { stop(): Promise<unknown> } | { close(): unknown };

/**
 * What `starts` came to. When one fails, the others are ended, and the reason is printed: uvu drops the error of a
 * `before` hook, and a house or browser that nobody knows of would keep the file alive until its time is over.
 */
export async function started<T extends readonly Running[]>(
  ...starts: { [K in keyof T]: Promise<T[K]> }
): Promise<T> {
  const all = await Promise.allSettled(starts);
  const failed = all.find((r) => r.status === 'rejected');
  if (!failed) return all.map((r) => (r as PromiseFulfilledResult<Running>).value) as unknown as T;
  for (const r of all)
    if (r.status === 'fulfilled') await ('stop' in r.value ? r.value.stop() : r.value.close());
  console.error(failed.reason);
  throw failed.reason;
}
