// What the uplink remembers of its subnet, in tables of their own: the members it leads, and where it is a member itself.
import type { Membership } from '../subnet/membership.ts';
import type { Node } from '../subnet/node.ts';
import type { Store } from '../system/store.ts';
import { put } from './store-people.ts';

export const subnetSchema = `CREATE TABLE node (
     hub_id TEXT PRIMARY KEY, static_pub TEXT NOT NULL, sign_pub TEXT NOT NULL, bond TEXT NOT NULL, state TEXT NOT NULL,
     since INTEGER NOT NULL, heard_at INTEGER NOT NULL, untold INTEGER NOT NULL, name TEXT NOT NULL,
     version TEXT NOT NULL, caps TEXT NOT NULL) STRICT;
   CREATE TABLE membership (
     one INTEGER PRIMARY KEY CHECK (one = 1), stage TEXT NOT NULL, owner_id TEXT NOT NULL, subnet_id TEXT NOT NULL,
     via TEXT NOT NULL, via_static TEXT NOT NULL, via_sign TEXT NOT NULL, bond TEXT NOT NULL, key TEXT NOT NULL,
     alone_owner TEXT NOT NULL, alone_subnet TEXT NOT NULL) STRICT;`;

/** Every table of the schema above. */
export const subnetTables = ['node', 'membership'] as const;

/** Keeps a membership, or none. */
export async function putMembership(t: Pick<Store, 'run'>, m: Membership | undefined): Promise<void> {
  if (!m) await t.run('DELETE FROM membership');
  else
    await put(t, 'membership', [
      ...[1, m.stage, m.owner_id, m.subnet_id, m.via, m.via_static, m.via_sign, m.bond, m.key],
      ...[m.alone_owner, m.alone_subnet],
    ]);
}

/** What is asked of those tables. */
export function subnetStore(db: Store) {
  return {
    async nodes(): Promise<Node[]> {
      const rows = await db.all('SELECT * FROM node ORDER BY since, hub_id');
      return rows.map((r) => {
        const caps = JSON.parse(r['caps'] as string) as string[];
        return { ...r, untold: r['untold'] === 1, caps } as unknown as Node;
      });
    },
    putNode: (n: Node) =>
      put(db, 'node', [
        ...[n.hub_id, n.static_pub, n.sign_pub, n.bond, n.state, n.since, n.heard_at, n.untold ? 1 : 0],
        ...[n.name, n.version, JSON.stringify(n.caps)],
      ]),
    dropNode: (hubId: string) => db.run('DELETE FROM node WHERE hub_id = ?', hubId),
    async membership(): Promise<Membership | undefined> {
      const row = await db.get('SELECT * FROM membership');
      if (!row) return undefined;
      const { one: _, ...m } = row;
      return m as unknown as Membership;
    },
    setMembership: (m: Membership | undefined) => putMembership(db, m),
  };
}
