// A component that comes when it is first drawn.
import { html } from 'htm/preact';
import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { stuck } from './connection.ts';
import { loaded } from './entrance.ts';

/** @param load brings it; @param Meanwhile stands in its place */
export function later<P extends object>(
  load: () => Promise<FunctionComponent<P>>,
  Meanwhile: FunctionComponent,
): FunctionComponent<P> {
  let there: FunctionComponent<P> | null = null;
  return (props) => {
    const [, draw] = useState(there !== null);
    useEffect(() => {
      if (!there)
        loaded(load()).then((it) => {
          there = it;
          draw(true);
        }, stuck);
    }, []);
    return there ? html`<${there} ...${props} />` : html`<${Meanwhile} />`;
  };
}
