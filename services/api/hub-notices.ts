// What the hub itself tells its owner: that somebody may come in who could not before.
import { openQueue } from '../../firmware/protocol/queue.ts';
import type { Manifest } from '../../firmware/skills/manifest.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import type { Log } from '../../firmware/system/log.ts';
import { languages, translator } from '../../firmware/text/i18n.ts';
import { noticeTexts } from '../../firmware/text/notices.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import type { Notices } from './push.ts';

type Key = keyof (typeof noticeTexts)['en'];

/** Where its owner looks after browsers and passkeys. */
const SKILL = 'settings';
const unknown = { capabilities: {} } as Manifest;

const inAll = (key: Key, values: Record<string, number>) =>
  Object.fromEntries(languages.map((l) => [l, translator(noticeTexts, l)(key, values)]));

/** Tells what was not told yet, and from now on. */
export async function tellOwner(o: {
  bus: Bus;
  pushes: Pick<Notices, 'tell'>;
  manifestOf(skill_id: string): Manifest | undefined;
  log: Log;
}): Promise<void> {
  const { bus, pushes, log } = o;
  const uplink = bus.client(uplink1);
  const queue = openQueue();
  async function tell(): Promise<void> {
    let told = 0n;
    for (;;) {
      const { owner_id, expires_at } = await uplink.Untold({ told });
      if (expires_at === 0n) return;
      // A hub that was off, or whose clock was set, may tell it late.
      const minutes = Math.ceil(Number(expires_at) / 60 - Date.now() / 60_000);
      const payload = {
        title: inAll('recovering', {}),
        body: minutes > 0 ? inAll('recovering_body', { minutes }) : inAll('recovering_over', {}),
        tag: 'recovering',
      };
      const said = { skill_id: SKILL, topic: 'ui.notify', payload } as const;
      await pushes.tell(owner_id, said, o.manifestOf(SKILL) ?? unknown, true);
      told = expires_at;
    }
  }
  const look = () =>
    void queue
      .add(tell)
      .catch((cause) => log.error('the owner is not told of a code for a new passkey', { cause }));
  await bus.onSignal(uplink1, 'Recovering', look);
  await bus.watchName(uplink1.bus, (owner) => {
    if (owner !== '') look();
  });
}
