// A stand-in of systemd's manager on a private bus, and of journalctl on a PATH, as ingle-supervisor asks them.
import type { ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../../firmware/system/bus.ts';
import { contract } from '../../firmware/system/contract.ts';
import { child } from '../lab/child.ts';
import { programOf } from '../lab/program.ts';
import { until } from '../lab/wait.ts';

const name = 'org.freedesktop.systemd1';
const none = { doc: '', errors: [] } as const;
const order = { ...none, in: { unit: 's', mode: 's' }, out: { job: 'o' } } as const;
const manager = contract({
  name: `${name}.Manager`,
  bus: name,
  path: '/org/freedesktop/systemd1',
  doc: '',
  methods: {
    ListUnitsByNames: { ...none, in: { names: 'as' }, out: { units: 'a(ssssssouso)' } },
    LoadUnit: { ...none, in: { unit: 's' }, out: { path: 'o' } },
    StartUnit: order,
    StopUnit: order,
    RestartUnit: order,
    SetUnitProperties: { ...none, in: { unit: 's', runtime: 'b', set: 'a(sv)' }, out: {} },
  },
  signals: {},
  properties: {},
});
const ofUnit = (path: string) =>
  contract({
    name: `${name}.Unit`,
    bus: name,
    path,
    doc: '',
    methods: {},
    signals: {},
    properties: { StateChangeTimestamp: { doc: '', type: 't' }, Job: { doc: '', type: '(uo)' } },
  });
const ofService = (path: string) =>
  contract({
    name: `${name}.Service`,
    bus: name,
    path,
    doc: '',
    methods: {},
    signals: {},
    properties: {
      NRestarts: { doc: '', type: 'u' },
      MemoryCurrent: { doc: '', type: 't' },
      Result: { doc: '', type: 's' },
      ExecMainCode: { doc: '', type: 'i' },
      ExecMainStatus: { doc: '', type: 'i' },
    },
  });
const pathOf = (unit: string) =>
  `/org/freedesktop/systemd1/unit/${unit.replace(/[^A-Za-z0-9]/g, (c) => `_${c.charCodeAt(0).toString(16)}`)}`;

export type FakeSystemd = Awaited<ReturnType<typeof fakeSystemd>>;

/** @param units the services that run; every other one is inactive */
export async function fakeSystemd(address: string, units: readonly string[]) {
  const bus = await connect(address);
  const states = new Map(units.map((u) => [`${u}.service`, 'active']));
  const orders: string[] = [];
  /** Properties that were set, by unit: each a line. */
  const held = new Map<string, string>();
  /** Units whose jobs do not end. */
  const stuck = new Set<string>();
  const jobs = new Map<string, (job: [number, string]) => void>();

  function perform(what: string, unit: string, after: string): { job: string } {
    orders.push(`${what} ${unit}`);
    states.set(unit, after);
    jobs.get(unit)?.(stuck.has(unit) ? [7, '/org/freedesktop/systemd1/job/7'] : [0, '/']);
    return { job: '/org/freedesktop/systemd1/job/7' };
  }
  await bus.serve(manager, {
    ListUnitsByNames: ({ names }) => ({
      units: names.map((n) => {
        const state = states.get(n) ?? 'inactive';
        const sub = state === 'active' ? 'running' : 'dead';
        return [n, n, 'loaded', state, sub, '', pathOf(n), 0, '', '/'];
      }),
    }),
    LoadUnit: ({ unit }) => ({ path: pathOf(unit) }),
    StartUnit: ({ unit, mode }) => perform(`start ${mode}`, unit, 'active'),
    StopUnit: ({ unit, mode }) => perform(`stop ${mode}`, unit, 'inactive'),
    RestartUnit: ({ unit, mode }) => perform(`restart ${mode}`, unit, 'active'),
    SetUnitProperties({ unit, runtime, set }) {
      const all = (set as [string, { signature: string; value: unknown }][]).map(
        ([key, { signature, value }]) => `${key}=${signature} ${value}`,
      );
      held.set(unit, [runtime ? 'runtime' : 'for good', ...all].join(' '));
      return {};
    },
  });
  for (const unit of states.keys()) {
    const path = pathOf(unit);
    const properties = { StateChangeTimestamp: 1764000000000000n, Job: [0, '/'] };
    const served = await bus.serve(ofUnit(path), {}, { properties });
    jobs.set(unit, (Job) => served.set({ Job }));
    const ended = { Result: 'watchdog', ExecMainCode: 2, ExecMainStatus: 6 };
    await bus.serve(
      ofService(path),
      {},
      {
        properties: { NRestarts: 2, MemoryCurrent: 2n ** 64n - 1n, ...ended },
      },
    );
  }
  return { orders, stuck, states, held, stop: () => bus.close() };
}

/** A journalctl that says `text`; what it was asked stands in `asked()`, one word a line. */
export function fakeJournal() {
  const dir = mkdtempSync(join(tmpdir(), 'ingle-journal-'));
  const said = join(dir, 'said');
  const asked = join(dir, 'asked');
  writeFileSync(join(dir, 'journalctl'), `#!/bin/sh\nprintf '%s\\n' "$@" >> '${asked}'\ncat '${said}'\n`);
  chmodSync(join(dir, 'journalctl'), 0o755);
  writeFileSync(said, '');
  return {
    path: `${dir}:${process.env['PATH']}`,
    say: (entries: readonly object[]) =>
      writeFileSync(said, entries.map((e) => `${JSON.stringify(e)}\n`).join('')),
    asked: () => (existsSync(asked) ? readFileSync(asked, 'utf8').trim().split('\n') : []),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** A real ingle-supervisor over both, beside a hub. */
export async function supervise({
  hub,
  journal,
}: {
  hub: { env: Record<string, string>; bus: { address: string } };
  journal: { path: string };
}): Promise<ChildProcess> {
  const program = child(process.execPath, programOf('services/supervisor/main.ts'), {
    env: { ...process.env, ...hub.env, INGLE_UNITS: 'systemd/units', PATH: journal.path },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const bus = await connect(hub.bus.address);
  await until(async () => (await bus.listNames()).includes('io.ingle.Supervisor1'), 'the supervisor');
  bus.close();
  return program;
}
