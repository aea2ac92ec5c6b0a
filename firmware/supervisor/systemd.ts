// systemd as the supervisor: org.freedesktop.systemd1 (man 5 org.freedesktop.systemd1) and the journal.
import { constants } from 'node:os';
import { IngleError } from '../protocol/errors.ts';
import type { Bus } from '../system/bus.ts';
import { fromVariant, type Variant } from '../system/contract.ts';
import { must } from '../system/exec.ts';
import { journalEntry, journalLine, journalObjects, priorities, timeOf } from './lines.ts';
import type { Order, Own } from './own.ts';
import type { Failure, Service, Supervises } from './serve.ts';

const name = 'org.freedesktop.systemd1';
const manager = `${name}.Manager`;
/** Longer than any TimeoutStopSec of ours, after which systemd kills, milliseconds. */
const ORDER_MS = 20_000;
const LOOK_MS = 100;
/** "A unit failed with a result" (systemd's sd-messages.h, SD_MESSAGE_UNIT_FAILURE_RESULT). */
const FAILED = 'd9b373ed55a64feb8242e02dbe79a49c';
const journalBounds = { timeoutMs: 20_000, maxBytes: 16 * 1024 * 1024 };

/** Codes of waitid(2) (CLD_EXITED, CLD_KILLED, CLD_DUMPED) as words. Pure. */
export function causeOf(code: number, status: number): string {
  if (code === 1) return `status ${status}`;
  if (code !== 2 && code !== 3) return '';
  const signal = Object.entries(constants.signals).find(([, n]) => n === status)?.[0];
  return signal ?? `signal ${status}`;
}

type ListedUnit = [string, string, string, state: string, sub: string, string, path: string];

/** A service from its properties. `MemoryCurrent` is 2^64-1 where it is not counted. Pure. */
export function serviceOf(
  own: Own,
  [, , , state, sub]: ListedUnit,
  p: Readonly<Record<string, unknown>>,
): Service {
  const memory = Number(p['MemoryCurrent'] ?? -1);
  const runs = state === 'active' || state === 'activating' || state === 'reloading';
  return {
    ...own,
    state,
    sub,
    since: Number(p['StateChangeTimestamp'] ?? 0) / 1e6,
    restarts: Number(p['NRestarts'] ?? 0),
    memory: memory >= 2 ** 63 ? -1 : memory,
    result: String(p['Result'] ?? 'success'),
    cause: runs ? '' : causeOf(Number(p['ExecMainCode'] ?? 0), Number(p['ExecMainStatus'] ?? 0)),
  };
}

const ofService = ['NRestarts', 'MemoryCurrent', 'Result', 'ExecMainCode', 'ExecMainStatus'];

export function systemd(bus: Bus, own: readonly Own[]): Supervises {
  const ask = (member: string, signature: string, body: unknown[]) =>
    bus.call(name, '/org/freedesktop/systemd1', manager, member, signature, body);

  async function property(path: string, iface: string, key: string): Promise<[string, unknown]> {
    const asked = bus.call(name, path, 'org.freedesktop.DBus.Properties', 'Get', 'ss', [
      `${name}.${iface}`,
      key,
    ]);
    return [key, fromVariant((await asked)[0] as Variant)];
  }

  async function list(of: readonly Own[]): Promise<[Own, ListedUnit][]> {
    const [units] = (await ask('ListUnitsByNames', 'as', [of.map((o) => `${o.unit}.service`)])) as [
      ListedUnit[],
    ];
    const byName = new Map(units.map((u) => [u[0], u]));
    return of.flatMap((o): [Own, ListedUnit][] => {
      const unit = byName.get(`${o.unit}.service`);
      return unit ? [[o, unit]] : [];
    });
  }

  async function states(of: readonly Own[]): Promise<Service[]> {
    return Promise.all(
      (await list(of)).map(async ([o, unit]) => {
        // What never ran has nothing to tell, and there are many empty slots.
        if (unit[3] === 'inactive' && of.length > 1) return serviceOf(o, unit, {});
        const told = [
          property(unit[6], 'Unit', 'StateChangeTimestamp'),
          ...ofService.map((key) => property(unit[6], 'Service', key)),
        ];
        return serviceOf(o, unit, Object.fromEntries(await Promise.all(told)));
      }),
    );
  }

  /** Settles when systemd has no job for the unit any more. */
  async function settled(unit: string): Promise<void> {
    const [path] = (await ask('LoadUnit', 's', [`${unit}.service`])) as [string];
    for (const end = performance.now() + ORDER_MS; performance.now() < end; ) {
      const [, job] = await property(path, 'Unit', 'Job');
      if ((job as [number, string])[0] === 0) return;
      await new Promise((done) => setTimeout(done, LOOK_MS));
    }
    throw new IngleError(
      'timeout',
      `${unit} takes long; systemd goes on with it. See how it is: GET /api/services/${unit}.`,
    );
  }

  const members: Record<Order, string> = { start: 'StartUnit', stop: 'StopUnit', restart: 'RestartUnit' };
  const journal = async (args: string[]) =>
    journalObjects(
      String(await must('journalctl', ['-o', 'json', '--no-pager', '--quiet', ...args], journalBounds)),
    );

  return {
    own: () => own,
    states,
    async order(unit, what) {
      await ask(members[what], 'ss', [`${unit}.service`, 'replace']);
      await settled(unit);
    },
    log: async (unit, lines) =>
      (await journal(['-u', `${unit}.service`, '-n', `${lines}`, '--output-fields=MESSAGE,PRIORITY'])).map(
        journalLine,
      ),
    async journal(units, { level, lines, after }) {
      const entries = await journal([
        ...units.flatMap((unit) => ['-u', `${unit}.service`]),
        ...['-p', `${priorities[level]}`, '-n', `${lines}`],
        ...(after ? [`--after-cursor=${after}`] : []),
        '--output-fields=MESSAGE,PRIORITY,UNIT,_SYSTEMD_UNIT',
      ]);
      const names = new Set(own.map((o) => o.unit));
      return {
        entries: entries.map((e) => journalEntry(e, names)),
        cursor: String(entries.at(-1)?.['__CURSOR'] ?? after),
      };
    },
    async bound(unit, { memory, cpu }) {
      const set = [
        ['MemoryMax', bus.variant('t', memory)],
        ['CPUQuotaPerSecUSec', bus.variant('t', cpu)],
      ];
      // Until the machine starts anew: the next start tells it again.
      await ask('SetUnitProperties', 'sba(sv)', [`${unit}.service`, true, set]);
    },
    async failures() {
      const entries = await journal([
        `MESSAGE_ID=${FAILED}`,
        '-n',
        '200',
        '-r',
        '--output-fields=UNIT,UNIT_RESULT',
      ]);
      return entries.map(
        (e): Failure => ({
          unit: String(e['UNIT']).replace(/\.service$/, ''),
          at: timeOf(e),
          result: String(e['UNIT_RESULT'] ?? 'failed').slice(0, 40),
        }),
      );
    },
    async shutdown(what) {
      // What `systemctl reboot` asks for in the end; Manager.Reboot wants CAP_SYS_BOOT.
      const target = what === 'restart' ? 'reboot.target' : 'poweroff.target';
      await ask('StartUnit', 'ss', [target, 'replace-irreversibly']);
    },
  };
}
