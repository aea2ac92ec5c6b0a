// /sync/<room>: a WebSocket into a document's room, in the protocol of y-websocket.
import { type Caller, rightsOf } from '../../firmware/documents/acl.ts';
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
import { isOver, isPreview } from '../../firmware/documents/preview.ts';
import type { Member, Room } from '../../firmware/documents/room.ts';
import { openBucket, rate, take } from '../../firmware/protocol/bucket.ts';
import { IngleError, toIngleError } from '../../firmware/protocol/errors.ts';
import { openQueue } from '../../firmware/protocol/queue.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import type { Log } from '../../firmware/system/log.ts';
import type { Store } from '../../firmware/system/store.ts';
import type { Desktop } from './desktop.ts';
import { usable } from './dispatch.ts';
import type { Socket, SocketEvents } from './server.ts';

export interface Sync {
  /** The events of a socket that asks for `path` (`/sync/<room>`). Refusals are told inside the socket. */
  connect(path: string, caller: Caller): SocketEvents;
  /** Closes the sockets of documents that go for good. */
  expel(which: (key: DocumentKey) => boolean, why: string): void;
  /** Closes sockets whose right has ended: a passkey checked long ago, a version that is for others, another desktop. */
  expire(): void;
}

/** Messages a socket may send a second, and at once. */
const messages = rate(200, 40);

export function syncServer(o: {
  store: Store;
  library: Library;
  skills: Skills;
  desktop: Pick<Desktop, 'of' | 'serve' | 'roleOf'>;
  commands: Commands;
  log: Log;
}): Sync {
  const joined = new Map<Socket, { key: DocumentKey; caller: Caller; ends: number }>();

  /** What may end while a document is open. @throws IngleError */
  function stays({ owner_id, skill_id }: DocumentKey, caller: Caller): void {
    if (!houseSkills.includes(skill_id)) usable(o, skill_id, caller);
    else if (caller && desktopSkills.includes(skill_id) && o.desktop.roleOf(owner_id) !== caller.role)
      throw new IngleError('forbidden', 'You may not open this document.');
  }

  /** Checks the right to join; at every join anew. `ends`: Unix seconds, 0 for never. */
  async function admit(
    path: string,
    caller: Caller,
  ): Promise<{ key: DocumentKey; canWrite: boolean; ends: number }> {
    let text: string;
    try {
      text = decodeURIComponent(path.slice('/sync/'.length));
    } catch {
      throw new IngleError('invalid_request', 'The room is not well encoded.');
    }
    const key = parseKey(text);
    const ofDesktop = desktopSkills.includes(key.skill_id);
    const indexed = () => o.store.get<IndexRow>('SELECT * FROM docs_index WHERE key = ?', formatKey(key));
    let index = await indexed();
    const rights = rightsOf(key, o.library.acl(key, index), caller);
    if (!rights.read) throw new IngleError('forbidden', 'You may not open this document.');
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
    return { key, canWrite: rights.write, ends };
  }

  function connect(path: string, caller: Caller): SocketEvents {
    let socket: Socket | undefined;
    let room: Room | undefined;
    let member: Member | undefined;
    let key: DocumentKey | undefined;
    const line = openQueue();
    const bucket = openBucket(messages, Date.now());
    let over = false;

    function fail(cause: unknown): void {
      if (over) return;
      over = true;
      const e = toIngleError(cause);
      if (e.code === 'internal') o.log.error('a document socket failed', { cause: cause as Error });
      if (socket) close(socket, e);
    }
    async function join(): Promise<void> {
      const admitted = await admit(path, caller);
      key = admitted.key;
      room = await o.library.open(formatKey(key));
      if (over || !socket) return;
      // Another desktop may be in force since.
      stays(key, caller);
      const s = socket;
      member = { canWrite: admitted.canWrite, send: (bytes) => s.send(bytes) };
      joined.set(s, { key, caller, ends: admitted.ends });
      room.join(member);
      o.skills.viewersChanged(key.owner_id, key.skill_id);
    }
    async function receive(bytes: Uint8Array): Promise<void> {
      if (over || !room || !member || !key) return;
      if (key.skill_id !== commandsSkill) return room.receive(member, bytes);
      const taken = o.commands.accept(room.key, caller);
      await room.receive(member, bytes, taken.also);
      taken.stored();
    }
    return {
      open(s) {
        socket = s;
        line.add(join).catch(fail);
      },
      message(bytes, isBinary) {
        if (over) return;
        if (!isBinary) return fail(new IngleError('invalid_request', 'Sync messages are binary.'));
        if (!take(bucket, messages, Date.now()) || line.size > messages.burst)
          return fail(new IngleError('rate_limited', 'Too many messages.'));
        line.add(() => receive(bytes)).catch(fail);
      },
      close() {
        over = true;
        if (socket) joined.delete(socket);
        void line.idle().then(() => {
          if (room && member) room.leave(member);
          if (key) o.skills.viewersChanged(key.owner_id, key.skill_id);
        });
      },
    };
  }

  function close(socket: Socket, e: IngleError): void {
    socket.send(encodeDenied(`${e.code}: ${e.message}`));
    socket.end(closeCode(e), `${e.code}: ${e.message}`);
  }

  return {
    connect,
    expel(which, why) {
      for (const [socket, { key }] of joined) if (which(key)) close(socket, new IngleError('not_found', why));
    },
    expire() {
      for (const [socket, { key, caller, ends }] of joined)
        try {
          if (ends > 0 && ends <= Date.now() / 1000)
            throw new IngleError('not_found', 'The time of this preview is over.');
          // A skill that is away for a moment ends nothing; one that goes for good is expelled.
          if (houseSkills.includes(key.skill_id) || o.skills.known().has(key.skill_id)) stays(key, caller);
        } catch (cause) {
          close(socket, toIngleError(cause));
        }
    },
  };
}
