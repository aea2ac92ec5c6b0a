// timeout: 240 s
// What the hub shows of its units is what is installed, beside what `npm start` keeps running.
import { readdirSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { skillBusName } from '../../firmware/skills/contract.ts';
import { labelOf, unitOf, unitStates } from '../../firmware/system/units.ts';
import { until } from '../lab/wait.ts';
import { startHub } from './hub.ts';

const test = suite('units');

/** What a flashed hub's bus can start: bus name and unit of each file that is installed. */
const folder = 'systemd/dbus/services';
const installed = readdirSync(folder).map((f) => {
  const text = readFileSync(`${folder}/${f}`, 'utf8');
  const value = (key: string) => new RegExp(`^${key}=(.+)$`, 'm').exec(text)![1]!;
  return { bus: value('Name'), unit: value('SystemdService').replace('.service', '') };
});
const skills = new Map([
  [skillBusName(1), 'hub_status'],
  [skillBusName(2), 'updates'],
]);
const nothing = { taken: [], startable: [], kept: [], skills, api: true };

test('the unit of each bus name is the one its file names', () => {
  assert.ok(installed.length > 5);
  for (const { bus, unit } of installed) assert.is(unitOf(bus), unit);
  for (const other of ['org.freedesktop.DBus', 'io.ingle.Echo2', ':1.7', 'io.ingle.Bus1.Event', 'io.ingle.1'])
    assert.is(unitOf(other), undefined, other);
});

test('every unit shown has a file, and every service the target wants is shown', () => {
  const shown = unitStates({ ...nothing, startable: installed.map((i) => i.bus) }).map((u) => u.unit);
  const files = new Set(readdirSync('systemd/units'));
  for (const unit of shown) assert.ok(files.has(`${unit.replace(/@.*/, '@')}.service`), unit);
  const wants = /^Wants=(.*)$/m.exec(readFileSync('systemd/units/ingle.target', 'utf8'))![1]!.split(' ');
  const services = wants.filter((w) => w.endsWith('.service')).map((w) => w.replace('.service', ''));
  assert.ok(services.length > 3);
  for (const unit of services) assert.ok(shown.includes(unit), unit);
});

test('the supervisor is a unit where the bus can start it, and none where the house supervises', () => {
  const bus = 'io.ingle.Supervisor1';
  const units = (o: object) => unitStates({ ...nothing, taken: [bus], ...o }).map((u) => u.unit);
  assert.equal(units({ startable: [bus] }), ['ingle-api', 'ingle-supervisor']);
  assert.equal(units({}), ['ingle-api']);
});

test('a unit is shown once, skills last, and runs while its name is taken', () => {
  const startable = [skillBusName(2), skillBusName(7), 'io.ingle.Wifi1', 'org.bluez'];
  const taken = [skillBusName(1), 'io.ingle.Wifi1', 'org.freedesktop.DBus', ':1.3'];
  const kept = ['io.ingle.Uplink1', skillBusName(1)];
  const units = unitStates({ ...nothing, taken, startable, kept });
  assert.equal(
    units.map((u) => `${labelOf(u)} ${u.running}`),
    [
      'ingle-api true',
      'ingle-uplink false',
      'ingle-wifi true',
      'hub_status (ingle-skill@1) true',
      'updates (ingle-skill@2) false',
    ],
  );
});

type Shown = { unit: string; skill_id: string | null; state: string; running: boolean }[];
/** Both answers of one hub: the API's and the skill's. */
async function shown(o: Parameters<typeof startHub>[0]): Promise<[Shown, Shown]> {
  const hub = await startHub({ ...o, skills: ['hub_status'] });
  try {
    const path = '/skills/hub_status/v1/status/summary';
    // Its icon is usable as soon as the bus can start it; this bus only believes so.
    const summary = await until(async () => {
      const r = await hub.ask('GET', path, { as: {} });
      return r.status === 200 && r;
    }, 'the skill to answer');
    return [(await hub.ask('GET', '/api/services')).body.services, summary.body.services];
  } finally {
    await hub.stop();
  }
}

test('on a flashed hub: what the bus can start and the API, by both ways', async () => {
  const [api, skill] = await shown({ services: installed.map((i) => i.bus) });
  // The image of this test has one skill; a slot without one is no unit of the hub.
  const others = [...installed.map((i) => i.unit).filter((u) => !u.startsWith('ingle-skill@')), 'ingle-api'];
  assert.equal(api.map((u) => u.unit).sort(), [...others, 'ingle-skill@1'].sort());
  assert.equal(skill.map((u) => u.unit).sort(), [...others, 'hub_status (ingle-skill@1)'].sort());
  assert.equal(
    api.filter((u) => u.skill_id).map((u) => [u.unit, u.skill_id]),
    [['ingle-skill@1', 'hub_status']],
  );
  const runs = ['ingle-api', 'ingle-skill@1', 'hub_status (ingle-skill@1)'];
  for (const u of api) assert.is(u.state, runs.includes(u.unit) ? 'running' : 'activatable', u.unit);
  for (const u of skill) assert.is(u.running, runs.includes(u.unit), u.unit);
});

test('with npm start: what it keeps running, and a stopped one stays in the list', async () => {
  const kept = ['io.ingle.Uplink1', skillBusName(1)];
  const [api, skill] = await shown({ env: { INGLE_KEPT: kept.join(' ') } });
  assert.equal(
    api.map((u) => `${u.unit} ${u.state}`),
    ['ingle-api running', 'ingle-uplink stopped', 'ingle-skill@1 running'],
  );
  assert.equal(
    skill.map((u) => `${u.unit} ${u.running}`),
    ['ingle-api true', 'ingle-uplink false', 'hub_status (ingle-skill@1) true'],
  );
});

test.run();
