// A part that comes when it is first drawn; the bones of a screen stand there until then.
import { html } from 'htm/preact';
import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { failed } from './entrance.ts';
import { Bones } from './open.ts';

/** As `later`, for what stands on the desktop: what cannot be loaded is told, and the page stays. */
export function part<P extends { title: string }>(
  load: () => Promise<FunctionComponent<P>>,
): FunctionComponent<P> {
  let here: FunctionComponent<P> | undefined;
  return (o) => {
    const [, draw] = useState(false);
    useEffect(() => {
      if (!here)
        load().then((it) => {
          here = it;
          draw(true);
        }, failed);
    }, []);
    return here ? html`<${here} ...${o} />` : html`<${Bones} title=${o.title} />`;
  };
}
