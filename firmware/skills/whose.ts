// Which skill a call on the bus comes from.
import { IngleError } from '../protocol/errors.ts';
import type { Bus } from '../system/bus.ts';
import { skillBusName } from './contract.ts';
import type { Slot } from './slots.ts';

/**
 * Whose connection this is: that of the owner of a slot's name, which the bus gives to the slot's user alone.
 * @throws IngleError `forbidden` with `says` for a sender that is no skill
 */
export async function slotOf(
  bus: Bus,
  slots: ReadonlyMap<number, Slot>,
  sender: string,
  says: string,
): Promise<Slot> {
  const ask = async (slot: Slot) => {
    const dbus = 'org.freedesktop.DBus';
    const named = bus.call(dbus, '/org/freedesktop/DBus', dbus, 'GetNameOwner', 's', [
      skillBusName(slot.slot),
    ]);
    return (await named.catch(() => []))[0] === sender ? [slot] : [];
  };
  const [found] = (await Promise.all([...slots.values()].map(ask))).flat();
  if (!found) throw new IngleError('forbidden', says);
  return found;
}
