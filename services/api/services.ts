// /api/services: what the bus knows of the hub's units, what their supervisor says of them, and orders passed on to it.
import { bind, type Handlers } from '../../firmware/protocol/endpoint/router.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { servicesApi } from '../../firmware/supervisor/api.ts';
import { supervisor1 } from '../../firmware/supervisor/contract.ts';
import type { Service } from '../../firmware/supervisor/serve.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import type { Config } from '../../firmware/system/config.ts';
import { type Unit, unitOf, unitStates } from '../../firmware/system/units.ts';
import type { Asked, LocalEndpoint } from './dispatch.ts';
import type { Response } from './http.ts';

/** A slow hub starts the supervisor first, milliseconds. */
const ASK_MS = 60_000;
/** What is shown is not worth waiting longer for, milliseconds. */
const LOOK_MS = 20_000;
const RETRY_S = 10;

/** Whether somebody supervises here. A bus that can start it but fails to is not told apart from one that cannot. */
export async function isSupervised(bus: Bus): Promise<boolean> {
  const names = await Promise.all([bus.listNames(), bus.listActivatableNames()]);
  return names.flat().includes(supervisor1.bus);
}

/** The supervisor's services; none where nobody supervises. */
export async function supervised(bus: Bus): Promise<Service[]> {
  if (!(await isSupervised(bus))) return [];
  return bus
    .client(supervisor1)
    .List({}, LOOK_MS)
    .then(
      ({ services }) => services,
      () => [],
    );
}

export function serviceEndpoints(o: {
  bus: Bus;
  config: Config;
  /** Bus name of a slot -> its skill. */
  slots(): ReadonlyMap<string, string>;
}): LocalEndpoint[] {
  const { bus } = o;

  /** What the bus knows. */
  async function known() {
    const [taken, startable] = await Promise.all([bus.listNames(), bus.listActivatableNames()]);
    const units = unitStates({ taken, startable, kept: o.config.kept, skills: o.slots(), api: true });
    return units.map((u) => shown(u, startable.includes(u.bus)));
  }

  /** What the bus knows, and those of the supervisor that take no bus name. */
  async function list() {
    const [units, states] = await Promise.all([known(), supervised(bus)]);
    const byUnit = new Map(states.map((s) => [s.unit, s]));
    const told = units.map((u) => withDetail(u, byUnit.get(u.unit)));
    const names = new Set(units.map((u) => u.unit));
    const others = states.filter((s) => !names.has(s.unit) && !isSlot(s.unit));
    return [...told, ...others.map((s) => withDetail(nameless(s.unit), s))];
  }

  const nobody = (name: string) =>
    new IngleError('not_found', `There is no service "${name}" here. See: GET /api/services.`);

  async function one(name: string) {
    const found = (await list()).find((s) => s.unit === name);
    if (found) return found;
    throw nobody(name);
  }

  /** Asks the supervisor about a service of this hub. */
  async function ask<A>(name: string, work: (of: ReturnType<typeof client>) => Promise<A>): Promise<A> {
    // The supervisor knows the others; which slots have a skill is known here.
    if (isSlot(name) && ![...o.slots().keys()].some((at) => unitOf(at) === name)) throw nobody(name);
    if (!(await isSupervised(bus)))
      throw new IngleError(
        'not_supported',
        'Nobody supervises the services here. On a hub and with npm start the supervisor does; else use what started them.',
      );
    try {
      return await work(client());
    } catch (e) {
      if (!(e instanceof IngleError)) throw e;
      if (e.code === 'rate_limited') throw new IngleError(e.code, e.message, { retry_after: RETRY_S });
      if (e.code !== 'unavailable') throw e;
      throw new IngleError(
        'unavailable',
        `The supervisor did not answer, so what became of ${name} is not known. See: GET /api/services/${name}.`,
        { retry_after: 1 },
      );
    }
  }
  const client = () => bus.client(supervisor1);

  const order =
    (member: 'Start' | 'Stop' | 'Restart') =>
    async ({ params: { name } }: { params: { name: string } }) => {
      // Before the order: it may be this process that ends of it.
      const unit = (await known()).find((u) => u.unit === name) ?? nameless(name);
      const { after } = await ask(name, (s) => s[member]({ unit: name }, ASK_MS));
      return { ok: true as const, service: withDetail(unit, after) };
    };
  const handlers: Handlers<typeof servicesApi, Asked, Response> = {
    list: async () => ({ services: await list() }),
    one: ({ params: { name } }) => one(name),
    async logs({ params: { name }, query: { lines = '200' } }) {
      const said = await ask(name, (s) => s.Log({ unit: name, lines: Number(lines) }, ASK_MS));
      return { lines: said.lines.map((l) => ({ ...l, at: l.at || null })) };
    },
    start: order('Start'),
    stop: order('Stop'),
    restart: order('Restart'),
  };
  return bind(servicesApi, handlers);
}

const ofState: Readonly<Record<string, 'running' | 'failed' | 'changing'>> = {
  active: 'running',
  reloading: 'running',
  failed: 'failed',
  activating: 'changing',
  deactivating: 'changing',
  restarting: 'changing',
};

/** How a service is by its supervisor. */
function detailOf(s: Service) {
  const state = ofState[s.state];
  return {
    ...(state ? { state } : {}),
    supervised: {
      sub_state: s.sub,
      since: s.since || null,
      restarts: s.restarts,
      memory_bytes: s.memory < 0 ? null : s.memory,
      result: s.result,
      cause: s.cause,
      orders: s.orders,
    },
  };
}

const isSlot = (unit: string) => unit.startsWith('ingle-skill@');

interface Shown {
  unit: string;
  skill_id: string | null;
  bus_name: string | null;
  state: 'running' | 'activatable' | 'stopped' | 'changing' | 'failed';
  supervised: ReturnType<typeof detailOf>['supervised'] | null;
}

const shown = (u: Unit, startable: boolean): Shown => ({
  unit: u.unit,
  skill_id: u.skill || null,
  bus_name: u.bus || null,
  state: u.running ? 'running' : startable ? 'activatable' : 'stopped',
  supervised: null,
});
/** A service that takes no bus name. */
const nameless = (unit: string) => shown({ unit, bus: '', skill: '', running: false }, false);
const withDetail = (u: Shown, s: Service | undefined): Shown => (s ? { ...u, ...detailOf(s) } : u);
