// What a service reads of the device it runs on: device.json, the factory's part, config.json, the environment.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { channelNames } from '../../firmware/device/device.ts';
import { enabled } from '../../firmware/setup/enabled.ts';
import type { Ports } from '../../firmware/setup/ports.ts';
import { readConfig } from '../../firmware/system/config.ts';
import { deviceJson, findDevice, readDevice } from '../../image/device.ts';

const test = suite('configuration of a device');
const dir = mkdtempSync(join(tmpdir(), 'ingle-device-'));
const env = (over: Record<string, string> = {}) => ({
  INGLE_DEVICE: join(dir, 'device.json'),
  INGLE_CONFIG: join(dir, 'config.json'),
  INGLE_RUNTIME: join(dir, 'run'),
  ...over,
});
const identity = join(dir, 'run/identity');

test.before.each(() => {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(identity, { recursive: true });
  writeFileSync(join(dir, 'device.json'), deviceJson(readDevice(findDevice('.', 'example')).device));
});
test.after(() => rmSync(dir, { recursive: true, force: true }));

test('a service has what the device file says', () => {
  const c = readConfig(env());
  assert.is(c.root_url, 'https://hub.hearth.example');
  assert.is(c.app_url, 'https://hub.hearth.example');
  assert.is(c.model, 'hearth-2');
  assert.is(c.name, 'Hearth');
  assert.is(c.wifi_country, 'DE');
  assert.match(c.console_secret, /^scrypt\$/);
  assert.equal(c.channels, ['softap', 'ble', 'serial']);
  assert.equal(c.update, {
    url: 'https://updates.hearth.example',
    channel: 'stable',
    min_version: '0.1.0',
  });
  assert.is(c.brand.light?.accent, '#1f5f4a');
  assert.is(c.label_policy, 'required');
});

test('without a device file everything has its default', () => {
  const c = readConfig({ INGLE_DEVICE: '/nowhere', INGLE_CONFIG: '/nowhere', INGLE_RUNTIME: '/nowhere' });
  assert.is(c.model, 'generic');
  assert.equal(c.channels, channelNames);
  assert.is(c.label, null);
});

test('the factory gives a serial number and the secrets of the label', () => {
  writeFileSync(join(identity, 'device.json'), JSON.stringify({ serial: 'H2-000123', hostname: 'hearth-1' }));
  assert.is(readConfig(env()).serial, 'H2-000123');
  assert.is(readConfig(env()).label, null);
  writeFileSync(join(identity, 'label.json'), JSON.stringify({ psk: 'acefhjkm2345', pin: '123456' }));
  assert.equal(readConfig(env()).label, { psk: 'acefhjkm2345', pin: '123456' });
});

test('config.json and the environment go before the device file', () => {
  writeFileSync(join(dir, 'config.json'), JSON.stringify({ model: 'bench', update: { channel: 'beta' } }));
  const c = readConfig(env({ INGLE_ROOT: 'http://localhost:1/' }));
  assert.is(c.model, 'bench');
  assert.is(c.root_url, 'http://localhost:1');
  assert.equal(c.update, { url: 'https://updates.hearth.example', channel: 'beta', min_version: '0.1.0' });
});

test('a description that is no JSON is named, not passed over', () => {
  writeFileSync(join(dir, 'device.json'), '{');
  assert.throws(() => readConfig(env()), /device\.json/);
});

test('a channel the maker closed is not there for the ladder', async () => {
  const ports = { channels: [{ name: 'softap' }, { name: 'ble' }, { name: 'bot' }] } as unknown as Ports;
  const all = enabled(ports, channelNames);
  assert.is(all.channels.length, 3);
  const few = enabled(ports, ['serial', 'bot']);
  assert.equal(
    few.channels.map((c) => c.name),
    ['bot'],
  );
});

test.run();
