// Whether the local API answers: asked for browsers that ask the hub for a sign of life, and by nobody else.
import { get } from 'node:http';

/** An answer holds for so long, and takes no longer than that in an API that lives, milliseconds. */
const FRESH = 1000;

/** Looks at the local API's `/health/live` at most once a second, however many browsers ask. */
export function apiServing(api: { host: string; port: number }): () => Promise<boolean> {
  let looked = -Infinity;
  let last: Promise<boolean> = Promise.resolve(true);
  return () => {
    const now = performance.now();
    if (now - looked < FRESH) return last;
    looked = now;
    last = answers(api);
    return last;
  };
}

function answers({ host, port }: { host: string; port: number }): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = get(
      { host, port, path: '/health/live', agent: false, signal: AbortSignal.timeout(FRESH) },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode === 200);
      },
    );
    asked.on('error', () => resolve(false));
  });
}
