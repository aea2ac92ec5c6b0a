// ingle-skill@<slot>: the skill of one slot in its own process, serving io.ingle.Skill1. It goes when nobody looks at
// it, asks it anything or has to wait for its timers, where the bus can start it again.
import { startService } from '../../firmware/system/service.ts';
import { run, slotNamed } from './run.ts';

const slot = slotNamed();
await run(slot, startService(`skill ${slot}`));
