// The members of the subnet this hub leads: read from memory, written through, and looked after by the clock.
import { IngleError } from '../protocol/errors.ts';
import { MOST_MEMBERS } from '../protocol/limits.ts';
import { after, type Node, openWatch, type Said } from '../subnet/node.ts';
import type { Shown } from '../subnet/papers.ts';
import type { UplinkStore } from './store.ts';

/** How long a hub that knew the secret of a code may take to show its papers, seconds. */
const PROVEN_TTL = 600;
/** Hubs that owe their papers at one time; a code makes one. */
const MOST_PROVEN = 8;
/** Members that left and are still told of. */
const MOST_LEFT = 8;
/** Looks in the time of one heartbeat. */
const LOOKS = 3;

export type Nodes = Awaited<ReturnType<typeof openNodes>>;

/** @param o.interval seconds between heartbeats @param o.listening whether members could be heard now */
export async function openNodes(o: {
  store: Pick<UplinkStore, 'nodes' | 'putNode' | 'dropNode'>;
  interval: number;
  /** Unix seconds. */
  now(): number;
  /** Milliseconds of a clock nobody sets. */
  passed(): number;
  listening(): boolean;
  changed(n: Node): void;
  failed(e: unknown): void;
}) {
  const nodes = new Map((await o.store.nodes()).map((n) => [n.hub_id, n]));
  const proven = new Map<string, number>();
  const look = (o.interval * 1000) / LOOKS;
  const watch = openWatch({ interval: o.interval * 1000, look }, o.passed);
  // Who was here before this start has as long as ever to be heard.
  for (const n of nodes.values()) if (n.state === 'here' || n.state === 'joined') watch.heard(n.hub_id);

  async function keep(n: Node, before: Node | undefined): Promise<Node> {
    await o.store.putNode(n);
    nodes.set(n.hub_id, n);
    if (n.state !== before?.state) o.changed(n);
    return n;
  }
  const isIn = (n: Node | undefined): n is Node => n !== undefined && n.state !== 'left';
  /** @throws IngleError `not_found` */
  function member(hubId: string): Node {
    const n = nodes.get(hubId);
    if (!isIn(n)) throw new IngleError('not_found', 'There is no such member.');
    return n;
  }
  /** Those that left go, but for the newest and those root has not been told of. */
  async function sweep(): Promise<void> {
    const left = [...nodes.values()].filter((n) => n.state === 'left' && !n.untold);
    for (const n of left.sort((a, b) => b.since - a.since).slice(MOST_LEFT)) {
      nodes.delete(n.hub_id);
      await o.store.dropNode(n.hub_id);
    }
  }

  let timer: NodeJS.Timeout | undefined;
  function looks(): void {
    for (const id of watch.missed(o.listening())) {
      const n = nodes.get(id);
      const gone = n && after(n, 'missed', o.now());
      if (gone && gone !== n) keep(gone, n).catch(o.failed);
    }
  }

  return {
    all: (): Node[] => [...nodes.values()],
    leads: (): boolean => [...nodes.values()].some(isIn),
    member,
    /** The member whose channel has this key. */
    known: (staticPub: string): Node | undefined =>
      [...nodes.values()].find((n) => n.static_pub === staticPub && isIn(n)),
    /** A hub knew the secret of a code. */
    prove(staticPub: string): void {
      proven.delete(staticPub);
      proven.set(staticPub, o.now() + PROVEN_TTL);
      for (const [id, until] of proven) if (o.now() >= until || proven.size > MOST_PROVEN) proven.delete(id);
    },
    isProven: (staticPub: string): boolean => o.now() < (proven.get(staticPub) ?? 0),
    /** @throws IngleError `conflict` unless this hub could be let in now */
    mayJoin(shown: Pick<Shown, 'hub_id' | 'sign_pub'>): void {
      const others = [...nodes.values()].filter((n) => isIn(n) && n.hub_id !== shown.hub_id);
      const was = nodes.get(shown.hub_id);
      // An id stays with its key: root can give neither to another hub.
      if (others.some((n) => n.sign_pub === shown.sign_pub) || (isIn(was) && was.sign_pub !== shown.sign_pub))
        throw new IngleError('conflict', 'Another hub of this subnet has this id or this key.');
      if (others.length >= MOST_MEMBERS)
        throw new IngleError('conflict', 'This subnet has as many hubs as it can have.');
    },
    /** Lets a hub in, or in anew. */
    async admit(of: Pick<Node, 'hub_id' | 'sign_pub' | 'static_pub' | 'bond'>): Promise<void> {
      const said = { name: '', version: '', caps: [] };
      const at = { state: 'joined' as const, since: o.now(), heard_at: 0, untold: false };
      await keep({ ...of, ...said, ...at }, undefined);
      proven.delete(of.static_pub);
      watch.heard(of.hub_id);
      await sweep();
    },
    /** A member was heard, and may say who it is. @throws IngleError `not_found` */
    async heard(hubId: string, said?: Said): Promise<void> {
      const n = member(hubId);
      const next = { ...after(n, 'heard', o.now()), ...said, heard_at: o.now() };
      watch.heard(hubId);
      // A time alone is not worth a write to flash at each heartbeat.
      if (said || next.state !== n.state) await keep(next, n);
      else nodes.set(hubId, next);
    },
    /** A member leaves (`told`: root knows), or is let go. @throws IngleError `not_found` */
    async part(hubId: string, untold: boolean): Promise<Node> {
      const n = member(hubId);
      watch.forget(hubId);
      const left = await keep({ ...after(n, 'parted', o.now()), untold }, n);
      await sweep();
      return left;
    },
    /** Those that were let go and root does not know of. */
    untold: (): Node[] => [...nodes.values()].filter((n) => n.untold),
    async told(hubId: string): Promise<void> {
      const n = nodes.get(hubId);
      if (n?.untold) await keep({ ...n, untold: false }, n);
    },
    /** The hub has another place; the store's members go with what gave it that. */
    forgetAll(): void {
      for (const id of nodes.keys()) watch.forget(id);
      nodes.clear();
      proven.clear();
    },
    /** Looks from now on. */
    start(): void {
      timer ??= setInterval(looks, look);
    },
    stop: () => clearInterval(timer),
  };
}
