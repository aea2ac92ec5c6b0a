// timeout: 900 s
// A flashed hub with the factory part of one device: its label, its name, and what a technician asks of it.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { findDevice, readDevice } from '../../image/device.ts';
import { flash } from '../../image/flash.ts';
import { factoryImage, type Label, makeLabel, writeInto } from '../../image/label.ts';
import { journal, secrets } from './hub.ts';
import { boot, cannotRun, type Vm } from './lab.ts';

const why = cannotRun();
if (why) console.log(`SKIP ${why}`);
const test = suite<{ vm: Vm; label: Label }>('a labelled device and its technician');
const check = why ? test.skip : test;
test.before(async (c) => {
  if (why) return;
  c.label = makeLabel(readDevice(findDevice('.', 'generic')).device, 'GX-00A7F3');
  c.vm = await boot({ flash: await flash(), radios: 2 });
  await c.vm.kill();
  const dir = mkdtempSync(join(tmpdir(), 'ingle-factory-'));
  await factoryImage(c.label.factory, join(dir, 'factory.img'));
  await writeInto(c.vm.disk, readFileSync(join(dir, 'factory.img')));
  rmSync(dir, { recursive: true });
  await c.vm.start();
  await c.vm.until('systemctl is-active ingle-identity ingle-setup', { timeoutMs: 240_000 });
});
test.after((c) => c.vm?.stop());

check('the device has the name and the serial number of its factory part', async ({ vm }) => {
  assert.is(await vm.must('hostname'), 'ingle-a7f3');
  assert.match(await vm.must('cat /run/ingle/identity/device.json'), /"serial": "GX-00A7F3"/);
  assert.is((await vm.run('findmnt /run/ingle/identity/factory')).code, 1, 'nothing stays mounted');
  assert.is(await vm.must('systemctl --failed --plain --no-legend'), '', await journal(vm));
});

check("setup opens with the label's secrets, which setup alone may read", async ({ vm, label }) => {
  const { ssid, psk, pin } = await secrets(vm);
  assert.equal([ssid, psk, pin], [label.ssid, label.factory.psk, label.factory.pin]);
  assert.is(await vm.must('stat -c %U:%G:%a /run/ingle/identity/label.json'), 'root:ingle-setup:640');
  for (const user of ['ingle-serial', 'ingle-api', 'nobody'])
    assert.is.not(
      (await vm.run(`setpriv --reuid=${user} --clear-groups cat /run/ingle/identity/label.json`)).code,
      0,
    );
});

/** As the console asks: by a file of its user; the text that comes back. */
async function ask(vm: Vm, what: string): Promise<string> {
  const file = what === 'export' ? 'export.json' : 'request.json';
  const id = crypto.randomUUID();
  await vm.must(
    `setpriv --reuid=ingle-serial --regid=ingle-serial --clear-groups sh -c 'echo "$0" > /run/ingle/console/${file}' '{"id":"${id}","what":"${what}","language":"en"}'`,
  );
  const reply = await vm.until('cat /run/ingle/technician/reply.json', {
    test: (text) => text.includes(id),
    timeoutMs: 200_000,
  });
  return (JSON.parse(reply) as { text: string }).text;
}

check('the doctor looks everywhere from the console, and names what this hub lacks', async ({ vm }) => {
  const text = await ask(vm, 'doctor');
  assert.match(text, /^ ok {2}Services +\d+ units, none failed$/m, text);
  assert.match(text, /^ ok {2}Bus names/m, text);
  assert.match(text, /^ ok {2}Local API/m, text);
  assert.match(text, /^!!! {2}Root +https:\/\/root\.ingle\.example does not answer/m, text);
  assert.match(text, /^ ok {2}Databases +\d+ files are whole$/m, text);
  assert.match(text, /Slots +a runs/, text);
  assert.match(text, /^ ok {2}Wi-Fi +2 radios/m, text);
  assert.match(text, /^ ok {2}Label +serial number GX-00A7F3$/m, text);
});

check('the self-test passes with a code of this device', async ({ vm }) => {
  const text = await ask(vm, 'selftest');
  assert.match(text, /^Storage +ok$/m, text);
  assert.match(text, /^Label +ok$/m, text);
  assert.match(text, /^Result: PASS-[0-9A-HJKMNP-TV-Z]{4}$/m, text);
});

check(
  'the journal leaves without the secrets of the label, also where a log has said them',
  async ({ vm, label }) => {
    assert.match(await ask(vm, 'export'), /There is no USB stick/);
    const { psk, pin } = label.factory;
    await vm.must(
      `logger -t somebody 'network ${psk} and number ${pin} were said'; mkdir -p /run/out; journalctl --sync`,
    );
    await vm.must('ingle journal export /run/out', { timeoutMs: 200_000 });
    const text = await vm.must('cat /run/out/*/journal.txt');
    assert.match(text, /network \[removed\] and number \[removed\] were said/);
    assert.not.ok((await vm.must('cat /run/out/*/*')).includes(psk));
  },
);

check('health is good on a hub that never reached its root', async ({ vm }) => {
  const said = await vm.must('ingle health --wait 120', { timeoutMs: 200_000 });
  assert.match(said, /This version is well/);
});

test.run();
