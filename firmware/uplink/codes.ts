// The pairing window: issued one at a time, stored, and told of when a try fails.
import { random, toBase64url } from '../protocol/bytes.ts';
import { IngleError } from '../protocol/errors.ts';
import { ELEVATION_TTL } from '../protocol/limits.ts';
import type { PairingWindow } from '../protocol/pairing/pairing.ts';
import { linkTicket, MAX_NAMED, passkeyName } from '../protocol/pairing/ticket.ts';
import { openQueue } from '../protocol/queue.ts';
import type { Core } from './core.ts';
import { changes } from './enrolment.ts';
import { type Grant, ownerGrant, sameGrant, writeGrant } from './grant.ts';
import { newWindow, pairingLink, type StoredWindow, seenBy, workingWindow } from './pairing-window.ts';

/** An open window with the link to it, and the page where its code can be typed. */
export type Issued = StoredWindow & {
  link: string;
  verify_uri: string;
  /** Somebody took the code before, and no browser was paired with it. */
  taken: boolean;
};

export type Codes = Awaited<ReturnType<typeof openCodes>>;

/** The window of the last process is open again where it was. */
/** @param o.hubProven a hub knew the secret of a code for hubs; it is not let in yet */
export async function openCodes(core: Core, o: { hubProven(staticPub: string): void }) {
  const { store, pins, log, outside } = core;
  let window: PairingWindow | null = null;
  /** Whom the window is for. */
  let grant: Grant = ownerGrant;

  const kept = (work: Promise<unknown>) =>
    void work.catch((e) => log.error('the store did not take a change', { error: e }));

  function install(stored: StoredWindow): void {
    const mine = workingWindow(stored, {
      keep: (w) => window === mine && kept(store.setWindow(w)),
      proven(remoteStatic, w) {
        if (w.grant.kind === 'member') o.hubProven(toBase64url(remoteStatic));
        else kept(pins.prove(toBase64url(remoteStatic), w.new_passkey, w.grant));
        if (window === mine) kept(store.setWindow(undefined));
      },
    });
    window = mine;
    grant = stored.grant;
  }
  const stored = await store.window();
  if (stored) install(stored);

  const drop = () => {
    window = null;
  };
  function failed(sid: string, reason: string, left: number): void {
    outside.warn('pairing failed', { sid, reason, left });
    core.on.pairingFailed({ sid, reason, left });
  }

  const issuing = new Map<string, Promise<Issued>>();
  const issues = openQueue();
  return {
    window: () => window,
    failed,
    /** A window as one web session sees it: its failed tries are told of. */
    seenBy: (sid: string, w: PairingWindow | null): PairingWindow | null =>
      w && seenBy(w, (left, why) => failed(sid, why, left)),
    /** There is no window any more, in this process; the store's goes with what closed it. */
    drop,
    /** Nobody comes in by a window that is for `whom`, a moment from now or later. */
    async close(whom: Grant): Promise<void> {
      await issues.add(async () => {
        if (!window || !sameGrant(grant, whom)) return;
        window = null;
        await store.setWindow(undefined);
      });
    },
    /**
     * A new window takes the place of the one before, so one is made at a time; who asks for the same meanwhile gets
     * that one. Else the link of who asked last could be of the window that was made first. `whom` it lets in: the owner,
     * unless told.
     */
    issue(newPasskey: boolean, whom: Grant = ownerGrant): Promise<Issued> {
      const what = `${newPasskey} ${writeGrant(whom)}`;
      const same = issuing.get(what);
      if (same) return same;
      const mine = issues
        .add(() => issue(core, newPasskey, whom, install, drop))
        .finally(() => issuing.delete(what));
      issuing.set(what, mine);
      return mine;
    },
  };
}

async function issue(
  core: Core,
  newPasskey: boolean,
  grant: Grant,
  install: (w: StoredWindow) => void,
  drop: () => void,
): Promise<Issued> {
  const { place, root, pins, store, ring, log, now, text } = core;
  const i = await place.place();
  const psk = random(32);
  const known = pins.passkeys();
  const names = (some: typeof known) => Promise.all(some.map((p) => passkeyName(p.cred_id)));
  const d = await root.deviceCode(i, {
    ...(grant.kind === 'member' ? { scope: 'member' as const } : {}),
    ...(newPasskey ? { scope: 'new_passkey' as const } : {}),
    ...(grant.kind === 'person' ? { guest: true as const } : {}),
    ...(known.length <= MAX_NAMED
      ? { passkeys: await names(known), guests: await names(known.filter((p) => p.person !== undefined)) }
      : {}),
    ticket: await linkTicket(psk),
  });
  // The code is for the place it was asked for; another may have been adopted meanwhile.
  if (!place.identity || changes(i, place.identity).length > 0)
    throw new IngleError('conflict', text('offerChanged', { root: core.config.root_url }));
  const w = newWindow(d.device_code, d.expires_in, newPasskey, now(), { psk, grant });
  const taken = d.taken_ago !== undefined && !pairedSince(core, now() - d.taken_ago);
  if (taken) {
    core.trouble = text('codeTaken');
    log.warn(core.trouble);
  }
  install(w);
  try {
    await store.setWindow(w);
  } catch (e) {
    // Nobody is told of it, so nobody may come in by it; root holds the code before it for void as well.
    drop();
    throw e;
  }
  log.info('pairing window opened', { expires_at: w.expires_at, new_passkey: newPasskey, whom: grant.kind });
  return { ...w, link: pairingLink(i.app_url, w, ring.keys.e2e[0]!.x), verify_uri: `${i.app_url}/`, taken };
}

/** Whether a code taken then (Unix seconds) led to a browser that proved itself to the hub, or to a member. */
const pairedSince = ({ pins, nodes }: Core, then: number): boolean =>
  pins.browsers().some((b) => Math.max(b.paired_at, b.elevated_until - ELEVATION_TTL) >= then - 2) ||
  nodes.all().some((n) => n.since >= then - 2);
