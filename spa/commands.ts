// Commands of this browser: entries of its own command document, each done once by its id.
import { toBase64url } from '../firmware/protocol/bytes.ts';
import { IngleError, isErrorCode } from '../firmware/protocol/errors.ts';
import type { Op } from '../firmware/protocol/tunnel/outbox.ts';
import { currentLink } from './current.ts';
import { browserKey } from './key.ts';
import type { Link } from './link.ts';
import { app } from './store.ts';
import { joinRoom, type Room } from './sync.ts';

/** Time the hub may take for a command before it is asked again, milliseconds. */
const WAIT = 25_000;

let room: Room | null = null;
let roomKey = '';
const waiting = new Map<string, () => void>();

async function commandRoom(): Promise<Room> {
  const { mine } = app();
  if (!mine) throw new IngleError('unavailable', 'The hub has not said whose this browser is.');
  const key = `${mine}/commands/state:device/${toBase64url((await browserKey()).publicKey)}`;
  if (room && roomKey === key) return room;
  room?.close();
  roomKey = key;
  const looked = () => {
    for (const f of [...waiting.values()]) f();
  };
  // What the hub refuses must not come again with each join.
  room = joinRoom(key, currentLink, looked, closeCommands);
  return room;
}

interface Entry {
  status?: string;
  result?: { status: number; body: unknown };
  error?: { error: string; message: string; details?: Record<string, unknown> };
}

/**
 * Writes the op as a command and resolves with its result once the hub has done it.
 * @throws IngleError what the hub answered; `unavailable` when it did not in time, and then it may be sent again.
 */
export async function sendCommand(link: Link, op: Op): Promise<unknown> {
  const r = await commandRoom();
  const entries = r.doc.getMap<Entry>('content');
  // An entry's name begins with a letter, which an op's id need not.
  const id = `c${op.id}`;
  // What an app shows meanwhile is this browser's own.
  const { meanwhile: _, ...body } = op.body as { meanwhile?: unknown };
  const started = Date.now();
  return new Promise((resolve, reject) => {
    const end = (f: () => void) => {
      clearInterval(timer);
      waiting.delete(op.id);
      f();
    };
    const look = () => {
      if (!link.up || Date.now() - started > WAIT)
        return end(() => reject(new IngleError('unavailable', 'No answer yet.')));
      const entry = entries.get(id);
      if (entry?.status === 'done') return end(() => resolve(entry.result ?? null));
      if (entry?.status === 'failed') {
        const code = entry.error?.error;
        return end(() =>
          reject(
            new IngleError(
              isErrorCode(code) ? code : 'internal',
              entry.error?.message ?? '',
              entry.error?.details,
            ),
          ),
        );
      }
      // Only over the hub's own state: an id it has done already must not be written anew.
      if (!entry && r.live) entries.set(id, { id, at: op.created, ...body } as Entry);
    };
    const timer = setInterval(look, 1000);
    waiting.set(op.id, look);
    look();
  });
}

export function closeCommands(): void {
  room?.close();
  room = null;
}
