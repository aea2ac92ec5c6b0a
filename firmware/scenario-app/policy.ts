// The policy of an app's pages: they write in their own part of the view model, and ask skills for what their permissions
// name. All else is refused, with the reason. Pure.
import type { Act, Lazy, Path } from '../ui/tree.ts';

/** Skill -> what an app may ask of it. */
export type Contracts = ReadonlyMap<string, readonly string[]>;

/** Hears why something was refused. */
export type Say = (code: string, hint: string) => void;

/** Each decision gives what may be done, with the skill it goes to; null where that is refused. */
export interface Policy {
  act(act: Act, say: Say): Act | null;
  /** The rows of a table. */
  rows(rows: Lazy, say: Say): Lazy | null;
  /** Whether the app may write at a place. */
  writes(at: Path, say: Say): boolean;
  /** The skill that answers a contract; null where the app may not ask it. */
  target(contract: string, target?: string): string | null;
}

export function policyOf(id: string, contracts: Contracts): Policy {
  function target(contract: string, given?: string): string | null {
    if (given === undefined) {
      const found = [...contracts].find(([, names]) => names.includes(contract));
      return found ? found[0] : id;
    }
    return given === id || contracts.get(given)?.includes(contract) ? given : null;
  }

  function asked(contract: string, of: string | undefined, say: Say): string | null {
    const to = target(contract, of);
    if (to) return to;
    say(
      'not_permitted',
      `"permissions" does not name "${contract.slice(0, 80)}" of ${(of ?? id).slice(0, 64)}.`,
    );
    return null;
  }

  const outside = (say: Say) =>
    say('outside', `An app writes in its own part of the view model only: $.${id}.…`);

  function writes({ path }: Path, say: Say): boolean {
    const [root, model, part] = path;
    // Null stands for all items of a list, and a value has one place.
    const isOwn =
      root === 'state' && model === 'viewModel' && part === id && path.length > 3 && !path.includes(null);
    if (!isOwn) outside(say);
    return isOwn;
  }

  return {
    target,
    writes,
    rows(rows, say) {
      const to = asked(rows.query, rows.target, say);
      return to ? { ...rows, target: to } : null;
    },
    act(act, say) {
      switch (act.do) {
        case 'go':
          return act;
        case 'set':
          return writes(act.at, say) ? act : null;
        case 'query': {
          const to = asked(act.query, act.target, say);
          return to ? { ...act, target: to } : null;
        }
        case 'action': {
          const to = asked(act.id, act.target, say);
          if (!to) return null;
          // The first step is a name and no expression, so that what a link or a row says cannot lead elsewhere.
          const isOutside = (act.meanwhile ?? []).some(({ at }) => at[0] !== id || at.length < 2);
          if (isOutside) outside(say);
          return isOutside ? null : { ...act, target: to };
        }
        default:
          say('not_permitted', 'A page asks by ui.action and ui.query.');
          return null;
      }
    },
  };
}
