// The acts of one skill's screen. What does them is loaded with the first of them.
import type { Own } from '../firmware/ui/own.ts';
import type { Doing, Pages } from './doing.ts';
import type { Drawing, Rows } from './drawing.ts';
import { failed, loaded } from './entrance.ts';
import type { Icon } from './store.ts';

export interface Acts extends Pick<Drawing, 'act' | 'rows'> {
  /** The state with what was set here and nowhere else. */
  over: Own['over'];
}

/**
 * @param state what its documents make of the state now
 * @param changed is told when something was set here
 * @param own what an app has of its own: where its pages lead, and where rows come from
 */
export function openActs(
  icon: Icon,
  state: () => unknown,
  changed: () => void,
  own: { page?: Pages; rows?: Rows['page'] } = {},
): Acts {
  const again: Rows['again'] = new Map();
  let doing: Doing | undefined;
  const load = async (): Promise<Doing> => {
    const { openDoing } = await loaded(import('./doing.ts'));
    doing ??= openDoing(icon, again, state, changed, own.page);
    return doing;
  };
  return {
    rows: { again, page: own.rows ?? (async (asked, stop) => (await load()).page(asked, stop)) },
    over: (of) => (doing ? doing.over(of) : of),
    async act(act, scope, o) {
      try {
        return await (await load()).act(act, scope, o);
      } catch (e) {
        failed(e);
        return { done: false };
      }
    },
  };
}
