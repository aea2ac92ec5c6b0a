// /api/node: this hub among others. Its machine is told in status.ts.
import { mkdirSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { audio1 } from '../../firmware/audio/contract.ts';
import { type Transaction, workspacesOf } from '../../firmware/documents/archive.ts';
import type { Library } from '../../firmware/documents/library.ts';
import { nodeApi } from '../../firmware/node/api.ts';
import type { Boots } from '../../firmware/node/boots.ts';
import { bind, type Handlers } from '../../firmware/protocol/endpoint/router.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { openQueue } from '../../firmware/protocol/queue.ts';
import { scenario1 } from '../../firmware/scenario/contract.ts';
import { supervisor1 } from '../../firmware/supervisor/contract.ts';
import type { Failure } from '../../firmware/supervisor/serve.ts';
import { writeWhole } from '../../firmware/system/atomic.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import { isAbsent } from '../../firmware/system/bus-errors.ts';
import { type Choices, type Config, choicesOf, readChoices } from '../../firmware/system/config.ts';
import type { Asked, LocalEndpoint } from './dispatch.ts';
import type { Response } from './http.ts';
import { isSupervised, supervised } from './services.ts';
import { subnetOf } from './subnet.ts';

const noScenarios = () =>
  new IngleError(
    'unavailable',
    'The scenario service does not run. Try again in a moment; if that does not help: ingle doctor',
  );
/** The sound service starts what it needs first, milliseconds. */
const AUDIO_MS = 60_000;

export function nodeEndpoints(o: {
  bus: Bus;
  config: Pick<Config, 'data' | 'name'>;
  boots: Boots;
  store: Transaction;
  library: Pick<Library, 'peek'>;
}): LocalEndpoint[] {
  const { bus } = o;
  // Two at once would write the same new file.
  const choosing = openQueue();

  /** Without its uplink the hub is alone. */
  const subnet = () =>
    subnetOf(bus, o.config.name).catch(() => ({
      hub_id: null,
      subnet_id: null,
      role: 'hub' as const,
      nodes: [],
    }));

  async function failures(): Promise<Failure[]> {
    if (!(await isSupervised(bus))) return [];
    return bus
      .client(supervisor1)
      .Failures({}, 20_000)
      .then(
        (said) => said.failures,
        () => [],
      );
  }

  /** The owner's choices stand in one file; one choice leaves the others. */
  const choose = (choice: Choices) =>
    choosing.add(async () => {
      mkdirSync(join(o.config.data, 'skills'), { recursive: true, mode: 0o755 });
      const next = { ...readChoices(o.config), ...choice };
      await writeWhole(choicesOf(o.config), `${JSON.stringify(next)}\n`, 0o644);
    });

  const handlers: Handlers<typeof nodeApi, Asked, Response> = {
    async language({ body: { value } }) {
      await choose({ language: value });
      return { ok: true };
    },
    async wakeByPhrase({ body: { value } }) {
      const on = value === 'on';
      const attend = bus.client(scenario1).Attend({ on }, AUDIO_MS);
      // Off is off also where nobody runs who could listen.
      await attend.catch((e) => {
        if (on || !isAbsent(e)) throw isAbsent(e) ? noScenarios() : e;
      });
      await choose({ wake_by_phrase: on });
      return { ok: true };
    },
    async name({ body: { value } }) {
      await choose({ name: value });
      // Whoever asks this process hears of it at once, without a look at the file for each request.
      o.config.name = value;
      return { ok: true };
    },
    async reliability() {
      const [states, failed] = await Promise.all([supervised(bus), failures()]);
      const [newest] = failed;
      const ran = states.filter((s) => s.since > 0);
      return {
        uptime_s: Math.floor(uptime()),
        boots: [...o.boots.list()],
        services: ran.map((s) => ({
          unit: s.unit,
          uptime_s: s.state === 'active' ? Math.max(0, Math.floor(Date.now() / 1000 - s.since)) : null,
          restarts: s.restarts,
          cause: failed.find((f) => f.unit === s.unit)?.result ?? null,
        })),
        restarts: states.reduce((n, s) => n + s.restarts, 0),
        last_crash: newest ? { unit: newest.unit, at: newest.at, cause: newest.result } : null,
      };
    },
    async role() {
      const { role, hub_id, subnet_id } = await subnet();
      return { role, hub_id, subnet_id };
    },
    async members() {
      const { nodes } = await subnet();
      const known = nodes.map(({ hub_id, role, state, since }) => ({ hub_id, role, state, since }));
      return {
        members: known.length > 0 ? known : [{ hub_id: null, role: 'hub', state: 'here', since: null }],
      };
    },
    async media() {
      try {
        const audio = bus.client(audio1);
        const { sinks, sources } = await audio.Enumerate({}, AUDIO_MS);
        const { streams } = await audio.Playing({}, AUDIO_MS);
        return { sinks, sources, playing: streams };
      } catch (e) {
        if (!isAbsent(e)) throw e;
        throw new IngleError('unavailable', 'This hub has no sound service. A flashed hub has one.');
      }
    },
    async workspaces({ owner_id }) {
      const found = await workspacesOf(o.store, owner_id);
      return {
        workspaces: found.map(({ prefix, keys, bytes }) => ({
          prefix,
          documents: keys.length,
          members: keys.reduce((n, key) => n + (o.library.peek(key)?.members.size ?? 0), 0),
          bytes,
        })),
      };
    },
  };
  return bind(nodeApi, handlers);
}
