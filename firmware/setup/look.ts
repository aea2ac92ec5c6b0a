// A hub that waits looks around: a cable plugged in, a known network that came back, a radio that came or went.
import { type At, askOwner, type Core, isOwned } from './core.ts';
import { whenOnline } from './owner.ts';
import type { Ways } from './ways.ts';

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref());

/** CHANNELS, CONSOLE, HINT. @param paired told when a browser was paired unheard */
export async function lookAround(core: Core, ways: Ways, here: At, paired: () => void): Promise<void> {
  const { ports, voice, time } = core;
  const { signal } = here;
  const online = () => ports.online().catch(() => false);
  const announce = async () => {
    if (!signal.aborted && !isOwned(core)) await voice.announce(signal);
  };
  let before = await online();
  // The access point's password is said first.
  await ways.opened();
  if (before) void announce();
  while (!signal.aborted) {
    await pause(time.look);
    const now = await online();
    if (signal.aborted) return;
    if (await askOwner(core)) paired();
    const event = now && !before ? whenOnline({ owned: isOwned(core) }) : undefined;
    if (event) await here.move(event);
    else if (now) void announce();
    before = now;
    if (!signal.aborted) await followDevices(core, ways, here);
  }
}

async function followDevices({ ladder, channels }: Core, ways: Ways, here: At): Promise<void> {
  // Channels that are still starting are not missing.
  await channels.idle();
  if (here.signal.aborted) return;
  const { changed, can } = await channels.look(ladder.memory.asked);
  if (!changed || here.signal.aborted) return;
  // Opening again starts what is missing and drops what cannot be.
  if (here.state === 'CHANNELS') ways.again(here);
  if (here.state === 'CONSOLE' && (can.includes('softap') || can.includes('ble'))) await here.move('radio');
}

/** A finished hub that was told to forget its networks, or its browsers, would be ready with no way in. */
export async function settle({ ladder, ports, time }: Core, here: At): Promise<void> {
  await pause(time.settle);
  const { owned } = ladder.memory;
  const has = await ports.hasNetwork().catch(() => true);
  const paired = await ports.owned().catch(() => owned);
  if (here.signal.aborted) return;
  await ladder.remember({ owned: paired, asked: !has });
  if (!has) await here.move('no_network');
  // Its owner has forgotten all browsers since.
  else if (paired === false && owned !== false) await here.move('unowned');
}
