// /sync/<room>: a WebSocket into a document's room, in the protocol of y-websocket.
import { type Caller, rightsOf } from '../../firmware/documents/acl.ts';
import type { IndexRow } from '../../firmware/documents/archive.ts';
import type { Commands } from '../../firmware/documents/commands.ts';
import { commandsSkill, type DocumentKey, formatKey, parseKey } from '../../firmware/documents/key.ts';
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
import { usable } from './dispatch.ts';
import type { Socket, SocketEvents } from './server.ts';

export interface Sync {
  /** The events of a socket that asks for `path` (`/sync/<room>`). Refusals are told inside the socket. */
  connect(path: string, caller: Caller): SocketEvents;
  /** Closes the sockets of documents that go for good. */
  expel(which: (key: DocumentKey) => boolean, why: string): void;
  /** Closes sockets whose right to a skill has run out: a passkey checked long ago, a version that is for others. */
  expire(): void;
}

/** Messages a socket may send a second, and at once. */
const messages = rate(200, 40);
/** Documents the icon manager and the desktop keep, besides skills' own. */
const houseDocuments = ['desktop', 'icon_manager', commandsSkill];

export function syncServer(o: {
  store: Store;
  library: Library;
  skills: Skills;
  commands: Commands;
  log: Log;
}): Sync {
  const joined = new Map<Socket, { key: DocumentKey; caller: Caller; ofSkill: boolean; ends: number }>();

  /** Checks the right to join; at every join anew. */
  async function admit(
    path: string,
    caller: Caller,
  ): Promise<{ key: DocumentKey; canWrite: boolean; ofSkill: boolean; ends: number }> {
    let text: string;
    try {
      text = decodeURIComponent(path.slice('/sync/'.length));
    } catch {
      throw new IngleError('invalid_request', 'The room is not well encoded.');
    }
    const key = parseKey(text);
    const index = await o.store.get<IndexRow>('SELECT * FROM docs_index WHERE key = ?', formatKey(key));
    const rights = rightsOf(key, o.library.acl(key, index), caller);
    if (!rights.read) throw new IngleError('forbidden', 'You may not open this document.');
    const ofSkill = !houseDocuments.includes(key.skill_id);
    if (ofSkill) usable(o.skills, key.skill_id, caller);
    if (isPreview(key.branch) && (!index || isOver(index, Date.now() / 1000)))
      throw new IngleError('not_found', 'There is no such preview, or its time is over.');
    if (isSkillDocument(key) && !index && !ofSkill)
      throw new IngleError('not_found', 'There is no such document.');
    if (caller !== null) await o.skills.addOwner(caller.owner_id);
    const ends = isPreview(key.branch) && index ? index.updated_at + index.ttl_sec : 0;
    return { key, canWrite: rights.write, ofSkill, ends };
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
      socket?.send(encodeDenied(`${e.code}: ${e.message}`));
      socket?.end(closeCode(e), `${e.code}: ${e.message}`);
    }
    async function join(): Promise<void> {
      const admitted = await admit(path, caller);
      key = admitted.key;
      room = await o.library.open(formatKey(key));
      if (over || !socket) return;
      const s = socket;
      member = { canWrite: admitted.canWrite, send: (bytes) => s.send(bytes) };
      joined.set(s, { key, caller, ofSkill: admitted.ofSkill, ends: admitted.ends });
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

  function shut(socket: Socket, e: IngleError): void {
    socket.send(encodeDenied(e.message));
    socket.end(closeCode(e), `${e.code}: ${e.message}`);
  }

  return {
    connect,
    expel(which, why) {
      for (const [socket, { key }] of joined) if (which(key)) shut(socket, new IngleError('not_found', why));
    },
    expire() {
      for (const [socket, { key, caller, ofSkill, ends }] of joined)
        try {
          if (ends > 0 && ends <= Date.now() / 1000)
            throw new IngleError('not_found', 'The time of this preview is over.');
          if (ofSkill && o.skills.known().has(key.skill_id)) usable(o.skills, key.skill_id, caller);
        } catch (cause) {
          shut(socket, toIngleError(cause));
        }
    },
  };
}
