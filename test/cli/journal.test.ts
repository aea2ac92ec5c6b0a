// gate: in, it starts none of the programs that its imports know
// Which sticks a journal may go to, and which secrets of this hub it must not hold.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readConfig } from '../../firmware/system/config.ts';
import { openStore, peekStore } from '../../firmware/system/store.ts';
import { ensureToken } from '../../firmware/system/token.ts';
import { migrations, networks } from '../../firmware/wifi/networks.ts';
import { sticks } from '../../services/cli/hub/export.ts';
import { storesOf } from '../../services/cli/hub/facts.ts';
import { heldSecrets } from '../../services/cli/hub/secrets.ts';

const test = suite('journal');
const dir = mkdtempSync(join(tmpdir(), 'ingle-journal-'));
test.after(() => rmSync(dir, { recursive: true, force: true }));

test('a stick is a file system on USB, its partitions or the whole of it; no other disk is one', () => {
  const sys = join(dir, 'block');
  mkdirSync(sys);
  const block = (path: string, ...parts: string[]) => {
    for (const p of ['', ...parts.map((x) => `/${x}`)]) {
      mkdirSync(join(dir, path + p), { recursive: true });
      symlinkSync(join(dir, path + p), join(sys, (path + p).split('/').at(-1)!));
    }
  };
  block('devices/pci0/usb1/1-1/host0/block/sda', 'sda1', 'sda2');
  block('devices/pci0/usb1/1-2/host1/block/sdb');
  block('devices/pci0/ata1/block/sdc', 'sdc1');
  block('devices/pci0/mmc0/block/mmcblk0', 'mmcblk0p1');
  block('devices/virtual/block/loop0');
  assert.equal(sticks(sys), ['/dev/sda1', '/dev/sda2', '/dev/sdb']);
});

test('the passwords of networks, the token and the label are known by their value', async () => {
  const data = join(dir, 'data');
  const store = await openStore(join(data, 'wifi', 'wifi.db'), migrations);
  await networks(store).keep({ ssid: 'Home', psk: 'correct horse', hidden: false, security: '' });
  const token = ensureToken(join(data, 'api', 'token'));
  const config = {
    ...readConfig({ INGLE_DEVICE: '/nowhere', INGLE_CONFIG: '/nowhere', INGLE_RUNTIME: '/nowhere' }),
    label: { psk: 'acefhjkm2345', pin: '123456' },
  };
  const place = { config, bus: undefined, why: '', data, api: '', isHub: false, starting: false };
  const held = await heldSecrets(place);
  for (const secret of ['correct horse', token, 'acefhjkm2345', '123456'])
    assert.ok(held.includes(secret), secret);
  await store.close();
  // A hub on which nothing was stored yet has few secrets, and that is no fault.
  assert.equal(await heldSecrets({ ...place, data: '/nowhere', config: { ...config, label: null } }), []);
});

test('looking into a database leaves nothing beside it and disturbs nobody who writes', async () => {
  const data = join(dir, 'live');
  const file = join(data, 'x', 'x.db');
  const store = await openStore(file, ['CREATE TABLE t (n INTEGER)']);
  let over = false;
  const writer = (async () => {
    for (let n = 0; !over; n++) {
      await store.run('INSERT INTO t VALUES (?)', n);
      await new Promise((done) => setTimeout(done, 20));
    }
  })();
  for (let i = 0; i < 10; i++) {
    const before = readdirSync(join(data, 'x'));
    assert.equal(await storesOf(data), { count: 1, bad: [] });
    assert.equal(readdirSync(join(data, 'x')), before);
  }
  over = true;
  await writer;
  await store.close();
  const files = readdirSync(join(data, 'x'));
  assert.ok((await peekStore<{ n: number }>(file, 'SELECT count(*) AS n FROM t'))[0]!.n > 0);
  assert.equal(readdirSync(join(data, 'x')), files, 'a file at rest stays alone');
  writeFileSync(file, 'broken '.repeat(2000));
  const { bad } = await storesOf(data);
  assert.is(bad.length, 1);
  assert.is(bad[0]!.unread, false);
});

test.run();
