// Which services a supervisor knows, read from the units that are installed.
import { readdirSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SLOTS } from '../../firmware/skills/slots.ts';
import { answersFirst, findOwn, mayOrder, ownServices } from '../../firmware/supervisor/own.ts';
import { thrown } from '../lab/thrown.ts';

const test = suite('own services');
const folder = 'systemd/units';
const files = readdirSync(folder).filter((f) => f.endsWith('.service'));
const own = ownServices(new Map(files.map((f) => [f, readFileSync(`${folder}/${f}`, 'utf8')])));
const codeOf = (work: () => unknown) => thrown(work).code;

test('the services of the hub are known, each slot by itself, and the supervisor is none of them', () => {
  const names = own.map((o) => o.unit);
  for (const unit of ['ingle-api', 'ingle-uplink', 'ingle-sound', 'ingle-wizard', 'ingle-skill@1'])
    assert.ok(names.includes(unit), unit);
  assert.is(names.filter((n) => n.startsWith('ingle-skill@')).length, SLOTS);
  for (const unit of ['ingle-supervisor', 'ingle-skill@', 'ingle-skill@17', 'ingle-serial@'])
    assert.not.ok(names.includes(unit), unit);
});

test('what runs once takes no orders: starting the factory reset would erase the hub', () => {
  for (const unit of ['ingle-reset', 'ingle-restart', 'ingle-health', 'ingle-export', 'ingle-firewall'])
    for (const order of ['start', 'stop', 'restart'] as const)
      assert.is(
        codeOf(() => mayOrder(findOwn(own, unit), order)),
        'conflict',
        `${order} ${unit}`,
      );
});

test('nobody locks themselves out: what the hub is reached by is restarted, never stopped', () => {
  for (const unit of ['ingle-api', 'ingle-uplink']) {
    const e = thrown(() => mayOrder(findOwn(own, unit), 'stop'));
    assert.is(e.code, 'conflict');
    assert.match(e.message, `POST /api/services/${unit}/restart`);
    for (const order of ['start', 'restart'] as const) mayOrder(findOwn(own, unit), order);
    assert.ok(answersFirst(unit));
  }
  mayOrder(findOwn(own, 'ingle-audio'), 'stop');
  assert.not.ok(answersFirst('ingle-audio'));
});

test('no other unit can be named, whatever its name', () => {
  for (const name of [
    ...[
      '',
      '..',
      '../ingle-api',
      'ssh',
      'ssh.service',
      'dbus',
      'ingle-api.service',
      'ingle-api\0',
      'ingle-api ',
    ],
    ...['-u', '--root=/', 'ingle-*', 'ingle-supervisor', 'reboot.target', 'constructor', '__proto__'],
    'ingle-'.repeat(2000),
  ]) {
    const e = thrown(() => findOwn(own, name));
    assert.is(e.code, 'not_found', name.slice(0, 40));
    assert.ok(e.message.length < 300);
  }
});

test('files of other shapes stand for nothing', () => {
  const text = '[Service]\nType=notify\n';
  const names = ['ingle-api.path', 'ssh.service', 'ingle-.service', 'ingle-a;b.service', 'ingle-x.service.d'];
  assert.equal(ownServices(new Map(names.map((n) => [n, text]))), []);
});

test.run();
