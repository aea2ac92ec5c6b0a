// /sync/<room>: a WebSocket into a document's room, in the protocol of y-websocket.
import { type Caller, type Rights, rightsOf } from '../../firmware/documents/acl.ts';
import type { IndexRow } from '../../firmware/documents/archive.ts';
import type { Commands } from '../../firmware/documents/commands.ts';
import {
  commandsSkill,
  type DocumentKey,
  desktopSkills,
  formatKey,
  houseSkills,
  parseKey,
} from '../../firmware/documents/key.ts';
import { isSkillDocument, type Library } from '../../firmware/documents/library.ts';
import { closeCode, encodeDenied } from '../../firmware/documents/message.ts';
import { openPasses } from '../../firmware/documents/passes.ts';
import { isOver, isPreview } from '../../firmware/documents/preview.ts';
import type { Member, Room } from '../../firmware/documents/room.ts';
import { openBucket, type Rate, rate, take } from '../../firmware/protocol/bucket.ts';
import { IngleError, toIngleError } from '../../firmware/protocol/errors.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import type { Log } from '../../firmware/system/log.ts';
import type { Store } from '../../firmware/system/store.ts';
import type { Desktop } from './desktop.ts';
import { usable } from './dispatch.ts';
import type { Socket, SocketEvents } from './server.ts';

export interface Sync {
  /**
   * The events of a socket that asks for `path` (`/sync/<room>`). Refusals are told inside the socket.
   * @param until when it ends, milliseconds since 1970, unless its caller asks for another token meanwhile
   */
  connect(path: string, caller: Caller, until?: number): SocketEvents;
  /**
   * A token by which a browser joins one room of the caller's.
   * @throws IngleError what keeps the caller from joining it
   */
  pass(room: string, caller: Caller): Promise<{ room: string; token: string; until: number }>;
  /** Whom a room token was given to. @throws IngleError `unauthenticated`, `invalid_request` for no room */
  holder(path: string, token: string): { caller: Caller; until: number };
  /** Closes the sockets of documents that go for good, or of who does. @param which by the key and the caller's id */
  expel(which: (key: DocumentKey, who: string) => boolean, why: string): void;
  /** Closes sockets whose right has run out: a passkey checked long ago, a version that is for others, another list or desktop. */
  expire(): void;
}

/** Messages a socket may send a second, and at once. */
const messages = rate(200, 40);
/** Rights that end with time are looked at so often while anybody is joined, milliseconds. */
const EXPIRE_MS = 5000;

interface Joined {
  key: DocumentKey;
  text: string;
  caller: Caller;
  /** When the preview ends, Unix seconds; 0: never. */
  ends: number;
  until?: number | undefined;
}

const whose = (caller: Caller): string => (caller ? `${caller.owner_id}/${caller.browser}` : '');

function keyOf(path: string): DocumentKey {
  let text: string;
  try {
    text = decodeURIComponent(path.slice('/sync/'.length));
  } catch {
    throw new IngleError('invalid_request', 'The room is not well encoded.');
  }
  return parseKey(text);
}

/** @param o.messages another rate than a hub's, where something else is measured */
export function syncServer(o: {
  store: Store;
  library: Library;
  skills: Skills;
  desktop: Pick<Desktop, 'of' | 'serve' | 'roleOf'> & Partial<Pick<Desktop, 'looked'>>;
  commands: Commands;
  log: Log;
  messages?: Rate;
}): Sync {
  const most = o.messages ?? messages;
  const joined = new Map<Socket, Joined>();
  const passes = openPasses();
  let expiring: NodeJS.Timeout | undefined;

  /** What may end while a document is open. @throws IngleError */
  function stays({ owner_id, skill_id }: DocumentKey, caller: Caller): void {
    if (!houseSkills.includes(skill_id)) usable(o, skill_id, caller);
    else if (caller && desktopSkills.includes(skill_id) && o.desktop.roleOf(owner_id) !== caller.role)
      throw new IngleError('forbidden', 'You may not open this document.');
  }

  /** What a caller may do with a document that is open. @throws IngleError where it is closed to the caller */
  function rightsNow({ key, text, caller, ends }: Joined): Rights {
    if (ends > 0 && ends <= Date.now() / 1000)
      throw new IngleError('not_found', 'The time of this preview is over.');
    // A skill that is away for a moment ends nothing; one that goes for good is expelled.
    if (houseSkills.includes(key.skill_id) || o.skills.known().has(key.skill_id)) stays(key, caller);
    return rightsOf(key, o.library.aclNow(text) ?? [], caller);
  }

  /** @throws IngleError where what was open to somebody is so no more */
  function holds(j: Joined): void {
    if ((j.until ?? Infinity) < Date.now())
      throw new IngleError('unauthenticated', 'The room token is over. Ask for another.');
    if (!rightsNow(j).read) throw new IngleError('forbidden', 'You may no longer open this document.');
  }

  /** Checks the right to join; at every join anew. */
  async function admit(key: DocumentKey, caller: Caller): Promise<Joined> {
    const text = formatKey(key);
    const indexed = () => o.store.get<IndexRow>('SELECT * FROM docs_index WHERE key = ?', text);
    let index = await indexed();
    const rights = rightsOf(key, o.library.acl(key, index), caller);
    if (!rights.read) throw new IngleError('forbidden', 'You may not open this document.');
    const ofDesktop = desktopSkills.includes(key.skill_id);
    if (caller && caller.role !== 'member' && ofDesktop && caller.owner_id === key.owner_id) {
      await o.skills.addOwner(caller.owner_id);
      await o.desktop.serve({ owner_id: caller.owner_id, role: caller.role });
      index = await indexed();
    }
    stays(key, caller);
    if (isPreview(key.branch) && (!index || isOver(index, Date.now() / 1000)))
      throw new IngleError('not_found', 'There is no such preview, or its time is over.');
    if (isSkillDocument(key) && !index && houseSkills.includes(key.skill_id))
      throw new IngleError('not_found', 'There is no such document.');
    if (caller !== null) await o.skills.addOwner(caller.owner_id);
    // Who joins here looks at it: one that sleeps starts while the document is read.
    if (key.doc_type === 'state' && !houseSkills.includes(key.skill_id)) o.skills.rouse(key.skill_id);
    const ends = isPreview(key.branch) && index ? index.updated_at + index.ttl_sec : 0;
    return { key, text, caller, ends };
  }

  /** The right to write, at each write anew: what ended a moment ago is not written any more. */
  function mayWrite(j: Joined): boolean {
    try {
      return rightsNow(j).write;
    } catch {
      return false;
    }
  }

  function connect(path: string, caller: Caller, until?: number): SocketEvents {
    let socket: Socket | undefined;
    let room: Room | undefined;
    let member: Member | undefined;
    let here: Joined | undefined;
    const bucket = openBucket(most, Date.now());
    /** What came before the room was open; then undefined. */
    let early: Uint8Array[] | undefined = [];
    /** Messages whose effect is not on the disk yet. */
    let open = 0;
    let over = false;

    function fail(cause: unknown): void {
      if (over) return;
      over = true;
      const e = toIngleError(cause);
      if (e.code === 'internal') o.log.error('a document socket failed', { cause: cause as Error });
      if (socket) close(socket, e);
    }
    async function join(): Promise<void> {
      const admitted: Joined = { ...(await admit(keyOf(path), caller)), until };
      const opened = await o.library.open(admitted.text);
      if (over || !socket) return;
      // Another desktop may be in force since.
      holds(admitted);
      here = admitted;
      room = opened;
      const [s, topic] = [socket, admitted.text];
      member = {
        who: whose(caller),
        get canWrite() {
          return mayWrite(admitted);
        },
        send: (bytes) => s.send(bytes),
        cast: (bytes) => s.cast(topic, bytes),
      };
      joined.set(s, admitted);
      expiring ??= setInterval(expire, EXPIRE_MS);
      s.subscribe(topic);
      room.join(member);
      if (desktopSkills.includes(here.key.skill_id)) o.desktop.looked?.(here.key.owner_id);
      o.skills.viewersChanged(here.key.owner_id, here.key.skill_id);
      const waited = early!;
      early = undefined;
      for (const bytes of waited) hear(bytes);
    }
    function hear(bytes: Uint8Array): void {
      if (over || !room || !member || !here) return;
      open++;
      receive(room, member, here, bytes).then(() => open--, fail);
    }
    async function receive(room: Room, member: Member, j: Joined, bytes: Uint8Array): Promise<void> {
      if (j.key.skill_id !== commandsSkill) return room.receive(member, bytes);
      const taken = o.commands.accept(room.key, j.caller);
      await room.receive(member, bytes, taken.also);
      taken.stored();
    }
    return {
      open(s) {
        socket = s;
        join().catch(fail);
      },
      message(bytes, isBinary) {
        if (over) return;
        if (!isBinary) return fail(new IngleError('invalid_request', 'Sync messages are binary.'));
        if (!take(bucket, most, Date.now()) || open + (early?.length ?? 0) > most.burst)
          return fail(new IngleError('rate_limited', 'Too many messages.'));
        if (early) early.push(bytes);
        else hear(bytes);
      },
      close() {
        over = true;
        if (socket) joined.delete(socket);
        if (joined.size === 0) {
          clearInterval(expiring);
          expiring = undefined;
        }
        if (!room || !member || !here) return;
        room.leave(member);
        o.skills.viewersChanged(here.key.owner_id, here.key.skill_id);
        o.library.left();
      },
    };
  }

  function close(socket: Socket, e: IngleError): void {
    socket.send(encodeDenied(`${e.code}: ${e.message}`));
    socket.end(closeCode(e), `${e.code}: ${e.message}`);
  }

  function expire(): void {
    for (const [socket, j] of joined)
      try {
        holds(j);
      } catch (cause) {
        close(socket, toIngleError(cause));
      }
  }

  return {
    connect,
    async pass(text, caller) {
      const { text: room } = await admit(parseKey(text), caller);
      const pass = passes.give(room, caller);
      // Who is joined goes on with the role they have now.
      for (const j of joined.values())
        if (j.until && j.text === room && whose(j.caller) === whose(caller))
          Object.assign(j, { caller, until: pass.until });
      return { room, ...pass };
    },
    holder: (path, token) => passes.check(token, formatKey(keyOf(path))),
    expel(which, why) {
      for (const [socket, { key, caller }] of joined)
        if (which(key, caller?.owner_id ?? '')) close(socket, new IngleError('not_found', why));
      passes.revoke(which);
    },
    expire,
  };
}
