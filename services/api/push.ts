// Answers of firmware/push/api.ts; and notices that skills tell, on their way to browsers.
import { join } from 'node:path';
import type { JsonObject } from '../../firmware/documents/content.ts';
import type { Library } from '../../firmware/documents/library.ts';
import { addLine, type Line } from '../../firmware/documents/said.ts';
import { fetch1 } from '../../firmware/fetch/contract.ts';
import { bind, type Handlers } from '../../firmware/protocol/endpoint/router.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { pushApi } from '../../firmware/push/api.ts';
import { noticeOf } from '../../firmware/push/message.ts';
import { openPush, type Push } from '../../firmware/push/push.ts';
import { openVapid } from '../../firmware/push/vapid.ts';
import type { Manifest } from '../../firmware/skills/manifest.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import type { Config } from '../../firmware/system/config.ts';
import type { Log } from '../../firmware/system/log.ts';
import type { Store } from '../../firmware/system/store.ts';
import { appPath, windowPath } from '../../firmware/ui/app.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import type { Asked, LocalEndpoint } from './dispatch.ts';
import type { Response } from './http.ts';

type Said = Pick<Line, 'skill_id' | 'topic' | 'payload'>;

export interface Notices {
  endpoints: LocalEndpoint[];
  /**
   * Somebody is told something, as by a skill: it stands in their desktop's document, where a notice is behind the bell,
   * and a notice then goes to those of their browsers that want it. Settles when it is on the disk.
   */
  tell(
    owner_id: string,
    said: Said,
    manifest: Pick<Manifest, 'capabilities'>,
    isOfHub?: boolean,
  ): Promise<void>;
  /** What somebody had is gone. */
  forget(owner_id: string): Promise<void>;
}

/** Whom a push service may turn to (RFC 8292, 2.1): the maker, else the public service. */
function contactOf({ contact, root_url }: Pick<Config, 'contact' | 'root_url'>): string {
  if (/^(https|mailto):/.test(contact)) return contact;
  return contact.includes('@') ? `mailto:${contact}` : root_url.replace(/^http:/, 'https:');
}

export function notices(o: {
  bus: Bus;
  config: Config;
  data: string;
  store: Store;
  library: Pick<Library, 'open'>;
  log: Log;
}): Notices {
  const { bus, config, store, log } = o;
  const push: Push = openPush({
    ...{ store, log, key: openVapid(join(o.data, 'push.key')), contact: contactOf(config) },
    send: async (r) => (await bus.client(fetch1).Push(r)).status,
    async paired() {
      const { browsers } = await bus.client(uplink1).ListBrowsers({});
      return new Set(browsers.map((b) => b.id));
    },
  });

  /** @throws IngleError `forbidden` */
  function browserOf({ caller }: Pick<Asked, 'caller'>): string {
    if (!caller?.browser) throw new IngleError('forbidden', 'Notices go to a paired browser. Ask from one.');
    return caller.browser;
  }
  const handlers: Handlers<typeof pushApi, Asked, Response> = {
    look: async (asked) => ({ key: push.key, endpoint: await push.endpointOf(browserOf(asked)) }),
    async turnOn(asked) {
      const { endpoint, keys, language } = asked.body;
      await push.turnOn(browserOf(asked), asked.owner_id, { endpoint, ...keys, language });
      return { ok: true };
    },
    async turnOff(asked) {
      await push.turnOff(browserOf(asked));
      return { ok: true };
    },
  };
  return {
    endpoints: bind(pushApi, handlers),
    async tell(owner_id, said, { capabilities: { ui } }, isOfHub) {
      const own: JsonObject = isOfHub ? { of_hub: true } : {};
      const line = { id: crypto.randomUUID(), at: Date.now(), ...said, ...own } as Line;
      await addLine(o.library, owner_id, line);
      if (line.topic !== 'ui.notify') return;
      const title = { en: ui?.title ?? line.skill_id, ...ui?.titles };
      const path = (ui?.app ? appPath : windowPath)(line.skill_id);
      push.tell(owner_id, (language) => noticeOf(line, { title, path, language }), isOfHub);
    },
    forget: push.forget,
  };
}
