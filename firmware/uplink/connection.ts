// The connection to root while there is one: its socket, and the web sessions that come through it.
import type { IngleError } from '../protocol/errors.ts';
import { insecureFeature } from '../protocol/noise/seal.ts';
import type { RelayMessage } from '../protocol/wire.ts';
import { dataOf, nameOf, version } from '../system/config.ts';
import type { Codes } from './codes.ts';
import type { Core } from './core.ts';
import { type Direct, openDirect } from './direct.ts';
import { fairFrames } from './fair.ts';
import { showPapers } from './keys.ts';
import { relyingParty } from './passkey.ts';
import { type MemberOptions, type Session, session } from './peer.ts';
import { type Link, link } from './root-socket.ts';
import type { Identity } from './rows.ts';
import { type SealedSecrets, sealedSecrets } from './sealed.ts';
import { apiServing } from './serving.ts';
import { bounds, sessions } from './sessions.ts';
import { type SkillPages, skillPages } from './skill-pages.ts';
import { serviceToken } from './token.ts';

export type Connection = ReturnType<typeof openConnection>;

/** A frame through root, or a message of a data channel. */
type Came = RelayMessage & { straight?: true };

/** What a session has of one connection. */
interface Ends {
  relay: Link['relay'];
  came(m: Came): void;
  sealed: SealedSecrets | undefined;
}

/** What lasts as long as one connection. */
type Sessions = ReturnType<typeof sessions<Session>>;

/** @param o.came root has taken the hub @param o.refused root has not, and not for want of the time */
export function openConnection(core: Core, codes: Codes, o: { came(): void; refused(): void }) {
  const direct = openDirect(core.config, core.outside);
  const sessionOf = sessionMaker(core, codes, direct);
  let live: { link: Link; all: Sessions } | undefined;
  let closed = false;

  function disconnect(): void {
    live?.all.close();
    live?.link.close();
    live = undefined;
  }

  function connect(i: Identity): void {
    // What was asked of root before the end may be answered after it.
    if (closed) return;
    disconnect();
    const sealed = sealedFor(core, codes, i);
    const frame = fairFrames<Came>((m) =>
      m.straight ? all.straight(m.sid, m.frame) : void all.receive(m.sid, m.frame, m.ctr),
    );
    const all = sessions(
      (sid) => sessionOf(sid, i, { relay: (m) => l.relay(m), came: frame, sealed }),
      bounds,
      Date.now,
    );
    const l = link({ ...linkOptions(core, i, all, sealed), frame, pages: pagesOf(core), ...told(all, i) });
    live = { link: l, all };
  }

  /** What the socket tells of itself. */
  function told(all: Sessions, i: Identity) {
    const { outside, place, root, text } = core;
    return {
      over: all.forget,
      refused(e: IngleError) {
        if (root.learnTime(e)) return;
        place.refused();
        core.trouble = root.explained(e).message;
        outside.warn(core.trouble);
        o.refused();
      },
      connected(up: boolean) {
        outside.notice(up ? 'connected to root' : 'root is away', { root: i.root_url, hub_id: i.hub_id });
        core.trouble = up ? '' : text('rootAway', { root: i.root_url });
        if (up) {
          place.accepted();
          o.came();
        } else all.unrouted();
        core.on.connected(up);
      },
    };
  }

  return {
    connect,
    disconnect,
    /** The hub's place was taken, or taken anew. */
    enter(i: Identity, before: Identity | undefined): void {
      if (live && before?.root_url === i.root_url) live.link.reconnect();
      else connect(i);
    },
    /** For good. */
    close(): void {
      closed = true;
      disconnect();
      direct.close();
    },
    isUp: (): boolean => live?.link.connected ?? false,
    sessions: (): Sessions | undefined => live?.all,
  };
}

function linkOptions(
  { config, outside, place, root, ring }: Core,
  i: Identity,
  all: Sessions,
  sealed?: SealedSecrets,
) {
  return {
    ...{ root_url: i.root_url, hub_id: i.hub_id, subnet_id: i.subnet_id, log: outside },
    caps: {
      version,
      e2e: ['noise-ik'],
      ui: ['ui/v0', 'usdl/0.2'],
      features: config.insecure_sealed_secret ? [insecureFeature] : [],
    },
    auth: () => root.auth(place.identity ?? i),
    async request(m: Parameters<Parameters<typeof link>[0]['request']>[0]) {
      if (m.owner_id !== i.owner_id || m.subnet_id !== i.subnet_id) {
        outside.warn('root asks for a foreign owner; refused', { sid: m.sid });
        return null;
      }
      if (!all.accept(m.sid)) return null;
      const sealed_secret = await sealed?.give(m.sid, m.browser_pub);
      return sealed_secret === undefined ? {} : { sealed_secret };
    },
    e2ePub: () => ring.keys.e2e[0]!.x,
  };
}

/** Pages of skills for root, of the owner this hub has now. */
function pagesOf({ config, outside, place }: Core): SkillPages {
  const token = serviceToken(`${dataOf(config, 'api')}/token`);
  return skillPages({
    api: { ...config.api, token },
    owner: () => place.identity?.owner_id,
    now: () => performance.now(),
    refused: (e) => outside.info('a page was refused to root', { why: e.code }),
  });
}

/** The secrets of the insecure debug mode; undefined while it is off, and then nothing anywhere takes one. */
function sealedFor(core: Core, codes: Codes, i: Identity): SealedSecrets | undefined {
  const { config, ring, now, log, text } = core;
  if (!config.insecure_sealed_secret) return undefined;
  return sealedSecrets({
    hubId: i.hub_id,
    hubStatic: () => ring.pairs[0]!.publicKey,
    window: codes.window,
    now,
    used: (what, sid) => log.warn(text(what === 'sealed' ? 'insecureSealed' : 'insecureProven'), { sid }),
  });
}

/** How members of the subnet are let in at this place. */
function membersOf({ nodes, ring, root }: Core, i: Identity): MemberOptions {
  return {
    ...{ nodes, hub: i, keys: root.keys, now: root.time },
    papers: (handshake) => showPapers(ring.keys, i, 'hub', handshake),
    tell: (hubId, signPub) => root.admit(i, hubId, signPub),
  };
}

function sessionMaker(core: Core, codes: Codes, direct: Direct) {
  const { config, ring, store, pins, people, now, log, outside, text, on } = core;
  const serving = apiServing(config.api);
  const token = serviceToken(`${dataOf(config, 'api')}/token`);
  return (sid: string, i: Identity, { relay, came, sealed }: Ends): Session =>
    session(sid, {
      ...{ pins, people },
      members: membersOf(core, i),
      hub: {
        ...{ hub_id: i.hub_id, owner_id: i.owner_id, hub_name: nameOf(config) },
        ...{ version, sign_pub: ring.keys.sign.x },
      },
      party: relyingParty(i.app_url),
      now,
      api: { ...config.api, token },
      serving,
      counters: { reserve: (count) => store.reserve(sid, count, now()) },
      keys: () => ring.pairs,
      window: () => codes.seenBy(sid, codes.window()),
      ...(sealed ? { sealed: () => codes.seenBy(sid, sealed.windowOf(sid)) } : {}),
      relay: (frame, ctr) => relay({ sid, frame, ctr }),
      direct: { ...direct, came: (message) => came({ sid, frame: message, ctr: 0, straight: true }) },
      rotation: () => ring.statement(i.hub_id),
      paired(b) {
        log.notice('paired', { sid, browser: b.id, label: b.label, person: b.person });
        // Who waits for the owner's browser is not told of somebody else's.
        if (b.person === undefined) on.paired({ sid, browser: b.id, label: b.label });
      },
      event(e) {
        if (e.t === 'refused') codes.failed(sid, e.error.code, e.left);
        else if (e.t === 'alarm') {
          core.trouble = text(e.alarm, { root: config.root_url });
          outside.warn(core.trouble, { sid, alarm: e.alarm });
        } else if (e.t === 'open') outside.info('channel open', { sid, browser: e.browser, mode: e.mode });
        else if (e.t === 'way') outside.debug('channel takes another way', { sid, way: e.way, why: e.why });
        else outside.info('channel lost', { sid, why: e.why });
      },
    });
}
