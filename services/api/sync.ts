// /sync/<room>: a WebSocket into a document's room, in the protocol of y-websocket.
import type { Caller } from '../../firmware/documents/acl.ts';
import type { Commands } from '../../firmware/documents/commands.ts';
import {
  commandsSkill,
  type DocumentKey,
  desktopSkills,
  formatKey,
  parseKey,
} from '../../firmware/documents/key.ts';
import type { Member } from '../../firmware/documents/members.ts';
import { closeCode, encodeDenied } from '../../firmware/documents/message.ts';
import { openPasses } from '../../firmware/documents/passes.ts';
import type { Room } from '../../firmware/documents/room.ts';
import { openBucket, type Rate, rate, take } from '../../firmware/protocol/bucket.ts';
import { IngleError, toIngleError } from '../../firmware/protocol/errors.ts';
import type { Log } from '../../firmware/system/log.ts';
import { type Joined, type RightsParts, type RoomRights, roomRights, whose } from './rights.ts';
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

/** @param me whom `me/` stands for, so that nobody has to ask who they are before they join (D172) */
function keyOf(path: string, me?: string): DocumentKey {
  let text: string;
  try {
    text = decodeURIComponent(path.slice('/sync/'.length));
  } catch {
    throw new IngleError('invalid_request', 'The room is not well encoded.');
  }
  return parseKey(me === undefined ? text : text.replace(/^me\//, `${me}/`));
}

/** @param o.messages another rate than a hub's, where something else is measured */
export function syncServer(o: RightsParts & { commands: Commands; log: Log; messages?: Rate }): Sync {
  const rights = roomRights(o);
  const joined = openJoined(rights);
  const passes = openPasses();
  return {
    connect: connector(o, rights, joined),
    async pass(text, caller) {
      const { text: room } = await rights.admit(parseKey(text), caller);
      const pass = passes.give(room, caller);
      joined.renew(room, caller, pass.until);
      return { room, ...pass };
    },
    holder: (path, token) => passes.check(token, formatKey(keyOf(path))),
    expel(which, why) {
      joined.expel(which, why);
      passes.revoke(which);
    },
    expire: joined.expire,
  };
}

type Everybody = ReturnType<typeof openJoined>;

/** Who is in which room, looked at again and again while there is anybody. */
function openJoined({ holds }: RoomRights) {
  const joined = new Map<Socket, Joined>();
  let expiring: NodeJS.Timeout | undefined;

  function expire(): void {
    for (const [socket, j] of joined)
      try {
        holds(j);
      } catch (cause) {
        close(socket, toIngleError(cause));
      }
  }
  return {
    add(socket: Socket, j: Joined): void {
      joined.set(socket, j);
      expiring ??= setInterval(expire, EXPIRE_MS);
    },
    remove(socket: Socket | undefined): void {
      if (socket) joined.delete(socket);
      if (joined.size > 0) return;
      clearInterval(expiring);
      expiring = undefined;
    },
    /** Who is joined by a token goes on, with the role they have now. */
    renew(room: string, caller: Caller, until: number): void {
      for (const j of joined.values())
        if (j.until && j.text === room && whose(j.caller) === whose(caller))
          Object.assign(j, { caller, until });
    },
    expel(which: (key: DocumentKey, who: string) => boolean, why: string): void {
      for (const [socket, { key, caller }] of joined)
        if (which(key, caller?.owner_id ?? '')) close(socket, new IngleError('not_found', why));
    },
    expire,
  };
}

function close(socket: Socket, e: IngleError): void {
  socket.send(encodeDenied(`${e.code}: ${e.message}`));
  socket.end(closeCode(e), `${e.code}: ${e.message}`);
}

/** A class, as there is one for each socket (D184). */
class SocketMember implements Member {
  readonly who: string;
  readonly #socket: Socket;
  readonly #joined: Joined;
  readonly #rights: RoomRights;
  constructor(socket: Socket, joined: Joined, rights: RoomRights) {
    this.who = whose(joined.caller);
    this.#socket = socket;
    this.#joined = joined;
    this.#rights = rights;
  }
  get canWrite(): boolean {
    return this.#rights.mayWrite(this.#joined);
  }
  send(bytes: Uint8Array): void {
    this.#socket.send(bytes);
  }
  cast(bytes: Uint8Array): void {
    this.#socket.cast(this.#joined.text, bytes);
  }
}

/** Makes the events of a socket: it joins, what came meanwhile is heard then, and at its end the room hears of it. */
function connector(
  o: Pick<RightsParts, 'library' | 'skills' | 'desktop'> & { commands: Commands; log: Log; messages?: Rate },
  rights: RoomRights,
  joined: Everybody,
): Sync['connect'] {
  const most = o.messages ?? messages;

  async function command(room: Room, member: Member, j: Joined, bytes: Uint8Array): Promise<void> {
    const taken = o.commands.accept(room.key, j.caller);
    await room.receive(member, bytes, taken.also);
    taken.stored();
  }

  return (path, caller, until) => {
    let socket: Socket | undefined;
    let room: Room | undefined;
    let member: Member | undefined;
    let here: Joined | undefined;
    let isCommand = false;
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
      const admitted = await rights.admit(keyOf(path, caller?.owner_id), caller);
      admitted.until = until;
      const opened = await o.library.open(admitted.text);
      if (over || !socket) return;
      // Another desktop may be in force since.
      rights.holds(admitted);
      here = admitted;
      isCommand = here.key.skill_id === commandsSkill;
      room = opened;
      const s = socket;
      member = new SocketMember(s, admitted, rights);
      joined.add(s, admitted);
      s.subscribe(admitted.text);
      room.join(member);
      if (desktopSkills.includes(here.key.skill_id)) o.desktop.looked?.(here.key.owner_id);
      o.skills.viewersChanged(here.key.owner_id, here.key.skill_id);
      const waited = early!;
      early = undefined;
      for (const bytes of waited) hear(bytes);
    }
    const heardOne = () => void open--;
    function hear(bytes: Uint8Array): void {
      if (over || !room || !member || !here) return;
      open++;
      const heard = isCommand ? command(room, member, here, bytes) : room.receive(member, bytes);
      heard.then(heardOne, fail);
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
        joined.remove(socket);
        if (!room || !member || !here) return;
        room.leave(member);
        o.skills.viewersChanged(here.key.owner_id, here.key.skill_id);
        o.library.left();
      },
    };
  };
}
