// A process on the bus in the name of a skill, which answers everything and does nothing.
import { toDict } from '../../firmware/system/contract.ts';

/** @param said its manifest */
export const quietSkill = (said: object) => ({
  Manifest: () => ({ manifest: toDict({ ...said }) }),
  Attach: () => ({ documents: [] }),
  Watch: () => ({}),
  Due: () => ({ at: 0 }),
  Kept: () => ({}),
  Told: () => ({}),
  Leave: () => ({}),
  Request: () => ({ status: 200, headers: {}, body: new Uint8Array() }),
});
