// The scenarios of a hub and the other hubs of its subnet, over io.ingle.Uplink1: who does a run, that a member has
// something to do, and what this hub as a member has done.
import { IngleError } from '../protocol/errors.ts';
import type { Bus } from '../system/bus.ts';
import { isAbsent } from '../system/bus-errors.ts';
import type { Log } from '../system/log.ts';
import { uplink1 } from '../uplink/contract.ts';
import type { Clock } from './clock.ts';
import type { Runs } from './engine.ts';
import type { Answer } from './errands-taken.ts';
import { placementOf, wordsOf } from './placement.ts';

/** A member that was told of something to do and did not ask is told again, milliseconds. */
const AGAIN = 30_000;
/** The hub that leads may take this long; the uplink gives up sooner. */
const ASK_MS = 30_000;

export interface SubnetOptions {
  bus: Bus;
  clock: Clock;
  log: Log;
  /** What this hub has, as `has:mic`. */
  has: ReadonlySet<string>;
  runs(): Pick<Runs, 'nodes' | 'parted' | 'live'>;
}

export function openScenarioSubnet({ bus, clock, log, has, runs }: SubnetOptions) {
  const uplink = bus.client(uplink1);
  const untold = new Map<string, () => void>();

  /** A member has something to do; it is told until it asks. */
  function nudge(node: string): void {
    untold.get(node)?.();
    untold.set(
      node,
      clock.after(AGAIN, () => runs().nodes().includes(node) && nudge(node)),
    );
    uplink.NudgeNode({ hub_id: node }).catch((cause) => {
      if (!isAbsent(cause)) log.info('a member is not told of its errands', { node, cause });
    });
  }
  /** A hub where no uplink runs is alone. */
  async function role(): Promise<'hub' | 'member'> {
    const told = await uplink.Subnet({}).catch((cause) => {
      if (isAbsent(cause)) return { role: 'hub' };
      throw cause;
    });
    return told.role === 'member' ? 'member' : 'hub';
  }
  async function members() {
    const { role, nodes } = await uplink.Subnet({});
    return role === 'member' ? [] : nodes;
  }
  /** Who was let go while nobody looked does nothing any more. */
  async function look(): Promise<void> {
    if (runs().nodes().length === 0) return;
    const nodes = await members();
    for (const node of runs().nodes()) {
      const n = nodes.find((m) => m.hub_id === node);
      if (!n || n.state === 'left') await runs().parted(node);
      else nudge(node);
    }
  }
  const end = bus.onSignal(uplink1, 'Node', ({ hub_id, state }) => {
    if (!runs().nodes().includes(hub_id)) return;
    if (state === 'left')
      runs()
        .parted(hub_id)
        .catch((cause) => log.error('a run is not ended', { cause }));
    else if (state === 'here') nudge(hub_id);
  });

  return {
    nudge,
    look,
    role,
    /** A member has asked what there is to do. */
    heard(node: string): void {
      untold.get(node)?.();
      untold.delete(node);
    },
    /**
     * The member that does a run; undefined: this hub.
     * @param stays it is for this hub alone
     * @throws IngleError `not_supported`: no hub has what it needs
     */
    async place(constraints: readonly string[], stays: boolean): Promise<string | undefined> {
      const own = placementOf(constraints, has, []);
      if (own.at === 'here') return undefined;
      if (stays && own.at === 'none')
        throw new IngleError(
          'not_supported',
          `This hub has no ${wordsOf(own.lacks)}, which the scenario needs.`,
          { lacks: wordsOf(own.lacks) },
        );
      const loads = runs()
        .live()
        .map((v) => v.row.away);
      const candidates = (await members()).map(({ hub_id, state, caps }) => ({
        ...{ hub_id, isHere: state === 'here', has: new Set(caps) },
        load: loads.filter((node) => node === hub_id).length,
      }));
      const place = placementOf(constraints, has, candidates);
      if (place.at !== 'none') return place.at === 'member' ? place.hub_id : undefined;
      const what = wordsOf(place.lacks);
      throw new IngleError(
        'not_supported',
        candidates.length > 0
          ? `No hub of the subnet that is reached has what the scenario needs: ${what}.`
          : `This hub has no ${what}, which the scenario needs.`,
        { lacks: what },
      );
    },
    async ask(report: object): Promise<Answer> {
      const { via, answer } = await uplink.Errands({ report: JSON.stringify(report) }, ASK_MS);
      return { via, ...(JSON.parse(answer) as Omit<Answer, 'via'>) };
    },
    stop(): void {
      for (const cancel of untold.values()) cancel();
      void end.then((off) => off()).catch(() => {});
    },
  };
}
