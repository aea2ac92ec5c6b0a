// Which services a supervisor knows and what may be ordered of them: a closed list, read from the units of the verified
// root. Pure.
import { IngleError } from '../protocol/errors.ts';
import { SLOTS } from '../skills/slots.ts';

export interface Own {
  /** Without `.service`. */
  unit: string;
  orders: boolean;
}

export type Order = 'start' | 'stop' | 'restart';

/** By these the owner reaches the hub. Who stops one from afar could not start it again. */
const needed: ReadonlySet<string> = new Set(['ingle-api', 'ingle-uplink']);
const supervisor = 'ingle-supervisor';

/** Whether an order ends what carries its own answer. */
export const answersFirst = (unit: string): boolean => needed.has(unit);

/** The unit of a slot of the pool of skills. */
export const unitOfSlot = (slot: number): string => `ingle-skill@${slot}`;

/**
 * The services that unit files stand for. A unit that runs once is a step of something else (a factory reset, a
 * restart): it is shown and takes no orders. Of templates only the slots are a closed set.
 * @param files name of a file to its text
 */
export function ownServices(files: ReadonlyMap<string, string>): Own[] {
  const own: Own[] = [];
  for (const [file, text] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [, unit, template] = /^(ingle-[a-z]+(?:-[a-z]+)*)(@?)\.service$/.exec(file) ?? [];
    if (!unit || unit === supervisor) continue;
    const orders = !/^Type=oneshot$/m.test(text);
    if (!template) own.push({ unit, orders });
    else if (unit === 'ingle-skill')
      for (let slot = 1; slot <= SLOTS; slot++) own.push({ unit: unitOfSlot(slot), orders });
  }
  return own;
}

/** The service of that name. @throws IngleError `not_found`; what was asked for is not repeated whole. */
export function findOwn(own: readonly Own[], unit: string): Own {
  const found = own.find((o) => o.unit === unit);
  if (found) return found;
  const shown = /^[\w@.-]{1,60}$/.test(unit) ? ` "${unit}"` : ' of that name';
  throw new IngleError(
    'not_found',
    `There is no service${shown} among the hub's own. See which there are: GET /api/services.`,
  );
}

/** @throws IngleError `conflict` for what would lock the owner out or is no service to be ordered */
export function mayOrder({ unit, orders }: Own, order: Order): void {
  if (!orders)
    throw new IngleError(
      'conflict',
      `${unit} runs by itself when its time comes and takes no orders. See what it did: GET /api/services/${unit}/logs.`,
    );
  if (order === 'stop' && needed.has(unit))
    throw new IngleError(
      'conflict',
      `You reach the hub through ${unit}, so it is not stopped from here: nothing could start it again. Restart it instead: POST /api/services/${unit}/restart.`,
    );
}
