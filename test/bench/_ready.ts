// A ready hub in the lab: the flashed disk, set up as an owner would, left alone until it has come to rest, then once
// more with skills from packages, all asleep. What it takes is read by unit.
import { readFileSync } from 'node:fs';
import { toBase64url } from '../../firmware/protocol/bytes.ts';
import type { Flash } from '../../image/flash.ts';
import { complete, surroundings } from '../lab/vm/cut.ts';
import { labRoot, status } from '../lab/vm/hub.ts';
import { boot, type Vm } from '../lab/vm/lab.ts';
import { acme, ask, good, packed, settled } from '../lab/vm/skills.ts';
import { count, statesOf, type Units, unitsOf, unsettled, type Wanted } from './_processes.ts';
import type { Step } from './_steps.ts';

/** The state that is measured: this machine has no sound card, so no hub in it gets further. */
export const measured: Wanted = {
  state: 'READY_WITH_LIMITS',
  stay: ['ingle-api.service', 'ingle-uplink.service', 'wpa_supplicant.service'],
  may: /^ingle-(serial@|sound)/,
};
/** Bytes in the field's megabytes. */
export const megabytes = (n: number) => Number((n / 1e6).toFixed(1));
export const pssOf = (units: Units) => Object.values(units).reduce((n, u) => n + u.pss, 0);
function tell(what: string, units: Units): void {
  console.log(`${what}: ${megabytes(pssOf(units))} MB, ${count(units)} processes`);
  for (const [unit, u] of Object.entries(units).sort((a, b) => b[1].pss - a[1].pss))
    console.log(`  ${(u.pss / 1e6).toFixed(1).padStart(6)} MB ${unit}: ${u.names.join(', ')}`);
}

/** As many as the bound is for, beside those that have a place of their own. */
export const SKILLS = 12;

export interface Idle {
  units: Units;
  /** Of the whole machine but the kernel, lab included. */
  pss_all: number;
  processes_all: number;
}

export interface Ready {
  bare: Idle;
  /** With `SKILLS` skills installed, none watched. */
  skilled: Idle;
  /** Units that systemd had to start anew, with how often. */
  restarts: Record<string, number>;
}

/** Unit, its processes' ids: what systemd's groups of processes say. */
const groups =
  'cd /sys/fs/cgroup/system.slice; for g in $(find . -name "*.service" -type d); do p=$(cat $g/cgroup.procs); [ -n "$p" ] && echo ${g##*/} $p; done; true';
const memory =
  'for p in /proc/[0-9]*; do s=$(sed -n "s/^Pss: *\\([0-9]*\\) kB/\\1/p" $p/smaps_rollup 2>/dev/null); [ -n "$s" ] && echo ${p#/proc/} $s $(cat $p/comm); done; true';
const ours = "'ingle-*.service' 'wpa_supplicant*.service'";
/** One look that wakes nothing: whether something of ours but what stays has a process. A console nobody is at is a shell. */
const left = `! systemctl list-units ${ours} --plain --no-legend | awk '$4 != "exited" { print $1 }' | grep -v -x -E 'ingle-(lab|api|uplink|serial@.*|sound.*)\\.service|wpa_supplicant\\.service' && ! pgrep -u ingle-serial node`;

async function measure(vm: Vm): Promise<Idle> {
  const processes = await vm.must(memory);
  const kib = processes.split('\n').map((line) => Number(line.split(' ')[1]));
  return {
    units: unitsOf(await vm.must(groups), processes),
    pss_all: 1024 * kib.reduce((a, b) => a + b, 0),
    processes_all: kib.length,
  };
}

const listed = (vm: Vm) => vm.must(`systemctl list-units --all ${ours} --plain --no-legend`);

/** Once everything that leaves has left, in the state this figure is told for. */
async function atRest(vm: Vm): Promise<Idle> {
  const end = Date.now() + 40 * 60_000;
  let said = '';
  for (let why = ''; ; ) {
    const { code, stdout } = await vm.run(left);
    const awake = stdout.trim().split('\n').join(', ');
    if (awake !== said) console.log(`  awake: ${awake || 'nothing'}`);
    said = awake;
    if (code === 0) {
      const found = await measure(vm);
      const states = statesOf(await listed(vm));
      // A unit that just starts counts as inactive, and a look at the state may itself start one.
      const { state } = await status(vm);
      why = unsettled({ state, units: found.units, states }, measured);
      if (why === '') return found;
    }
    if (Date.now() > end)
      throw new Error(`${why || 'not at rest'}:\n${await listed(vm)}\n${await deaths(vm)}`);
    // Few looks, as each is work for the machine.
    await new Promise((resolve) => setTimeout(resolve, 15_000));
  }
}

/** What systemd said of processes that ended and had to be started anew. */
const deaths = (vm: Vm) =>
  vm.must(
    `journalctl -b _PID=1 -o short-monotonic --no-pager | grep -E '(ingle-|wpa_supplicant).*(exited|atchdog|Failed|timed out|restart job)' | tail -n 40; true`,
  );

async function restartsOf(vm: Vm): Promise<Record<string, number>> {
  const said = await vm.must(`systemctl show -p Id,NRestarts ${ours}`);
  return Object.fromEntries(
    said.split('\n\n').flatMap((one) => {
      const unit = /^Id=(.+)$/m.exec(one)?.[1];
      const n = Number(/^NRestarts=(\d+)$/m.exec(one)?.[1] ?? 0);
      return unit && n > 0 ? [[unit, n]] : [];
    }),
  );
}

/** Counts presses, with a screen. */
const code = `export const skill = { start: (ctx) => ({
  attached: (owner) => ctx.setView(owner, { schema: 'ui/v0', layout: { type: 'text', text: '{{state.n}}' } }),
  endpoints: [{ method: 'POST', path: '/v1/add', answer: () => ({ body: {}, state: (s) => ({ n: (s.n ?? 0) + 1 }) }) }],
}) };`;

async function installSkills(vm: Vm): Promise<void> {
  good(await ask(vm, 'POST', '/api/skills/publishers', { key: toBase64url(acme.key), name: 'Acme' }));
  const { skills } = good(await ask(vm, 'GET', '/api/skills'));
  const places: Record<string, number> = JSON.parse(readFileSync('services/skills/slots.json', 'utf8'));
  // One that comes with the image without a place of its own takes one of those for skills.
  const there = skills.filter((s: { skill_id: string }) => !(s.skill_id in places)).length;
  for (let i = 1; i <= SKILLS - there; i++) {
    const id = `bench_${i}`;
    good(await ask(vm, 'POST', '/api/skills/install', packed(id, '1.0.0', code)));
    await settled(vm, id, '1.0.0');
  }
}

/** Setup goes on from where it is, so what was late on a busy computer is waited for again. */
async function setUp(vm: Vm): Promise<string> {
  for (let tries = 5; ; tries--)
    try {
      return await complete(vm);
    } catch (e) {
      if (tries === 0) throw e;
    }
}

/** The flashed disk, set up as an owner would, then left alone. What it takes does not depend on the time it takes. */
export async function readyHub(disk: Flash, step: Step): Promise<Ready> {
  const vm = await step('the first boot', () => boot({ flash: disk, cmdline: labRoot, steady: true }));
  try {
    await step('radios, a network and a root around it', () => surroundings(vm));
    console.log(`setup ended in ${await step('setup', () => setUp(vm))}`);
    const bare = await step(`a hub in ${measured.state} that has come to rest`, () => atRest(vm));
    tell(`a hub in ${measured.state} at rest`, bare.units);
    await step(`${SKILLS} skills are installed`, () => installSkills(vm));
    const skilled = await step('all of them sleep', () => atRest(vm));
    tell(`with ${SKILLS} skills installed, none watched`, skilled.units);
    const restarts = await restartsOf(vm);
    if (Object.keys(restarts).length > 0) console.log(await deaths(vm));
    return { bare, skilled, restarts };
  } finally {
    await vm.stop();
  }
}
