// What a node knows of itself, and how it stays a node: Redis grants it time, again and again.
import { random, toBase64url } from '../../firmware/protocol/bytes.ts';
import { log } from '../log.ts';
import { type Member, PART, type Registry } from './registry.ts';
import { openTenure, type Tenure, times } from './tenure.ts';

/** How often a node says again which hubs are at home in it, milliseconds: Redis forgets what is not said for a week. */
const SAY_AGAIN = 6 * 3600_000;

/** A renewal that has not come by then is missed, milliseconds: the others are asked whether Redis is gone for them, too. */
const MISSED_MS = 700;

export interface Node {
  me: Member;
  tenure: Tenure;
  /** Redis did not answer when it was last asked. */
  isGone: boolean;
  /** The run of Redis that this node knows. */
  run: string;
  /** It ends: nobody is to be sent here any more. */
  isLeaving: boolean;
}

const now = () => performance.now();

/** Whether it succeeds before it is missed. */
async function inTime(work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), MISSED_MS);
  });
  const done = work.then(
    () => true,
    () => false,
  );
  return Promise.race([done, late]).finally(() => clearTimeout(timer));
}

/**
 * A node that has just begun. The relay is opened with it, before there are lines.
 * @param peer where the others reach it, host:port @param name what the balancer calls it, or ''
 */
export function newNode(peer: string, name = ''): Node {
  const me = { id: toBase64url(random(9)), peer, name };
  return { me, tenure: openTenure(now), isGone: true, run: '', isLeaving: false };
}

interface Options {
  node: Node;
  registry: Registry;
  /** Hubs that are at home here. */
  hubs(): string[];
  /** Hubs that have their home elsewhere by now. */
  lost(hubs: readonly string[]): void;
  /** The other nodes there are. */
  others(members: readonly Member[]): void;
  /** When another node was asked that then said that Redis is gone for it, too; -Infinity: it did not say so. */
  goneAt(id: string): number;
  /** Another node may have taken this one's place: nothing of what it had counts. */
  anew(): void;
}

/** Keeps a node going until `close`. */
export function keepGoing({ node, registry, ...o }: Options) {
  let members: Member[] = [];
  let saidAll = Number.NEGATIVE_INFINITY;
  /** From then on Redis's list of nodes is whole. */
  let whole = Number.NEGATIVE_INFINITY;

  /** As the others are to know it: one that could take no hubs has no name. */
  const shown = (me: Member): Member => (node.tenure.mayTake() && !node.isLeaving ? me : { ...me, name: '' });

  async function renew(): Promise<void> {
    const { me, tenure } = node;
    const asked = now();
    let { nodes, run, lapsed } = await registry.renew(shown(me), times.grant, []);
    if (node.me !== me) return;
    const isNew = run !== node.run;
    // What was settled with the run before is to be settled anew.
    if (isNew) tenure.missed();
    // It may have been over without this node knowing: its clock stands still while a machine is suspended.
    if (isNew || lapsed || node.isGone || asked - saidAll > SAY_AGAIN) {
      const all = o.hubs();
      for (let i = 0; i < all.length; i += PART) {
        const said = await registry.renew(shown(me), times.grant, all.slice(i, i + PART));
        if (node.me !== me) return;
        if (said.run !== run) throw new Error('Redis began anew once more');
        nodes = said.nodes;
        o.lost(said.lost);
      }
      saidAll = asked;
    }
    node.run = run;
    if (isNew || node.isGone) whole = asked + times.settle;
    if (node.isGone) log('notice', 'Redis answers', { nodes: nodes.length, node: me.id });
    node.isGone = false;
    tenure.granted(asked);
    // A Redis that is just back may not have heard of all of them again.
    const before = now() < whole ? members.filter((m) => !nodes.some((n) => n.id === m.id)) : [];
    members = [...nodes.filter((n) => n.id !== me.id), ...before];
    o.others(members);
  }
  /** Redis does not answer. This node goes on while it is sure that nobody can take its place. */
  async function goOn(asked: number): Promise<void> {
    if (!node.isGone) log('warn', 'Redis does not answer', { node: node.me.id });
    node.isGone = true;
    node.tenure.missed();
    // Each is needed now, so a line that broke is dialled again.
    o.others(members);
    if (members.length === 0 && (await registry.isRefused())) node.tenure.confirmed(asked);
    else confirm();
  }
  /** Counts what the others last said. */
  function confirm(): void {
    if (node.isGone && members.length > 0)
      node.tenure.confirmed(Math.min(...members.map((m) => o.goneAt(m.id))));
  }

  let began = false;
  let hasBegun = false;
  let renewing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let ended = false;
  async function beat(): Promise<void> {
    if (began && !node.tenure.holds()) {
      const until = new Date(Date.now() + node.tenure.until() - now()).toISOString();
      log('warn', 'this node could not show that it is there, and begins anew', { node: node.me.id, until });
      began = false;
      members = [];
      Object.assign(node, newNode(node.me.peer, node.me.name), { isLeaving: node.isLeaving });
      o.anew();
    }
    const asked = now();
    // One at a time. One that comes late still counts.
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
    if (!(await inTime(renewing)) && !ended) await goOn(asked);
    began ||= !node.isGone;
    hasBegun ||= began;
    if (!ended) timer = setTimeout(beat, times.beat);
  }
  void beat();
  return {
    confirm,
    /** Its time is over, and Redis does not answer it: what it is asked for, others may do. */
    isOut: (): boolean => hasBegun && node.isGone && !node.tenure.holds(),
    /** This node and the others, as they are to be known; none while Redis is away, when hubs stay where they are. */
    nodes: (): Member[] => (node.isGone ? [] : [shown(node.me), ...members]),
    close(): void {
      ended = true;
      clearTimeout(timer);
    },
  };
}
