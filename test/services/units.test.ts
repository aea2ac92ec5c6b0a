// timeout: 240 s
// What the hub shows of its units is what is installed, beside what `npm start` keeps running.
import { readdirSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { skillBusName } from '../../firmware/skills/contract.ts';
import { unitOf, unitStates } from '../../firmware/system/units.ts';
import { startHub } from './hub.ts';

const test = suite('units');

/** What a flashed hub's bus can start: bus name and unit of each file that is installed. */
const folder = 'systemd/dbus/services';
const installed = readdirSync(folder).map((f) => {
  const text = readFileSync(`${folder}/${f}`, 'utf8');
  const value = (key: string) => new RegExp(`^${key}=(.+)$`, 'm').exec(text)![1]!;
  return { bus: value('Name'), unit: value('SystemdService').replace('.service', '') };
});
const nothing = { taken: [], startable: [], kept: [], api: true };

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

test('a unit is shown once, skills last, and runs while its name is taken', () => {
  const startable = ['io.ingle.Skill1.a', 'io.ingle.Wifi1', 'org.bluez'];
  const taken = ['io.ingle.Skill1.b', 'io.ingle.Wifi1', 'org.freedesktop.DBus', ':1.3'];
  const units = unitStates({ taken, startable, kept: ['io.ingle.Uplink1', 'io.ingle.Skill1.b'], api: true });
  assert.equal(
    units.map((u) => `${u.unit} ${u.running}`),
    ['ingle-api true', 'ingle-uplink false', 'ingle-wifi true', 'ingle-skill@a false', 'ingle-skill@b true'],
  );
});

type Shown = { unit: string; state: string; running: boolean }[];
/** Both answers of one hub: the API's and the skill's. */
async function shown(o: Parameters<typeof startHub>[0]): Promise<[Shown, Shown]> {
  const hub = await startHub({ ...o, skills: ['hub_status'] });
  try {
    const path = '/skills/hub_status/v1/status/summary';
    const summary = await hub.ask('GET', path, { as: {} });
    return [(await hub.ask('GET', '/api/services')).body.services, summary.body.services];
  } finally {
    await hub.stop();
  }
}

test('on a flashed hub: what the bus can start and the API, by both ways', async () => {
  const [api, skill] = await shown({ services: installed.map((i) => i.bus) });
  const units = [...installed.map((i) => i.unit), 'ingle-api'].sort();
  assert.equal(api.map((u) => u.unit).sort(), units);
  assert.equal(skill.map((u) => u.unit).sort(), units);
  const runs = ['ingle-api', 'ingle-skill@hub_status'];
  for (const u of api) assert.is(u.state, runs.includes(u.unit) ? 'running' : 'activatable', u.unit);
  for (const u of skill) assert.is(u.running, runs.includes(u.unit), u.unit);
});

test('with npm start: what it keeps running, and a stopped one stays in the list', async () => {
  const kept = ['io.ingle.Uplink1', skillBusName('hub_status')];
  const [api, skill] = await shown({ env: { INGLE_KEPT: kept.join(' ') } });
  assert.equal(
    api.map((u) => `${u.unit} ${u.state}`),
    ['ingle-api running', 'ingle-uplink stopped', 'ingle-skill@hub_status running'],
  );
  assert.equal(
    skill.map((u) => `${u.unit} ${u.running}`),
    ['ingle-api true', 'ingle-uplink false', 'ingle-skill@hub_status true'],
  );
});

test.run();
