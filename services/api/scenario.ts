// The desktop scenario document in force, and the answers of firmware/desktop/api.ts.
import { desktopApi } from '../../firmware/desktop/api.ts';
import { defaultScenario } from '../../firmware/desktop/default.ts';
import { checkUses, namedIn, type Scenario, scenarioSchema } from '../../firmware/desktop/scenario.ts';
import { etagOf, type JsonObject } from '../../firmware/documents/content.ts';
import { faultsOf } from '../../firmware/protocol/endpoint/check.ts';
import { bind, type Handlers } from '../../firmware/protocol/endpoint/router.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { openQueue } from '../../firmware/protocol/queue.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import type { Log } from '../../firmware/system/log.ts';
import type { Store } from '../../firmware/system/store.ts';
import type { Asked, LocalEndpoint } from './dispatch.ts';
import type { Response } from './http.ts';

export interface ScenarioStore {
  now(): Scenario;
  etag(): string;
  isDefault(): boolean;
  /** It is on the disk when this settles. @throws IngleError `conflict` when `etag` is not of the one in force */
  replace(next: Scenario, etag: string): Promise<void>;
  reset(): Promise<void>;
}

const none = { allowSkills: [] };
/** Stands in for a document that a newer build stored and this one cannot read: it widens nobody's rights. */
const narrow: Scenario = {
  ...defaultScenario,
  roles: { admin: none, adult: none, kid: none, guest: none },
};

export async function openScenario(store: Store, log: Log, changed: () => void): Promise<ScenarioStore> {
  const row = await store.get<{ value: string }>("SELECT value FROM settings WHERE name = 'desktop'");
  const line = openQueue();
  let stored: Scenario | undefined;
  if (row)
    try {
      const value = JSON.parse(row.value);
      const [fault] = faultsOf(scenarioSchema, value);
      if (fault) throw new Error(`${fault.pointer} ${fault.says}`);
      stored = value;
    } catch (cause) {
      log.error('the stored desktop document cannot be read; only the owner has a desktop', { cause });
      stored = narrow;
    }
  const now = () => stored ?? defaultScenario;
  const etag = () => etagOf(now() as unknown as JsonObject);
  return {
    now,
    etag,
    isDefault: () => stored === undefined,
    replace: (next, of) =>
      line.add(async () => {
        if (of !== etag())
          throw new IngleError('conflict', 'The desktop document was changed since you read it.', {
            etag: etag(),
          });
        await store.run("INSERT OR REPLACE INTO settings VALUES ('desktop', ?)", JSON.stringify(next));
        stored = next;
        changed();
      }),
    reset: () =>
      line.add(async () => {
        await store.run("DELETE FROM settings WHERE name = 'desktop'");
        stored = undefined;
        changed();
      }),
  };
}

export function desktopEndpoints(o: { scenario: ScenarioStore; skills: Skills }): LocalEndpoint[] {
  const { scenario, skills } = o;
  const inForce = () => ({
    document: scenario.now(),
    etag: scenario.etag(),
    isDefault: scenario.isDefault(),
    unknown: namedIn(scenario.now()).filter((n) => !skills.known().has(n.skill_id)),
  });
  const handlers: Handlers<typeof desktopApi, Asked, Response> = {
    read: () => inForce(),
    async replace({ body: { document, etag } }) {
      checkUses(document, '/document');
      await scenario.replace(document, etag);
      return inForce();
    },
    async reset() {
      await scenario.reset();
      return { ok: true };
    },
  };
  return bind(desktopApi, handlers);
}
