// Who is in a room: the awareness states of y-protocols, each believed of one socket alone. No timers.
import { createDecoder, hasContent, readVarString, readVarUint } from 'lib0/decoding';
import { createEncoder, toUint8Array, writeVarString, writeVarUint } from 'lib0/encoding';
import { IngleError } from '../protocol/errors.ts';

/** One client's state: `json` is its text, `null` when it is gone. */
export interface State {
  client: number;
  clock: number;
  json: string;
}

/** Reads an awareness update. @throws IngleError `invalid_request` for anything malformed */
export function decodeStates(update: Uint8Array): State[] {
  const bad = (says: string) => new IngleError('invalid_request', `The awareness message ${says}.`);
  try {
    const d = createDecoder(update);
    const states: State[] = [];
    for (let n = readVarUint(d); n > 0; n--) {
      const state = { client: readVarUint(d), clock: readVarUint(d), json: readVarString(d) };
      JSON.parse(state.json);
      states.push(state);
    }
    if (hasContent(d)) throw bad('has bytes left over');
    return states;
  } catch (e) {
    throw e instanceof IngleError ? e : bad('is malformed');
  }
}

/** An awareness update of these states. */
export function encodeStates(states: readonly State[]): Uint8Array {
  const e = createEncoder();
  writeVarUint(e, states.length);
  for (const { client, clock, json } of states) {
    writeVarUint(e, client);
    writeVarUint(e, clock);
    writeVarString(e, json);
  }
  return toUint8Array(e);
}

/** Client ids a room remembers of people who have left, so that nobody else speaks under them. */
const REMEMBERED = 256;

export interface Presence<M> {
  /**
   * What a member says, of which only its own client counts: the first it speaks for alone. Providers pass on what they
   * hear of others; that is passed over.
   * @param who whose socket it is: a client id stays with them while the room is open
   * @returns what is new and for everybody
   */
  hear(member: M, who: string, update: Uint8Array): Uint8Array | null;
  /** The states of all who are here; null when nobody says anything. */
  all(): Uint8Array | null;
  /** A member leaves, and its client with it. @returns what to tell the others */
  leave(member: M): Uint8Array | null;
}

export function openPresence<M>(): Presence<M> {
  const clients = new Map<M, number>();
  const states = new Map<number, State>();
  const owners = new Map<number, string>();

  function claim(member: M, who: string, client: number): boolean {
    if (states.has(client) || (owners.get(client) ?? who) !== who) return false;
    clients.set(member, client);
    owners.delete(client);
    owners.set(client, who);
    if (owners.size > REMEMBERED) owners.delete(owners.keys().next().value!);
    return true;
  }
  return {
    hear(member, who, update) {
      const said = decodeStates(update);
      const [first] = said;
      if (!clients.has(member)) {
        if (said.length !== 1 || first!.json === 'null' || !claim(member, who, first!.client)) return null;
      }
      const own = said.find((s) => s.client === clients.get(member));
      const before = own && states.get(own.client);
      if (!own || (before && own.clock <= before.clock && own.json !== 'null')) return null;
      if (own.json === 'null' && !before) return null;
      if (own.json === 'null') states.delete(own.client);
      else states.set(own.client, own);
      return encodeStates([own]);
    },
    all: () => (states.size === 0 ? null : encodeStates([...states.values()])),
    leave(member) {
      const client = clients.get(member);
      clients.delete(member);
      const last = client === undefined ? undefined : states.get(client);
      if (!last) return null;
      states.delete(last.client);
      return encodeStates([{ ...last, json: 'null' }]);
    },
  };
}
