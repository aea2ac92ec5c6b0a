// What the hub itself tells its owner: that somebody may come in who could not before.
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

/** Tells from now on. */
export async function tellOwner(o: {
  bus: Bus;
  pushes: Pick<Notices, 'tell'>;
  manifestOf(skill_id: string): Manifest | undefined;
  log: Log;
}): Promise<void> {
  await o.bus.onSignal(uplink1, 'Recovering', ({ owner_id, expires_at }) => {
    const minutes = Math.max(1, Math.round(Number(expires_at) / 60 - Date.now() / 60_000));
    const payload = {
      title: inAll('recovering', {}),
      body: inAll('recovering_body', { minutes }),
      tag: 'recovering',
    };
    o.pushes
      .tell(owner_id, { skill_id: SKILL, topic: 'ui.notify', payload }, o.manifestOf(SKILL) ?? unknown, true)
      .catch((cause) => o.log.error('the owner is not told of a code for a new passkey', { cause }));
  });
}
